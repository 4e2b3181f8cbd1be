"""report.json keeps its contract: the schema in docs/, the order of keys, and the numbers that are counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from analyzer.engine.model import Input, ObjectRef, Report
from analyzer.render.json import report_json

from .sample import CRASH, HEALTHY, SAMPLE, big, with_text

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "report.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def loaded(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report_json(report))
    return found


def orders(schema: dict[str, Any], value: Any, where: str = "report") -> list[str]:
    """Where the keys of a value are not in the order of the schema."""
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    wrong = []
    if isinstance(value, dict) and "properties" in schema:
        if list(value) != list(schema["properties"]):
            wrong.append(f"{where}: {list(value)}")
        for key, inner in schema["properties"].items():
            wrong += orders(inner, value.get(key), f"{where}.{key}")
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for row in value:
            wrong += orders(schema["items"], row, f"{where}[]")
    return wrong


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("report", [SAMPLE, HEALTHY, big(60, 20)], ids=["sample", "healthy", "big"])
def test_reports_keep_the_schema_and_the_order_of_keys(report: Report) -> None:
    found = loaded(report)
    VALIDATOR.validate(found)
    assert orders(SCHEMA, found) == []


def test_the_schema_is_strict() -> None:
    damages: tuple[Callable[[dict[str, Any]], object], ...] = (
        lambda found: found["findings"][0].update(why="extra"),
        lambda found: found["findings"][0].pop("evidence"),
        lambda found: found["summary"].update(health="fine"),
        lambda found: found["bundle"].update(collectedAt="2026-11-01 12:00:00"),
        lambda found: found["coverage"]["kinds"][0].update(scope="all"),
        lambda found: found.pop("files"),
    )
    for damage in damages:
        found = loaded(SAMPLE)
        damage(found)
        with pytest.raises(ValidationError):
            VALIDATOR.validate(found)


def test_a_finding_has_its_sixteen_fields() -> None:
    first = loaded(SAMPLE)["findings"][0]
    assert list(first) == [
        "id", "code", "severity", "domain", "object", "title", "message", "since", "ageSeconds", "owner", "waiting", "basis",
        "next", "evidence", "count", "objects",
    ]  # fmt: skip
    assert first["since"] == "2026-11-01T06:42:00Z"
    assert first["ageSeconds"] == 19080
    assert first["domain"] == "node"


def test_the_summary_counts() -> None:
    assert loaded(SAMPLE)["summary"] == {
        "health": "problems", "verdict": SAMPLE.verdict, "error": 4, "warning": 4, "info": 1, "incidents": 5, "notEvaluated": 3,
    }  # fmt: skip


def test_at_most_fifty_folded_objects_are_listed() -> None:
    refs = tuple(ObjectRef("", "Pod", "shop", f"p{index}") for index in range(77))
    found = loaded(replace(SAMPLE, findings=(replace(CRASH, count=77, objects=refs),), incidents=()))["findings"][0]
    assert (found["count"], len(found["objects"])) == (77, 50)


def test_nothing_known_is_null_and_never_missing() -> None:
    bare = replace(
        SAMPLE, collected_at=None, collected_at_source=None, inputs=(Input("dir", "plain", None, None, None),),
        cluster=replace(SAMPLE.cluster, uid=None, version=None, platform=None, nodes=None, gpu_nodes=None, gpus=None),
    )  # fmt: skip
    found = loaded(bare)
    VALIDATOR.validate(found)
    assert found["bundle"]["collectedAt"] is None
    assert found["bundle"]["cluster"] == dict.fromkeys(["uid", "version", "platform", "nodes", "gpuNodes", "gpus"])


def test_times_are_utc_with_fractions_only_where_there_are_any() -> None:
    moment = datetime(2026, 11, 1, 11, 0, 0, 250000, tzinfo=UTC)
    found = loaded(replace(SAMPLE, collected_at=moment))
    assert found["bundle"]["collectedAt"] == "2026-11-01T11:00:00.25Z"


def test_a_name_that_is_no_utf8_costs_no_report() -> None:
    found = loaded(with_text(SAMPLE, lambda text: text + "\udc80"))
    assert found["summary"]["verdict"] == SAMPLE.verdict + "?"
