"""Every kind that we know, with fields that hold anything at all: the report is written, no rule and no table breaks."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.program import triage

from . import pipeline_trees as trees

ROOT = Path(__file__).parents[2]
_HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**31, 2**63, -(2**64), 10**30, 1e308, 1.5,
    "", "0", "-5Gi", "NaN", "1e308", "1e64", "9" * 70, "1Ei", "a" * 5_000, "true", "True", "Unknown",
    "{{ namespace }}{% for x in y %}", "'; DROP TABLE objects; --", "<script>alert(1)</script>", "[x](javascript:y) | `\n# h",
    "\x1b[31mred\x07\x00", "\u202eevil\u2066\u200b", "\u0668", "$(FOO)", "a/b/c", "/", ",", "{", "[]", "null", "*",
    "2026-11-01T12:00:00Z", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00",
    "2026-13-45T99:99:99Z", "infinity", "epoch",
    [], {}, [[]], [None], [{}], [1, "a", None, {"a": [None]}], {"a": None}, {"name": None}, {"name": {"x": 1}},
    [{"name": "a"}, {"name": "a"}], {"nvidia.com/gpu": "NaN", "cpu": [], "memory": {}}, {"": ""},
)  # fmt: skip
_KEPT = {("apiVersion",), ("kind",), ("metadata",), ("metadata", "name")}


@cache
def _valid() -> list[dict[str, Any]]:
    """The objects of all rule cases and of the samples, the first of each name."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for value in (*_of_cases(), *_of_samples()):
        meta = value["metadata"]
        key = (value["apiVersion"], value["kind"], str(meta.get("namespace")), str(meta.get("name")))
        # Through JSON, which has no dates: as it lies in a bundle.
        found.setdefault(key, json.loads(json.dumps(value, default=str)))
    return list(found.values())


def _loaded(path: Path) -> Iterator[Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    yield from yaml.load_all(path.read_bytes(), Loader=loader)


def _of_cases() -> Iterator[dict[str, Any]]:
    for path in sorted((ROOT / "rules").glob("*/*.cases.yaml")):
        for document in _loaded(path):
            for case in document["cases"]:
                yield from case.get("objects") or ()


def _of_samples() -> Iterator[dict[str, Any]]:
    for folder in sorted(path for path in (ROOT / "samples").iterdir() if path.is_dir()):
        for path in sorted(folder.rglob("*.yaml")):
            for document in _loaded(path):
                items = document.get("items", [document]) if isinstance(document, dict) else []
                yield from (item for item in items if isinstance(item, dict) and item.get("kind") and item.get("metadata"))


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field, as the keys that lead to it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield (*above, key)
        yield from _places(child, (*above, key))


def _broken(value: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The object with up to four fields that hold something else, are gone, or are there several times."""
    changed = copy.deepcopy(value)
    for _ in range(chance.choice((0, 1, 1, 2, 4))):
        places = [place for place in _places(changed) if place not in _KEPT]
        if not places:
            break
        place = chance.choice(places)
        holder: Any = changed
        for key in place[:-1]:
            holder = holder[key]
        how = chance.random()
        if how < 0.1:
            del holder[place[-1]]
        elif how < 0.2:
            holder[place[-1]] = [copy.deepcopy(holder[place[-1]]) for _ in range(3)]
        else:
            holder[place[-1]] = copy.deepcopy(chance.choice(_HOSTILE))
    return changed


def test_objects_of_all_domains_are_among_the_valid_ones() -> None:
    groups = {value["apiVersion"].partition("/")[0] for value in _valid()}
    assert groups >= {
        "v1", "kueue.x-k8s.io", "resource.k8s.io", "ray.io", "jobset.x-k8s.io", "serving.kserve.io", "ome.io", "ai.deckhouse.io",
        "leaderworkerset.x-k8s.io", "nvidia.com", "scheduling.run.ai", "grove.io", "operators.coreos.com",
    }  # fmt: skip


@pytest.mark.parametrize("seed", [0, 212])
def test_fields_that_hold_anything_break_no_rule_and_no_table(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    items = [_broken(value, chance) for value in _valid()]
    trees.write(tmp_path / "in", {"all.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": items})})
    done = triage(["analyze", "in", "-o", "out", "--jobs", "1"], tmp_path, tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    report = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert [one for one in report["notEvaluated"] if "this rule is broken" in one["reason"]] == []
    assert "a fault of this tool" not in (tmp_path / "out" / "report.html").read_text("utf-8")
    # All of it counts, and what a field holds is never run.
    assert sum(kind["objects"] for kind in report["coverage"]["kinds"]) >= 1_000
    assert "<script>alert(1)" not in (tmp_path / "out" / "report.html").read_text("utf-8")
