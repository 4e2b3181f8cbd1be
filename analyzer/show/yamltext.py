"""An object as YAML, the way `kubectl get -o yaml` writes it: keys in alphabetical order, texts of several lines as blocks.

Characters that cannot be seen or that steer a terminal are written as escapes; the text still reads back as the same object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from analyzer.render.escape import visible

_NO_STRING = re.compile(
    r"[-+]?[.\d][\d_.:]*(?:[eE][-+]?\d+)?|0[xob][\da-fA-F_]+|[-+]?\.(?:inf|nan)|true|false|yes|no|on|off|y|n|null|~|=|<<"
    r"|\d{4}-\d\d?-\d\d?(?:[Tt\s].*)?",
    re.IGNORECASE,
)
"""What YAML 1.1 or 1.2 would read as something else than a string; kubectl writes it in double quotes."""
_NO_FOLDING = 1 << 20
_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]
    """The safe dumper without anchors: kubectl writes none."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the dumper's own signature
        return True


def _text(dumper: Any, value: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=_style(value))


def _style(value: str) -> str | None:
    if visible(value) != value or "\t" in value:
        return '"'
    if "\n" in value:
        return "|"
    return '"' if _NO_STRING.fullmatch(value) or not value else None


_Dumper.add_representer(str, _text)


def yaml_of(value: Mapping[str, Any]) -> str:
    """The object as YAML with a line break at its end.

    Args:
        value: an object as stored.
    """
    text: str = yaml.dump(
        dict(value), Dumper=_Dumper, sort_keys=True, allow_unicode=True, default_flow_style=False, width=_NO_FOLDING
    )
    return _escaped(text)


def _escaped(text: str) -> str:
    """What the dumper left as it is and nobody can see; it stands only in double quotes, where escapes are read."""
    if text.isascii():
        return text
    return "".join(char if char == "\n" or visible(char) == char else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
