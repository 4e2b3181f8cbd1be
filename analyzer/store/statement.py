"""Where a statement of SQL ends: the first semicolon outside quotes and comments."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[^;'\"$/\-]+")
_DOLLAR = re.compile(r"\$(?:[A-Za-z_]\w*)?\$")


def end_of(text: str) -> int | None:
    """The index of the semicolon that ends the first statement; None where it goes on.

    Knows what DuckDB's lexer knows: '…' and "…" with doubled quotes, E'…' with backslashes, $tag$…$tag$, -- and nested
    /* */ comments. Linear in the length of the text.
    """
    at = 0
    while at < len(text):
        plain = _PLAIN.match(text, at)
        if plain:
            at = plain.end()
            continue
        char = text[at]
        if char == ";":
            return at
        if char in "'\"":
            escapes = char == "'" and at > 0 and text[at - 1] in "eE" and not (at > 1 and _is_word(text[at - 2]))
            at = _after_quote(text, at + 1, char, escapes=escapes)
        elif char == "$" and not (at > 0 and _is_word(text[at - 1])) and (tag := _DOLLAR.match(text, at)):
            at = _after(text, tag[0], tag.end())
        elif text.startswith("--", at):
            at = _after(text, "\n", at)
        elif text.startswith("/*", at):
            at = _after_comment(text, at + 2)
        else:
            at += 1
    return None


def without_end(text: str) -> str:
    """The first statement without its semicolon and what comes after that."""
    return text[: end_of(text)]


def _is_word(char: str) -> bool:
    return char.isalnum() or char in "_$"


def _after(text: str, mark: str, start: int) -> int:
    found = text.find(mark, start)
    return len(text) if found < 0 else found + len(mark)


def _after_quote(text: str, at: int, mark: str, *, escapes: bool) -> int:
    """Behind the mark that ends a quoted text; a doubled one does not."""
    while at < len(text):
        if escapes and text[at] == "\\":
            at += 2
        elif text[at] != mark:
            at += 1
        elif text.startswith(mark, at + 1):
            at += 2
        else:
            return at + 1
    return len(text)


def _after_comment(text: str, at: int) -> int:
    """Behind the end of a comment, which may hold others."""
    depth = 1
    while depth and at < len(text):
        if text.startswith("*/", at):
            depth, at = depth - 1, at + 2
        elif text.startswith("/*", at):
            depth, at = depth + 1, at + 2
        else:
            at += 1
    return at
