"""Layouts of the MIG manager, what pods ask for, and what resources are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.facts.gpu.labels import read as read_labels
from analyzer.facts.gpu.labels import upgrade_since
from analyzer.facts.gpu.mig_configs import MAX_TEXT, read
from analyzer.facts.gpu.mig_layouts import Node, judge
from analyzer.facts.gpu.nodes import kind_of
from analyzer.facts.gpu.requests import asked, devices

LAYOUTS = """
version: v1
mig-configs:
  empty: []
  mixed:
  - devices: [0, 1]
    mig-enabled: true
    mig-devices: {1g.10gb: 4, 3g.40gb: 1}
  - devices: all
    device-filter: "0x233010DE"
    mig-enabled: false
"""


def test_rules_of_layouts() -> None:
    rules, wrong = read(LAYOUTS)
    assert wrong is None
    found = [(rule.config, rule.idx, rule.filtered, rule.devices, rule.enabled, rule.profile, rule.per_gpu) for rule in rules]
    assert found == [
        ("empty", 0, False, None, False, None, None),
        ("mixed", 0, False, 2, True, "1g.10gb", 4),
        ("mixed", 0, False, 2, True, "3g.40gb", 1),
        ("mixed", 1, True, None, False, None, None),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mig-configs: [", "no valid YAML"),
        ("version: v1", "no mig-configs"),
        ("mig-configs: 3", "no mig-configs"),
        ("", "no mig-configs"),
        ("x" * (MAX_TEXT + 1), "too long"),
    ],
)
def test_texts_that_are_none(text: str, words: str) -> None:
    rules, wrong = read(text)
    assert rules == []
    assert words in (wrong or "")


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    read(text)
    read(f"mig-configs:\n  a: {text}")


def container(amount: Any, **more: Any) -> dict[str, Any]:
    return {"resources": {"limits": {"nvidia.com/gpu": amount}}} | more


@pytest.mark.parametrize(
    ("spec", "request_"),
    [
        ({"containers": [container(1), container("2")]}, 3),
        ({"containers": [container(1)], "initContainers": [container(4)]}, 4),
        ({"containers": [container(1)], "initContainers": [container(2, restartPolicy="Always")]}, 3),
        ({"containers": [container(1)], "initContainers": [container(2, restartPolicy="Always"), container(3)]}, 5),
        ({"containers": [container("0")]}, None),
        ({"containers": [container("1500m")]}, None),
        ({"containers": [container(-1)]}, None),
        ({"containers": "x"}, None),
    ],
)
def test_what_a_pod_asks_for(spec: dict[str, Any], request_: int | None) -> None:
    found = asked(spec).get("nvidia.com/gpu")
    assert (found[0] if found else None) == request_


@pytest.mark.parametrize(
    ("value", "found"), [("8", 8), ("8k", 8000), (3, 3), ("0.5", None), ("9e9", None), (True, None), (None, None)]
)
def test_devices(value: Any, found: int | None) -> None:
    assert devices(value) == found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("gpu", "gpu"),
        ("gpu.shared", "gpu"),
        ("mig-1g.10gb.me", "mig"),
        ("GA102GL_A10", "vm"),
        ("pgpu", "vm"),
        ("hostdev", "other"),
    ],
)
def test_kinds_of_resources(name: str, kind: str) -> None:
    assert kind_of(f"nvidia.com/{name}") == kind


@pytest.mark.parametrize("value", ["", "x", "[1]", '{"nvidia.com/mig.config": 3}', '{"nvidia.com/mig.config": "x"}', 7, None])
def test_times_of_labels_that_are_none(value: Any) -> None:
    assert read_labels({"metadata": {"annotations": {"triage.dev/label-times": value}}}).times == {}


@pytest.mark.parametrize("value", ["-5", "1" * 30, "x", "12", None])
def test_starts_of_upgrade_steps_that_are_none(value: Any) -> None:
    annotations = {"nvidia.com/gpu-driver-upgrade-validation-start-time": value}
    labels = read_labels({"metadata": {"annotations": annotations}})
    assert upgrade_since(labels, "validation-required") is None


def test_numbers_that_sharing_changes_are_not_judged() -> None:
    rules, _ = read(LAYOUTS)
    layout = [rule for rule in rules if rule.config == "mixed" and not rule.filtered]
    shared = judge(Node("mixed", "", 2, True, {}), layout)
    assert (shared.differences, shared.unknown is not None) == ((), True)
    plain = judge(Node("mixed", "", 2, False, {"nvidia.com/mig-1g.10gb": 8, "nvidia.com/mig-3g.40gb": 2}), layout)
    assert (plain.differences, plain.unknown) == ((), None)
