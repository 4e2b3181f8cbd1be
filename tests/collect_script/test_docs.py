"""docs/bundle-format.md tells the manifest that both collectors write, no key more and none less."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from analyzer.bundle.manifest import LOG_OUTCOMES, OUTCOMES, VERSION
from analyzer.store.tables import collection

from .kitchen import kitchen
from .test_deploy import collected

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "bundle-format.md").read_text()


def section(title: str) -> str:
    """The text below a heading up to the next one of its rank."""
    return re.split(r"\n## ", TEXT.split(f"\n## {title}\n", 1)[1], maxsplit=1)[0]


def documented() -> dict[str, str]:
    """Key → what the table says of it, in the order of the table."""
    table = section("The manifest").split("\n\nAn entry of", 1)[0]
    found = {}
    for line in table.splitlines():
        if line.startswith("| `"):
            keys, words = line.strip("| ").split(" | ", 1)
            found.update(dict.fromkeys(re.findall(r"`(\w+)`", keys), words))
    return found


def entry(name: str) -> list[str]:
    text = re.search(rf"An entry of `{name}`: (.*?)(?:\.\s|\.\n|\n\n)", section("The manifest"), re.DOTALL)
    assert text is not None
    words: list[str] = re.findall(r"`([A-Za-z]+)`", re.sub(r"\([^)]*\)", "", text[1]))
    return words


@pytest.mark.kubectl
@pytest.mark.parametrize("by", ["script", "python"])
def test_the_documented_keys_are_those_that_are_written(by: str, tmp_path: Path) -> None:
    with kitchen().serving(tmp_path) as config:
        said: dict[str, Any] = collected(by, tmp_path, config)
    told = documented()
    assert list(said) == list(told)
    for key in ("tool", "cluster", "scope", "options", "counts"):
        assert [word for word in re.findall(r"`(\w+)`", told[key]) if word not in ("python", "script")] == list(said[key])
    for key in ("leftOut", "files"):
        assert re.findall(r"`(\w+)`", told[key]) == list(said[key][0])
    assert entry("requests") == list(said["requests"][0])
    assert entry("logs") == list(said["logs"][0])
    assert said["format"] == VERSION
    assert VERSION in TEXT


def test_all_outcomes_are_told() -> None:
    told = section("The manifest")
    assert [word for word in (*OUTCOMES, *LOG_OUTCOMES) if f"`{word}`" not in told] == []


def test_the_tables_of_the_manifest_are_told() -> None:
    assert [table.name for table in collection.TABLES if f"`{table.name}`" not in section("How it is read")] == []
