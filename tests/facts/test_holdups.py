"""What the kubelet's events say of a pod that has not started."""

from __future__ import annotations

from typing import Any

import pytest

from .build import database, one, rows
from .test_containers import event
from .test_pods import RUNS, condition, pod, status

CREATING = status(waiting={"reason": "ContainerCreating"})


def held(*events: dict[str, Any], **changes: Any) -> list[dict[str, Any]]:
    value = pod(changes.pop("phase", "Pending"), **({"containerStatuses": [CREATING]} | changes))
    return rows(database([value, *events]), "SELECT * FROM pod_holdups ORDER BY what")


@pytest.mark.parametrize(
    ("reason", "message", "what", "cause"),
    [
        ("FailedMount", 'MountVolume.SetUp failed for volume "v" : configmap "c" not found', "config", "missing"),
        ("FailedMount", 'MountVolume.SetUp failed for volume "v" : references non-existent config key: k', "config", "key"),
        (
            "FailedMount",
            'MountVolume.SetUp failed for volume "v" : hostPath type check failed: /x is not a file',
            "mount",
            "host-path",
        ),
        ("FailedMount", "driver name d.example not found in the list of registered CSI drivers", "mount", "csi-driver"),
        (
            "FailedMount",
            "Unable to attach or mount volumes: unmounted volumes=[v]: timed out waiting for the condition",
            "mount",
            "timeout",
        ),
        ("FailedAttachVolume", 'Multi-Attach error for volume "v"', "attach", "multi-attach"),
        ("FailedCreatePodSandBox", 'no runtime for "nvidia" is configured', "sandbox", "runtime-class"),
        (
            "FailedCreatePodSandBox",
            'plugin type="x" failed (add): no IP addresses available in range set',
            "sandbox",
            "no-addresses",
        ),
        ("FailedCreatePodSandBox", "failed to setup network for sandbox", "sandbox", "network"),
        ("NetworkNotReady", "network is not ready: cni plugin not initialized", "sandbox", "network"),
        ("FailedPrepareDynamicResources", "DRA driver gpu.example is not registered", "device", "not-registered"),
    ],
)
def test_causes(reason: str, message: str, what: str, cause: str) -> None:
    found = held(event(reason, message))
    assert [(row["what"], row["cause"]) for row in found] == [(what, cause)]


def test_the_telling_event_wins_over_the_vague_one_that_came_later() -> None:
    found = held(
        event("FailedMount", 'MountVolume.SetUp failed for volume "v" : hostPath type check failed: /x is not a file', minutes=5),
        event(
            "FailedMount",
            "Unable to attach or mount volumes: unmounted volumes=[v]: timed out waiting for the condition",
            minutes=1,
        ),
    )
    assert [row["cause"] for row in found] == ["host-path"]


def test_a_key_is_looked_up_behind_its_volume() -> None:
    spec = {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}
    found = held(
        event("FailedMount", 'MountVolume.SetUp failed for volume "v" : references non-existent secret key: k'), spec=spec
    )
    assert [(row["config_kind"], row["config_name"], row["config_key"]) for row in found] == [("Secret", "s", "k")]


@pytest.mark.parametrize(
    "changes",
    [
        {"phase": "Running", "containerStatuses": [status(running=RUNS)]},
        {"containerStatuses": [status(waiting={"reason": "ImagePullBackOff"})]},
        {"conditions": [condition("PodReadyToStartContainers", "True", minutes=1)]},
        {"spec": {"nodeName": ""}},
        {"meta": {"deletionTimestamp": "2026-11-01T11:00:00Z"}},
    ],
)
def test_old_words_about_a_pod_that_got_further_are_left_out(changes: dict[str, Any]) -> None:
    assert held(event("FailedMount", 'secret "s" not found'), **changes) == []


def test_an_event_after_the_pod_was_prepared_counts() -> None:
    prepared = condition("PodReadyToStartContainers", "True", minutes=10)
    found = held(event("FailedMount", 'secret "s" not found', minutes=1), conditions=[prepared])
    assert [row["what"] for row in found] == ["config"]


def test_a_pull_after_the_event_refutes_it() -> None:
    assert (
        held(event("FailedMount", 'secret "s" not found', minutes=5), event("Pulling", "Pulling image", minutes=4, kind="Normal"))
        == []
    )
    assert (
        len(
            held(
                event("FailedMount", 'secret "s" not found', minutes=3),
                event("Pulling", "Pulling image", minutes=4, kind="Normal"),
            )
        )
        == 1
    )


def test_what_passes_by_itself_is_left_out() -> None:
    assert held(event("FailedMount", 'MountVolume.SetUp failed for volume "v" : failed to sync secret cache: timed out')) == []


def test_a_missing_secret_of_a_volume_makes_the_state() -> None:
    con = database([pod("Pending", containerStatuses=[CREATING]), event("FailedMount", 'secret "s" not found')])
    assert one(con, "SELECT state, reason FROM pods") == {"state": "Config missing", "reason": "FailedMount"}
