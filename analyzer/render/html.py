"""`report.html`: one file, nothing fetched from anywhere, readable without a script.

Two nets under hostile text: Jinja2 escapes every value, and the page's Content-Security-Policy allows exactly one
style and one script, named by their SHA-256, so that markup that slipped through could not run or load anything.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from itertools import count
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analyzer.content import folder
from analyzer.engine.model import Report
from analyzer.render import drawings, page, words
from analyzer.render.escape import clip, one_line, opening, visible

_MAIN = "report.html.j2"


def _shown(value: Any) -> Any:
    """Every printed text passes here, before it is escaped: what cannot be seen is made visible."""
    return visible(value) if type(value) is str else value


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> tuple[Environment, dict[str, str]]:
    """The compiled templates, and the style and script with their digests; read once a process."""
    content = folder("reports")
    environment = Environment(
        loader=FileSystemLoader(content),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        auto_reload=False,
    )
    environment.filters.update(
        clip=clip,
        opening=opening,
        line=one_line,
        number=words.number,
        plural=words.plural,
        place=words.place,
        step_parts=words.step_parts,
    )
    style = (content / "report.css").read_text(encoding="utf-8")
    script = (content / "report.js").read_text(encoding="utf-8")
    if "</" in style or "</script" in script.lower() or "<!--" in script:
        raise ValueError("reports/report.css or report.js would end its own element")
    return environment, {
        "style": style,
        "script": script,
        "style_digest": _digest(style),
        "script_digest": _digest(script),
    }


def report_html(report: Report) -> str:
    """The whole page.

    Args:
        report: the frozen result; every text in it may be hostile.
    """
    environment, assets = _environment()
    template = environment.get_template(_MAIN)
    return template.render(
        assets=assets, page=page.build(report), report=report, words=words, drawings=drawings, next_id=count(1).__next__
    )
