"""Private keys in a text that is read piece by piece: a key's lines may come in several pieces, or lack their begin or end.

Whole texts are masked by `shapes.mask_private_keys`, which takes a key without its end to reach to the end of the text. In
a stream that could be everything, so here a key ends where its lines do.
"""

from __future__ import annotations

import re

from analyzer.redact.placeholder import placeholder
from analyzer.redact.shapes import KEY_BEGIN, KEY_END

MAX_KEY_LINES = 2_000
"""Lines of one key; RSA keys of 16,384 bits have about 200."""

MAX_STRANGE_LINES = 20
"""Lines in a row that are none of a key, after which one without an end is over: lines of others may stand between its own."""

_MARK = "PRIVATE KEY"
_MARK_CHARS = 120
"""How much of a line without an end is held back, since a begin or an end may be cut in two."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_STAMP = re.compile(r"\s*(?:\d{4}-\d\d-\d\d[T ][\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)? (?:std(?:out|err) [FP] )?)?\s*")
_BODY = re.compile(r"[A-Za-z0-9+/=]{0,80}|(?:Proc-Type|DEK-Info): .{1,100}")
_FULL_LINE = re.compile(r"[A-Za-z0-9+/=]{40,76}")
_RUN = re.compile(r"[A-Za-z0-9+/=]{24,}")


class KeyBlocks:
    """Takes a text piece by piece (`feed`, at the end `finish`) and gives it back with each private key as one placeholder.

    Keys on one line (with escaped line ends) are left to `mask_text`, but a begin without an end never is.
    """

    def __init__(self) -> None:
        self._open = ""
        self._key: list[str] | None = None
        self._strange = 0
        self._maybe: list[str] = []

    def feed(self, piece: str) -> str:
        """The next piece, which may end in the middle of a line. What may yet turn out to be a key is held back."""
        text = self._open + piece
        cut = len(text)
        if not text.endswith("\n"):
            cut = max(text.rfind("\n") + 1, cut - _MARK_CHARS)
        self._open = text[cut:]
        return self._passed(text[:cut])

    def finish(self) -> str:
        """What was held back; the text is over."""
        text = self._passed(self._open) if self._open else ""
        text += "".join(self._maybe) if self._key is None else self._closed()
        self._open, self._maybe = "", []
        return text

    def _passed(self, text: str) -> str:
        if self._key is not None or _MARK in text:
            return "".join(map(self._line, _LINE.findall(text)))
        # Nothing of a key here, but its last lines may be those of one whose end follows.
        held, self._maybe = self._maybe, []
        cut = _last_lines(text)
        lines = _LINE.findall(text[cut:])
        if held and not cut and len(held) + len(lines) <= MAX_KEY_LINES:
            self._maybe = held + lines
            return ""
        if lines and _FULL_LINE.fullmatch(_body(lines[0])):
            self._maybe = lines
            return "".join(held) + text[:cut]
        return "".join(held) + text

    def _line(self, line: str) -> str:
        """A line of a text that has a begin or an end in it."""
        if self._key is not None:
            return self._inside(line)
        begin, end = KEY_BEGIN.search(line), KEY_END.search(line)
        if end and (begin is None or end.start() < begin.start()):
            self._key, self._maybe = [*self._maybe, line[: end.end()]], []
            before = line[: end.start()]
            kept = "" if _BODY.fullmatch(_body(before)) else _RUN.sub(_masked, before)
            return kept + self._closed() + self._line(line[end.end() :])
        if begin is None and len(self._maybe) < MAX_KEY_LINES and (_BODY if self._maybe else _FULL_LINE).fullmatch(_body(line)):
            self._maybe.append(line)
            return ""
        held, self._maybe = "".join(self._maybe), []
        opened = _open_begin(line)
        if opened is None:
            return held + line
        self._key, self._strange = [line[opened:]], 0
        return held + line[:opened]

    def _inside(self, line: str) -> str:
        """A line after the begin of a key."""
        key = self._key or []
        begin, end = KEY_BEGIN.search(line), KEY_END.search(line)
        if end and (begin is None or end.start() < begin.start()):
            key.append(line[: end.end()])
            return self._closed() + self._line(line[end.end() :])
        if begin:
            # The key before had no end.
            return self._closed("\n") + self._line(line)
        if _BODY.fullmatch(_body(line)):
            key.append(line)
            self._strange = 0
            return "" if len(key) < MAX_KEY_LINES else self._closed("\n")
        self._strange += 1
        closed = self._closed("\n") if self._strange >= MAX_STRANGE_LINES else ""
        return closed + _RUN.sub(_masked, line)

    def _closed(self, line_end: str = "") -> str:
        """The placeholder of the key that ends here."""
        key, self._key, self._strange = "".join(self._key or []), None, 0
        return placeholder("private-key", key) + line_end


def _body(line: str) -> str:
    """What stands on a line behind the time that a container runtime put before it."""
    found = _STAMP.match(line)
    return (line[found.end() :] if found else line).strip()


def _last_lines(text: str) -> int:
    """Where the lines at the end of a text begin that may be a key's; the last one of a key is shorter than the others."""
    cut = len(text)
    for count in range(MAX_KEY_LINES):
        start = text.rfind("\n", 0, max(cut - 1, 0)) + 1
        if not cut or not (_FULL_LINE if count else _BODY).fullmatch(_body(text[start:cut])):
            break
        cut = start
    return cut


def _open_begin(line: str) -> int | None:
    """Where on a line a key begins that does not end on it."""
    at = 0
    while begin := KEY_BEGIN.search(line, at):
        end = KEY_END.search(line, begin.end())
        if end is None:
            return begin.start()
        at = end.end()
    return None


def _masked(found: re.Match[str]) -> str:
    return placeholder("private-key", found[0])
