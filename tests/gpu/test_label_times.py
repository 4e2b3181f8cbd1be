"""When labels of Nodes were written, from managedFields."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from analyzer.bundle.kept_fields import keep_label_times as keep
from analyzer.managed import LABEL_TIMES as ANNOTATION
from analyzer.managed import MAX_LABELS


def entry(time: str, *labels: str) -> dict[str, Any]:
    return {"manager": "m", "time": time, "fieldsV1": {"f:metadata": {"f:labels": {f"f:{label}": {} for label in labels}}}}


def kept(fields: Any, **metadata: Any) -> Any:
    keep(metadata, fields)
    return orjson.loads(metadata.get("annotations", {}).get(ANNOTATION, "null"))


def test_the_newest_manager_counts() -> None:
    fields = [
        entry("2026-11-01T10:00:00Z", "nvidia.com/a", "other.example/b"),
        entry("2026-11-01T11:00:00Z", "nvidia.com/a"),
        entry("2026-11-01T09:00:00Z", "nvidia.com/a", "nvidia.com/c"),
    ]
    assert kept(fields) == {"nvidia.com/a": "2026-11-01T11:00:00Z", "nvidia.com/c": "2026-11-01T09:00:00Z"}


def test_what_the_collector_noted_stays() -> None:
    noted = {ANNOTATION: '{"nvidia.com/a":"2026-11-01T08:00:00Z"}'}
    assert kept([entry("2026-11-01T10:00:00Z", "nvidia.com/a")], annotations=noted) == {"nvidia.com/a": "2026-11-01T08:00:00Z"}


def test_annotations_of_the_node_stay() -> None:
    metadata: dict[str, Any] = {"annotations": {"x": "y"}}
    keep(metadata, [entry("2026-11-01T10:00:00Z", "nvidia.com/a")])
    assert set(metadata["annotations"]) == {"x", ANNOTATION}


def test_a_node_without_such_labels_gets_no_annotation() -> None:
    metadata: dict[str, Any] = {}
    keep(metadata, [entry("2026-11-01T10:00:00Z", "other.example/b")])
    assert metadata == {}


def test_there_is_a_limit() -> None:
    assert len(kept([entry("2026-11-01T10:00:00Z", *[f"nvidia.com/{n}" for n in range(MAX_LABELS + 9)])])) == MAX_LABELS


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))


@given(JSON, JSON)
def test_anything_is_taken(fields: Any, annotations: Any) -> None:
    keep({"annotations": annotations}, fields)
    keep({}, [{"time": "2026-11-01T10:00:00Z", "fieldsV1": fields}, fields])
