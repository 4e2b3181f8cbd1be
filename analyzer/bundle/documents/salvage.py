"""What can still be had of a broken YAML object, without inventing anything."""

from __future__ import annotations

import re
from typing import Any

from analyzer.bundle.documents.events import BadYamlError, Parsed, parse
from analyzer.bundle.limits import MIB

MAX_REPAIRS = 32
"""Lines of one object that are mended before it is given up."""

MAX_REPAIR_BYTES = 64 * MIB
"""Text of one file that is parsed again for mending; beyond, broken objects are dropped."""

# A value that begins with the mark of a redactor: `ip: ***HIDDEN***`, `- @@REDACTED@@`, `x: ***TOKEN_IP_AB12***`.
_REDACTED = re.compile(rb"""([ \t]*(?:-[ \t]+)*(?:[^\s'"#\[{&*!|>%@`-][^\n]*?:[ \t]+)?)((?:\*\*\*|@@)[^\n\r]*?)([ \t]*\r?)\Z""")
_CONTROL = re.compile(rb"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x84\x86-\x9f]|\xef\xbf[\xbe\xbf]")


class Budget:
    """How many bytes may still be parsed again."""

    def __init__(self) -> None:
        self.left = MAX_REPAIR_BYTES

    def spend(self, size: int) -> bool:
        """Take some bytes; False where there are not enough left."""
        self.left -= size
        return self.left >= 0


def repair(text: bytes, error: BadYamlError, budget: Budget) -> Parsed | None:
    """The document with the marks of redactors quoted and control characters replaced; None where that does not help.

    Only lines at which the parser stops are touched, so that no text inside a block scalar is changed.
    """
    control = _CONTROL.sub("\ufffd".encode(), text)
    lines: list[bytes] = []
    for _ in range(MAX_REPAIRS):
        if control != text:
            text = control
        else:
            lines = lines or text.split(b"\n")
            at = error.opened if error.opened < len(lines) and _REDACTED.match(lines[error.opened]) else error.line
            found = _REDACTED.match(lines[at]) if at < len(lines) else None
            if not found:
                return None
            lines[at] = found[1] + b"'" + found[2].replace(b"'", b"''") + b"'" + found[3]
            text = control = b"\n".join(lines)
        if not budget.spend(len(text)):
            return None
        try:
            return parse(text)
        except BadYamlError as again:
            error = again
    return None


def at_end(text: bytes, error: BadYamlError) -> bool:
    """Whether the parser stopped at the last line of a text, or ran out of it."""
    return error.line >= text.rstrip().count(b"\n")


def cut_back(text: bytes) -> Any:
    """What was complete where the text breaks off: its last line counts only if it has its end."""
    text = text[: text.rfind(b"\n") + 1]
    try:
        parsed = parse(text)
    except BadYamlError as error:
        parsed = error.partial
    drop_last_null(parsed.roots)
    return parsed.value


def drop_last_null(value: Any) -> None:
    """Remove a null at the very end: the key was there, its value was cut away."""
    while value:
        if value.__class__ is dict:
            last = next(reversed(value))
            if value[last] is None:
                del value[last]
                return
            value = value[last]
        elif value.__class__ is list:
            if value[-1] is None:
                value.pop()
                return
            value = value[-1]
        else:
            return
