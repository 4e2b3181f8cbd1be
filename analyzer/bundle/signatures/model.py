"""What a signature is, and the limits of scanning for it."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.bundle.limits import KIB, MIB

MAX_FIRST_HITS = 50
"""The first hits of one signature in one log that are kept: how the trouble began."""

MAX_LAST_HITS = 150
"""The newest hits of one signature in one log that are kept beside them."""

CONTEXT_LINES = 3
"""Lines kept before and after a hit."""

MAX_BELOW_LINES = 60
"""Lines after a hit that a signature may ask for in place of these; of all of them no more than `RAW_SIDE_BYTES` are held."""

MASK_LINES = 10
"""Lines before a hit that are looked at for a secret that reaches into it (a block of YAML, a key)."""

MAX_KEY_LINES = 500
"""How far after a key's first line its end is waited for: an RSA key of 16,384 bits has 200 lines."""

RAW_LINE_BYTES = 3 * KIB
"""What is held of a kept line until it is masked; 2 KB of it are shown."""

RAW_SIDE_BYTES = 6 * KIB
"""What is held of the lines on one side of a hit."""

MAX_LINE_BYTES = MIB
"""A longer line is looked at in pieces."""

PIECE_OVERLAP_BYTES = 4 * KIB
"""How far two pieces of such a line overlap, so that no word is lost between them."""

MIN_WORD_BYTES = 4
MAX_WORD_BYTES = 200
MAX_WORDS = 32
"""Words of one signature: how many, and how long each. Shorter ones would be found in every other line."""

MAX_PATTERN_CHARS = 1000
PATTERN_MEMORY_BYTES = 4 * MIB
"""What RE2 may use for one pattern."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of a rule pack (`rules/<domain>/<name>.signatures.yaml`).

    A line is a hit where one of `words` stands in it (case-sensitive) and `pattern`, if any, is found in it. Named
    groups of the pattern are the fields of the hit. `sources` and the globs say in which logs to look; empty is all.
    `below` is how many lines after the hit are kept with it.
    """

    id: str
    words: tuple[str, ...]
    pattern: str | None = None
    sources: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    below: int = CONTEXT_LINES
