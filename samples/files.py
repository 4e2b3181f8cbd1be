"""How the samples' files are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from cluster import Object


def put(path: Path, text: str) -> None:
    """Write one file, making its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


class _Plain(yaml.SafeDumper):
    """No anchors: every object is written out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def document(obj: Object) -> str:
    """One YAML document, keys sorted as kubectl prints them."""
    return "---\n" + yaml.dump(obj, Dumper=_Plain, default_flow_style=False, sort_keys=True, width=160, allow_unicode=True)
