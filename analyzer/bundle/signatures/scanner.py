"""Signatures compiled for one process, and which of them a log is to be looked at for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import re2
from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from analyzer.bundle.formats.base import Place
from analyzer.bundle.limits import KIB
from analyzer.bundle.signatures.model import PATTERN_MEMORY_BYTES, Signature

KEY_MARK = b"PRIVATE KEY"
"""Stands in the first and in the last line of a private key; always looked for, to know which lines lie within one."""

_DFA_WORDS_BYTES = 64 * KIB
"""Up to here the words make a table that is fast and small enough; more of them a slower one that stays small."""

_SETS = 64
_PLACES = 4096


class PatternError(ValueError):
    """A pattern that RE2 does not take; the text says why."""


def compile_pattern(pattern: str, *, capture: bool = True) -> Any:
    """A pattern compiled by RE2, to be searched in bytes: linear in the length of the line whatever it says.

    Args:
        pattern: the expression.
        capture: without, it only tells whether it is found, and is several times faster.

    Raises:
        PatternError: it is no RE2 expression, or one that needs too much memory.
    """
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY_BYTES
    options.log_errors = False
    options.never_capture = not capture
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        raise PatternError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from None


@dataclass(frozen=True, slots=True)
class Automaton:
    """The words of some signatures: `owners` says whose each word is, by index; -1 is `KEY_MARK`."""

    finder: BytesAhoCorasick
    words: tuple[bytes, ...]
    owners: tuple[tuple[int, ...], ...]


class Scanner:
    """All signatures of a run. It is compiled where it is used: a worker is sent the signatures alone."""

    def __init__(self, signatures: Iterable[Signature] = ()) -> None:
        """A scanner for these signatures; their ids are all different and their patterns are known to compile."""
        self.signatures = tuple(signatures)
        self._patterns: dict[tuple[int, bool], Any] = {}
        self._automatons = lru_cache(_SETS)(self._automaton)
        self._chosen = lru_cache(_PLACES)(self._choose)

    def __reduce__(self) -> tuple[type[Scanner], tuple[tuple[Signature, ...]]]:
        return (Scanner, (self.signatures,))

    def automaton_for(self, place: Place, path: str, format_name: str) -> Automaton | None:
        """The words to look for in a log, None where no signature is for it.

        Args:
            place: where the log comes from.
            path: path of its file. Of a log whose pod only a look at the objects tells, the names of the file and of
                its folder stand for pod and container, and the namespace is not looked at.
            format_name: the format of the bundle.
        """
        if not self.signatures:
            return None
        folder, _, name = path.rpartition("/")
        loose = not place.pod and place.source == "other"
        names = (name.removesuffix(".gz"), folder.rpartition("/")[2]) if loose else ("", "")
        chosen = self._chosen(place, names, format_name)
        return self._automatons(chosen) if chosen else None

    def pattern(self, index: int, *, capture: bool) -> Any:
        """The compiled pattern of a signature, None where it has none; see `compile_pattern`."""
        key = (index, capture)
        if key not in self._patterns:
            text = self.signatures[index].pattern
            self._patterns[key] = None if text is None else compile_pattern(text, capture=capture)
        return self._patterns[key]

    def _choose(self, place: Place, names: tuple[str, str], format_name: str) -> tuple[int, ...]:
        sources = _sources(place, names[0], format_name)
        return tuple(
            index
            for index, signature in enumerate(self.signatures)
            if (not signature.sources or sources.intersection(signature.sources)) and _fits(signature, place, names)
        )

    def _automaton(self, chosen: tuple[int, ...]) -> Automaton:
        owners: dict[bytes, list[int]] = {KEY_MARK: [-1]}
        for index in chosen:
            for word in self.signatures[index].words:
                owners.setdefault(word.encode(), []).append(index)
        words = tuple(owners)
        small = sum(len(word) for word in words) <= _DFA_WORDS_BYTES
        kind = Implementation.DFA if small else Implementation.ContiguousNFA
        finder = BytesAhoCorasick(words, matchkind=MatchKind.Standard, implementation=kind)
        return Automaton(finder, words, tuple(tuple(dict.fromkeys(owner)) for owner in owners.values()))


def _sources(place: Place, name: str, format_name: str) -> set[str]:
    """What the source of a log may turn out to be once all of the bundle is known (see analyzer.facts.log_places)."""
    sources: set[str] = {place.source}
    if format_name in ("support-bundle", "plain") and name:
        sources.add("previous" if name.endswith("-previous.log") else "current")
    if format_name == "sonobuoy" and place.source == "current":
        sources.add("previous")
    return sources


def _fits(signature: Signature, place: Place, names: tuple[str, str]) -> bool:
    if names[0]:
        name, folder = names
        plain = name.removesuffix(".log").removesuffix("-previous")
        return _one_of(signature.containers, (plain, name)) and _one_of(signature.pods, (plain, name, folder))
    return (
        _one_of(signature.containers, (place.container,))
        and _one_of(signature.pods, (place.pod,))
        and _one_of(signature.namespaces, (place.namespace,))
    )


def _one_of(globs: Sequence[str], names: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs for name in names)
