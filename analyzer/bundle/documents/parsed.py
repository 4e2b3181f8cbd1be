"""What parsing YAML gives: values, the places of list elements, and errors that quote nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analyzer.bundle.documents.scalars import key_text, plain

_KEY_CHARS = 64
_KEYS_KEPT = 1 << 14
KEYS: dict[str, str] = {}
"""What `key_of` has found for short texts; the hot loop looks here first."""


class BadYamlError(ValueError):
    """The text is no YAML, or goes over a limit.

    Attributes:
        reason: what is wrong, without any of the text.
        line: line in the text, from 0.
        column: column in that line, in characters from 0.
        opened: line of what was being read (the start of a quoted text, of a `{`), from 0; equal to `line` if unknown.
        partial: what was complete before it, see `Parsed`.
    """

    def __init__(self, reason: str, line: int, column: int, opened: int, partial: Parsed) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column
        self.opened = opened
        self.partial = partial


@dataclass(slots=True)
class Parsed:
    """One document: its value, whether there was one, and where the elements of its list lie.

    `spans` holds character positions (start, end) of the elements of a list at the root, or of the list `items` of a
    mapping at the root; `end` is -1 for one that was not finished; `sequence` is where that list begins. Only `parse` with
    `spans` fills them.
    """

    roots: list[Any] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    sequence: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is no document, not even a null."""
        return not self.roots

    @property
    def value(self) -> Any:
        """The document's value."""
        return self.roots[0] if self.roots else None


class BrokenError(Exception):
    """Raised inside the loops with the reason and the mark."""

    def __init__(self, reason: str, mark: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.mark = mark


def key_of(text: str) -> str:
    """The key for an unquoted scalar; the same text gives the same str, which saves memory."""
    known = KEYS.get(text)
    if known is None:
        known = key_text(plain(text))
        if len(text) <= _KEY_CHARS and len(KEYS) < _KEYS_KEPT:
            KEYS[text] = known
    return known
