"""Nothing in a bundle steers the terminal, breaks a line or ends the program."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.show.conditions import is_bad
from analyzer.show.yamltext import yaml_of
from tests.facts.build import database

from .pages import page, thing

EVIL = "a\x1b[31m\x1b]0;title\x07b\r\nc\u202ed\u200b[bold]e[/bold] \x00" + "x" * 5_000
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]")


def evil(value: Any) -> Any:
    """The same value with every text replaced."""
    if isinstance(value, str):
        return EVIL
    if isinstance(value, list):
        return [evil(item) for item in value]
    return {key: evil(item) for key, item in value.items()} if isinstance(value, dict) else value


STATUS = {
    "phase": "x",
    "conditions": [{"type": "Ready", "status": "False", "reason": "r", "message": "m"}, 7, None, {"type": []}],
    "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "r", "message": "m"}},
                           "lastState": {"terminated": {"exitCode": 1, "message": "m"}}}],
    "capacity": {"cpu": "x"}, "hard": {"cpu": "x"}, "allocatable": {"cpu": ["x"]},
}  # fmt: skip
SPEC = {
    "containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "x"}}}],
    "ports": [{"name": "p", "port": "x", "protocol": "y"}, 3],
    "selector": {"a": "b"}, "schedule": "x", "timeZone": "z", "storageClassName": "s", "volumeName": "v", "accessModes": ["m"],
    "claimRef": {"namespace": "n", "name": "m"}, "csi": {"driver": "d"}, "taints": [{"key": "k", "effect": "e"}],
    "type": "ExternalName", "externalName": "e",
}  # fmt: skip

KINDS = [
    ("v1", "Pod"), ("v1", "Node"), ("v1", "Service"), ("v1", "PersistentVolumeClaim"), ("v1", "PersistentVolume"),
    ("v1", "Namespace"), ("v1", "ResourceQuota"), ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"), ("batch/v1", "CronJob"), ("lab.example/v1", "Gadget"),
]  # fmt: skip


@pytest.mark.parametrize(("api", "kind"), KINDS)
@pytest.mark.parametrize("shape", ["evil", "empty", "wrong"])
@pytest.mark.parametrize("width", [None, 40])
def test_any_content_gives_a_harmless_page(api: str, kind: str, shape: str, width: int | None) -> None:
    parts: dict[str, Any] = {
        "evil": {"spec": evil(SPEC), "status": evil(STATUS)},
        "empty": {},
        "wrong": {"spec": [1, "x"], "status": {"conditions": "no list", "capacity": 3, "containerStatuses": {}}},
    }[shape]
    metadata = {"finalizers": [EVIL], "deletionTimestamp": "2026-11-01T10:00:00Z", "ownerReferences": [
        {"apiVersion": EVIL, "kind": EVIL, "name": EVIL, "uid": EVIL, "controller": True}]}  # fmt: skip
    with database([thing(api, kind, "one", metadata=metadata, **parts)]) as con:
        text = page(con, f"{kind}/one", width=width)
    if width:
        # Colours are ours: nothing but SGR sequences, and every line fits.
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert not _CONTROL.search(text.replace("\n", ""))
    assert text.startswith(f"{kind} one\n")
    assert "title" not in text
    if shape == "evil" and width is None:
        assert max(map(len, text.split("\n"))) < 4_000


def test_a_hostile_name_is_shown_on_one_line() -> None:
    with database([thing("v1", "Pod", EVIL, EVIL)]) as con:
        text = page(con, f"pod/{EVIL.strip()}") if EVIL.strip() == EVIL else page(con, f"pod/{EVIL}")
    assert not _CONTROL.search(text.replace("\n", ""))


@pytest.mark.parametrize("width", [1, 10, 39, 80, 200])
def test_every_width_works(width: int) -> None:
    with database([thing("v1", "Pod", "one", "lab", spec=evil(SPEC), status=evil(STATUS))]) as con:
        plain = re.sub(r"\x1b\[[0-9;]*m", "", page(con, "pod/one", width=width))
    assert max(map(len, plain.split("\n"))) <= max(width, 80)


def test_colours_only_on_a_terminal() -> None:
    with database([thing("v1", "Pod", "one", "lab", status=STATUS)]) as con:
        assert "\x1b" not in page(con, "pod/one")
        assert "\x1b[" in page(con, "pod/one", width=80)


TRICKY = [
    "1e3",
    "on",
    "~",
    "0x1F",
    "2026-01-01",
    "a\tb",
    "x\n y\n",
    " x",
    "# no",
    "- x",
    "a: b",
    "|",
    "\u2028",
    "\ud7ff",
    "\U0001f600",
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=30)
    | st.sampled_from(["1e3", "on", "~", "0x1F", "2026-01-01", "a\tb", "x\n y\n", " x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=4))
def test_yaml_reads_back_as_the_same_object_and_hides_nothing(value: dict[str, Any]) -> None:
    text = yaml_of(value)
    assert yaml.safe_load(text) == value
    assert not _CONTROL.search(text.replace("\n", ""))


def test_yaml_looks_as_kubectl_writes_it() -> None:
    value = {
        "status": {"ready": True, "count": 3, "text": "one\ntwo\n", "version": "1.30", "flag": "True", "empty": "", "none": None},
        "kind": "Gadget", "metadata": {"name": "g", "labels": {"b": "x", "a": "z"}}, "apiVersion": "lab.example/v1", "spec": {},
    }  # fmt: skip
    assert yaml_of(value).split("\n") == [
        "apiVersion: lab.example/v1",
        "kind: Gadget",
        "metadata:",
        "  labels:",
        "    a: z",
        "    b: x",
        "  name: g",
        "spec: {}",
        "status:",
        "  count: 3",
        '  empty: ""',
        '  flag: "True"',
        "  none: null",
        "  ready: true",
        "  text: |",
        "    one",
        "    two",
        '  version: "1.30"',
        "",
    ]


@pytest.mark.parametrize(
    ("kind", "status", "bad"),
    [
        ("Ready", "True", False), ("Ready", "False", True), ("Ready", "Unknown", True), ("DiskPressure", "True", True),
        ("DiskPressure", "False", False), ("Degraded", "True", True), ("Progressing", "False", None), ("Paused", "True", None),
        ("ReplicaFailure", "True", True), ("QuotaReserved", "False", True), ("NetworkUnavailable", "False", False),
        ("Available", "False", True), ("Complete", "True", None),
    ],
)  # fmt: skip
def test_which_conditions_are_bad(kind: str, status: str, bad: bool | None) -> None:
    assert is_bad(kind, status) is bad
