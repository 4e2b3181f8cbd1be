"""Codes that were used once: `retired.yaml` of a pack. A code in a ticket means the same for good."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from analyzer.engine.rule import CODE
from analyzer.engine.yamltext import Place, YamlError, read_yaml

FILE = "retired.yaml"


@dataclass(frozen=True, slots=True)
class Retired:
    """A code that is out of use, why, and where the list says so."""

    code: str
    why: str
    place: Place


@lru_cache(maxsize=8)
def retired_codes(folder: Path) -> dict[str, Retired]:
    """The retired codes of a pack by their lower-case spelling; none where it has no list.

    Raises:
        YamlError: the list cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    document = read_yaml(path, f"{folder.name}/{FILE}")
    entries = document.value.get("retired") if isinstance(document.value, dict) else None
    if not isinstance(entries, list):
        raise YamlError(document.place(), "must be {retired: [{code: …, why: …}, …]}")
    found: dict[str, Retired] = {}
    for index, entry in enumerate(entries):
        place = document.place(f"retired[{index}]")
        if (
            not isinstance(entry, dict)
            or set(entry) != {"code", "why"}
            or not all(isinstance(text, str) for text in entry.values())
        ):
            raise YamlError(place, "an entry is {code: …, why: …}")
        if not CODE.match(entry["code"]):
            raise YamlError(place, f"{entry['code']!r} is no code such as pod/CrashLooping")
        if entry["code"].lower() in found:
            raise YamlError(place, f"{entry['code']} is there twice")
        found[entry["code"].lower()] = Retired(entry["code"], " ".join(entry["why"].split()), place)
    return found
