"""Signature files of a rule pack: `<domain>/<name>.signatures.yaml`, read strictly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from analyzer.bundle.formats.base import SOURCES
from analyzer.bundle.signatures import Signature, compile_pattern
from analyzer.bundle.signatures.model import (
    CONTEXT_LINES,
    MAX_BELOW_LINES,
    MAX_PATTERN_CHARS,
    MAX_WORD_BYTES,
    MAX_WORDS,
    MIN_WORD_BYTES,
)
from analyzer.bundle.signatures.scanner import PatternError
from analyzer.engine.yamltext import Document, YamlError, read_yaml

SUFFIX = ".signatures.yaml"

MAX_SIGNATURES = 500
"""Signatures of one file."""
MAX_GLOBS = 32
MAX_GLOB_CHARS = 253

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*/[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_KEYS = ("id", "words", "pattern", "sources", "containers", "pods", "namespaces", "below")
_GLOBS = ("containers", "pods", "namespaces")


def read_signatures(path: Path, name: str) -> tuple[tuple[Signature, int], ...]:
    """The signatures of a file, each with its line.

    Args:
        path: the file.
        name: how it is called in messages.

    Raises:
        YamlError: it cannot be read, or something in it is wrong; with its line.
    """
    document = read_yaml(path, name)
    listed = document.only_list("signatures")
    if len(listed) > MAX_SIGNATURES:
        raise YamlError(document.place("signatures"), f"a file holds at most {MAX_SIGNATURES} signatures")
    found: dict[str, tuple[Signature, int]] = {}
    for index, item in enumerate(listed):
        where = f"signatures[{index}]"
        signature = _signature(document, where, item, path.parent.name)
        if signature.id in found:
            raise _wrong(document, f"{where}.id", f"id {signature.id} is there twice")
        found[signature.id] = (signature, document.place(where).line)
    return tuple(found.values())


def _signature(document: Document, where: str, value: Any, domain: str) -> Signature:
    if not isinstance(value, dict):
        raise _wrong(document, where, "a signature is a mapping")
    for key in value:
        if key not in _KEYS:
            raise _wrong(document, f"{where}.{key}", f"unknown key {key!r}")
    name = value.get("id")
    if not isinstance(name, str) or not _ID.match(name) or name.partition("/")[0] != domain:
        raise _wrong(document, f"{where}.id", f"id must be {domain}/kebab-case, not {name!r}")
    globs = {key: _texts(document, f"{where}.{key}", value.get(key, []), MAX_GLOBS, MAX_GLOB_CHARS) for key in _GLOBS}
    return Signature(
        name,
        _words(document, f"{where}.words", value.get("words")),
        _pattern(document, f"{where}.pattern", value.get("pattern")),
        _sources(document, f"{where}.sources", value.get("sources", [])),
        below=_below(document, f"{where}.below", value.get("below", CONTEXT_LINES)),
        **globs,
    )


def _words(document: Document, where: str, value: Any) -> tuple[str, ...]:
    words = _texts(document, where, value, MAX_WORDS, MAX_WORD_BYTES)
    if not words:
        raise _wrong(document, where, "a signature needs words: text that stands in every line it means")
    for index, word in enumerate(words):
        if len(word.encode("utf-8", "replace")) < MIN_WORD_BYTES:
            raise _wrong(document, f"{where}[{index}]", f"the word {word!r} is shorter than {MIN_WORD_BYTES} bytes")
        if not word.isprintable() and "\t" not in word:
            raise _wrong(document, f"{where}[{index}]", "a word is a part of one line, without control characters")
    return words


def _pattern(document: Document, where: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value or len(value) > MAX_PATTERN_CHARS:
        raise _wrong(document, where, f"pattern must be a text of at most {MAX_PATTERN_CHARS} characters")
    try:
        compile_pattern(value)
    except PatternError as error:
        raise _wrong(document, where, f"no RE2 expression: {error}") from None
    return value


def _below(document: Document, where: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not CONTEXT_LINES <= value <= MAX_BELOW_LINES:
        raise _wrong(document, where, f"below must be a number of lines from {CONTEXT_LINES} to {MAX_BELOW_LINES}")
    return value


def _sources(document: Document, where: str, value: Any) -> tuple[str, ...]:
    sources = _texts(document, where, value, len(SOURCES), 20)
    for index, source in enumerate(sources):
        if source not in SOURCES:
            raise _wrong(document, f"{where}[{index}]", f"sources are {', '.join(SOURCES)}, not {source!r}")
    return sources


def _texts(document: Document, where: str, value: Any, most: int, longest: int) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _wrong(document, where, "must be a list of texts")
    if len(value) > most:
        raise _wrong(document, where, f"holds more than {most} entries")
    for index, item in enumerate(value):
        if not isinstance(item, str) or not item or len(item.encode("utf-8", "replace")) > longest:
            raise _wrong(document, f"{where}[{index}]", f"must be a text of at most {longest} bytes")
    return tuple(value)


def _wrong(document: Document, path: str, problem: str) -> YamlError:
    return YamlError(document.place(path), problem)
