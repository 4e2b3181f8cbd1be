"""The short summary on the terminal: verdict, causes, what is missing, where the reports are.

Text of a bundle reaches Rich as `Text`, never as markup, and without any escape sequence.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from analyzer.engine.model import Report, Severity
from analyzer.render import words
from analyzer.render.escape import clip, plain
from analyzer.render.json import single_rules
from analyzer.render.view import IncidentView, broken_rules, in_incidents, incident_views, missing

INCIDENTS: Final = 10
FILES: Final = 5
BROKEN_RULES: Final = 3
ALL: Final = ("html", "md", "json")

_STYLE: Final[dict[Severity, str]] = {"error": "bold red", "warning": "yellow", "info": "blue"}
_ASCII: Final = str.maketrans(
    {"\u2026": "...", "\u00b7": "-", "\u2013": "-", "\u2014": "-", "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}
)
"""Signs of ours that a terminal without Unicode gets in ASCII."""


def print_summary(report: Report, folder: Path, console: Console, formats: Iterable[str] = ALL) -> None:
    """Print the summary.

    Args:
        report: the frozen result; every text in it may be hostile.
        folder: where the reports were written.
        console: where to print to; without a terminal it prints no colour and no control sequence.
        formats: which of the reports were written: html, md, json.
    """
    views = incident_views(report)
    _line(console, plain(report.verdict), style="bold")
    if views:
        console.print()
    for view in views[:INCIDENTS]:
        _incident(console, view)
    if len(views) > INCIDENTS:
        _line(console, f"{words.number(len(views) - INCIDENTS)} more in the report", indent=4, style="dim")
    console.print()
    _line(console, f"{words.counts(report)} {', '.join(in_incidents(report, views))}")
    for text in _missing(report):
        _line(console, text)
    _unread(console, report)
    names = [f"report.{name}" for name in ALL if name in set(formats)]
    where = plain(str(folder))
    _unwrapped(console, f"Reports: {where}{'' if where.endswith('/') else '/'} ({', '.join([*names, 'bundle.duckdb'])})")


def _line(console: Console, text: str, indent: int = 0, style: str = "", head: Text | None = None) -> None:
    """One paragraph under its own indent, wrapped to the console's width; `head` stands in the indent of the first row."""
    lead = head or Text(" " * indent)
    width = max(10, console.width - indent)
    for row in Text(_encodable(console, text), style=style).wrap(console, width):
        row.rstrip()
        console.print(lead + row, soft_wrap=True, highlight=False, markup=False, emoji=False)
        lead = Text(" " * indent)


def _unwrapped(console: Console, text: str) -> None:
    """A line with a path: a reader copies it, so no line break is put in."""
    console.print(Text(_encodable(console, text)), soft_wrap=True, highlight=False, markup=False, emoji=False)


def _encodable(console: Console, text: str) -> str:
    """The text in what the terminal's encoding can write; the rest is `?`."""
    encoding = console.encoding or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
    return text


def _incident(console: Console, view: IncidentView) -> None:
    head = Text(f"{view.number:>2}  ") + Text(f"{words.SEVERITY[view.severity]:<8}", style=_STYLE[view.severity])
    _line(console, clip(plain(view.title), 300), indent=12, head=head)
    facts = [view.owner.lower() if view.owner != "Nobody" else "nobody has to act"]
    facts.append(words.lasted(view.root.age_seconds))
    if view.broken:
        facts.append(plain(", ".join(view.broken)))
    if view.alike:
        facts.append(words.plural(len(view.alike), "incident"))
    if view.also:
        facts.append(f"explains {words.plural(view.also, 'other finding')}")
    _line(console, "; ".join(facts), indent=12, style="dim")


def _missing(report: Report) -> list[str]:
    rules = len({item.code for item in single_rules(report)})
    if not rules:
        return []
    lines = []
    broken = broken_rules(report)
    if broken:
        told = "; ".join(clip(plain(text), 300) for text in broken[:BROKEN_RULES])
        more = f" and {len(broken) - BROKEN_RULES} more" if len(broken) > BROKEN_RULES else ""
        lines.append(f"{words.plural(len(broken), 'rule')} {'is' if len(broken) == 1 else 'are'} broken: {told}{more}")
    needs = words.listed(clip(plain(need), 100) for need in missing(report))
    why = f"; missing: {needs}" if needs else "; the report says why"
    return [*lines, f"{words.number(rules)} of {words.plural(report.rules.count, 'rule')} not evaluated{why}"]


def _unread(console: Console, report: Report) -> None:
    files = [file for file in report.files if file.status != "skipped"]
    if not files:
        return
    _line(console, f"{words.plural(len(files), 'file')} not read in full:")
    for file in files[:FILES]:
        _unwrapped(console, f"  {clip(plain(file.path), 160)}: {clip(plain(file.error), 160)}")
    if len(files) > FILES:
        _line(console, f"and {len(files) - FILES} more", indent=2)
