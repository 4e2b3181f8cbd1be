"""Pages of inference orders: where one stands, what was chosen for it, and the bounds that its author cannot read elsewhere."""

from __future__ import annotations

import re
from typing import Any

from tests.facts.build import database
from tests.show.pages import page, section, thing


def order(**status: Any) -> dict[str, Any]:
    spec = {"inferenceServiceClassName": "gold", "model": {"src": "HuggingFace", "ref": {"name": "reed/otter"}}}
    return thing("ai.deckhouse.io/v1alpha1", "InferenceService", "otter", "a", spec=spec, status=status)


def told(type_: str, status: str, reason: str = "Done", message: str = "") -> dict[str, Any]:
    return {"type": type_, "status": status, "reason": reason, "message": message}


def shown(made: dict[str, Any], title: str) -> list[str]:
    with database([made]) as con:
        return section(page(con, "isvc/otter"), title)


def test_it_stands_at_the_first_step_that_is_not_true() -> None:
    steps = [
        told("Ready", "False", "NoCapacity"),
        told("Planned", "False", "NoCapacity", "nothing is free"),
        told("ClassResolved", "True"),
        told("ModelResolved", "True"),
    ]
    assert 'Stands at: Planned, step 3 of 5, is False: NoCapacity: "nothing is free"' in shown(order(conditions=steps), "Order")
    assert "Stands at: WorkloadReady, step 4 of 5, is not said" in shown(
        order(conditions=[told(one, "True") for one in ("ClassResolved", "ModelResolved", "Planned")]), "Order"
    )


def test_a_ready_order_stands_at_nothing_and_one_without_conditions_is_not_judged() -> None:
    ready = [told(one, "True") for one in ("ClassResolved", "ModelResolved", "Planned", "WorkloadReady", "Ready")]
    for conditions in ([*ready, told("ScalingHealthy", "False", "ScaleUpBlocked")], []):
        assert not any("Stands at" in line for line in shown(order(conditions=conditions), "Order"))


def test_plan_and_bounds_are_told_whatever_their_fields_are_called() -> None:
    made = order(
        resolved={"accelerator": {"deviceClass": "whole", "share": 50}, "nodes": ["n1"], "shared": False, "replanCount": 1},
        constraints={"minReplicas": 1, "maxReplicas": 3, "priorityClassName": "calm"},
    )
    lines = [" ".join(line.split()) for line in shown(made, "Plan, as status.resolved has it")]
    assert lines[1:] == [
        "accelerator.deviceClass: whole",
        "accelerator.share: 50",
        "nodes[0]: n1",
        "shared: false",
        "replanCount: 1",
    ]
    lines = [" ".join(line.split()) for line in shown(made, "Bounds in force")]
    assert lines[1:] == ["minReplicas: 1", "maxReplicas: 3", "priorityClassName: calm"]
    assert any("computed anew 1 time" in line and "times" not in line for line in shown(made, "Order"))


def test_hostile_values_are_cut_and_stay_on_their_line() -> None:
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]
    made = order(
        resolved={"deep": deep, "a\nb": "c\x1b[2Jd", **{f"k{number}": number for number in range(100)}}, constraints="odd"
    )
    lines = shown(made, "Plan")
    assert any("more of it below" in line for line in lines)
    assert "and 72 more values" in lines
    assert shown(made, "Bounds in force") == []


def test_a_table_without_room_names_its_cells() -> None:
    steps = [told("Planned", "False", "NoCapacity", "nothing is free " * 8)]
    with database([order(conditions=steps)]) as con:
        plain = re.sub(r"\x1b\[[0-9;]*m", "", page(con, "isvc/otter", width=40))
    flat = " ".join(" ".join(section(plain, "Conditions")).split())
    assert flat.startswith('Conditions ! type Planned status False since unknown says NoCapacity: "nothing is free')
