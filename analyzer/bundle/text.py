"""Text of logs and messages made fit to be stored and shown: control characters, escape sequences, encodings."""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
# Control characters of ASCII and Latin-1 but tab and line feed, and the marks that turn the direction of text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")


def clean(data: bytes) -> str:
    """The text of some lines of a log: UTF-8, bad bytes and control characters replaced, escape sequences gone.

    A run of control characters (the NUL bytes that a crashed node leaves in its logs) becomes one replacement
    character. Line ends are a line feed alone.
    """
    return clean_text(data.decode("utf-8", "replace"))


def clean_text(text: str) -> str:
    """The same for text that is decoded already."""
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _CONTROLS.sub(REPLACEMENT, text)


def one_line(text: str, limit: int = 500) -> str:
    """A message in one line of at most `limit` characters."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
