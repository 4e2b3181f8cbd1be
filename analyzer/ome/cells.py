"""Cells of OME's tables: how a text is cut, and how rows become columns."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

_GAP = "   "
_CUT = "..."
_MARK = 9
"""Width of `#` and eight digits."""


def end(text: str, width: int) -> str:
    """A text cut at its end to a width in characters."""
    return text if len(text) <= width else text[: max(width - len(_CUT), 0)] + _CUT


def middle(text: str, width: int) -> str:
    """A text cut in its middle to a width in characters, the odd one on the left."""
    if len(text) <= width:
        return text
    kept = max(width - len(_CUT), 2)
    return text[: (kept + 1) // 2] + _CUT + text[len(text) - kept // 2 :]


def told_apart(text: str, width: int) -> str:
    """As `middle`, with the begin of the text's digest behind it, so that two long names stay two."""
    if len(text) <= width:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: _MARK - 1]
    return f"{middle(text, width - _MARK)}#{digest}"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns, each as wide as its widest cell, no blanks at the end of a line."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = (_GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)
