"""`runtime tree`: paths, users, faults of chains, and what is said where a list is not whole."""

from __future__ import annotations

import itertools
import json

import pytest

from analyzer.ome.runtime.branches import as_dict, lines, notes, render
from analyzer.ome.runtime.tree import MAX_LISTED, TargetError, Tree, tree
from analyzer.ome.world import Absence, Thing
from tests.ome.lake import world
from tests.ome.pond import AT, runtime, thing


def child(name: str, parent: str = "", namespace: str = "") -> Thing:
    """A runtime that inherits."""
    return runtime(name, namespace, meta={"annotations": {"ome.io/inherit-from": parent}} if parent else None)


def user(name: str, runtime: str, namespace: str = "pond", kind: str | None = "ClusterServingRuntime") -> Thing:
    """A service that names a runtime."""
    reference = {"name": runtime} | ({"kind": kind} if kind else {})
    return thing("InferenceService", name, namespace, spec={"runtime": reference if runtime else None, "engine": {}})


def grown(
    *things: Thing, name: str = "hull", kind: str = "", namespace: str = "pond", absent: dict[str, Absence] | None = None
) -> Tree:
    return tree(world(*things, absent=absent, bare=True), name, kind, namespace)


def text(found: Tree, *, strays: bool = False, width: int = 80) -> list[str]:
    return list(lines(found, width, strays=strays))


def test_a_cluster_runtime_with_what_inherits_from_it_and_who_names_it() -> None:
    found = grown(
        child("keel"), child("hull", "keel"), child("raft", "hull", "pond"), child("other", "", "lake"),
        user("b", "hull"), user("a", "hull", "lake"), user("c", "raft", kind="ServingRuntime"), user("d", ""),
    )  # fmt: skip
    assert text(found) == [
        "RUNTIME TREE",
        "Target: ClusterServingRuntime/hull",
        "Context: Cluster (resolution: Complete)",
        "Head: ClusterServingRuntime/hull",
        "ClusterServingRuntime/keel",
        "`-- ClusterServingRuntime/hull [selected]",
        "    |-- InferenceService/lake/a",
        "    `-- InferenceService/pond/b",
        "Context: Namespaced/pond (resolution: Complete)",
        "Head: ServingRuntime/raft",
        "ClusterServingRuntime/keel",
        "`-- ClusterServingRuntime/hull [selected]",
        "    `-- ServingRuntime/raft",
        "        `-- InferenceService/c",
        "Snapshot: Complete",
        "Collection: ClusterServingRuntime scope=Cluster status=Complete pages=1 items=2",
        "Collection: ServingRuntime scope=AllNamespaces status=Complete pages=1 items=2",
        "Collection: InferenceService scope=AllNamespaces status=Complete pages=1 items=4",
    ]
    assert found.warnings == ()


def test_a_namespaced_runtime_has_only_its_namespace() -> None:
    found = grown(
        child("hull"),
        child("raft", "hull", "pond"),
        child("raft", "hull", "lake"),
        user("c", "raft", kind="ServingRuntime"),
        name="raft",
    )
    assert text(found)[1:4] == [
        "Target: ServingRuntime/pond/raft",
        "Context: Namespaced/pond (resolution: Complete)",
        "Head: ServingRuntime/raft",
    ]
    assert text(found)[-3:] == [
        "Collection: ServingRuntime scope=Namespace/pond status=Complete pages=1 items=1",
        "Collection: InferenceService scope=Namespace/pond",
        "  status=Complete pages=1 items=1",
    ]


def test_a_parent_that_is_missing() -> None:
    found = grown(child("hull", "gone"))
    assert text(found)[3:7] == [
        "Head: ClusterServingRuntime/hull",
        "ClusterServingRuntime/hull [selected]",
        "Issue: ParentMissing subject=ClusterServingRuntime/hull parent=gone",
        "Issue path: ClusterServingRuntime/hull",
    ]


def test_a_cycle_names_the_edge_that_closes_it() -> None:
    found = grown(child("a", "b", "pond"), child("b", "a", "pond"), name="a")
    assert text(found)[3:8] == [
        "Head: ServingRuntime/a",
        "ServingRuntime/b",
        "`-- ServingRuntime/a [selected]",
        "Issue: CycleDetected subject=ServingRuntime/a parent=a",
        "Issue path: ServingRuntime/a -> ServingRuntime/b -> ServingRuntime/a",
    ]
    assert "Head: ServingRuntime/b" in text(found)


def test_more_than_five_levels() -> None:
    names = [f"level-{number}" for number in range(6, 0, -1)]
    chain = [child(name, parent) for name, parent in itertools.pairwise([*names, ""])]
    found = grown(*chain, name="level-3")
    deep = found.contexts[0].paths[-1]
    assert [node.key[2] for node in deep.nodes] == ["level-2", "level-3", "level-4", "level-5", "level-6"]
    assert deep.fault
    assert (deep.fault.code, deep.fault.parent, len(deep.fault.path)) == ("MaxDepthExceeded", "level-1", 5)
    assert [path.fault for path in found.contexts[0].paths[:-1]] == [None] * 3
    assert "  -> ClusterServingRuntime/level-5" in text(found)


def test_a_parent_of_a_namespaced_chain_is_looked_for_in_the_namespace_at_every_step() -> None:
    found = grown(child("raft", "hull", "pond"), child("hull", "keel"), child("keel"), child("keel", "", "pond"), name="raft")
    assert [node.key[:2] for node in found.contexts[0].paths[0].nodes] == [
        ("ServingRuntime", "pond"),
        ("ClusterServingRuntime", ""),
        ("ServingRuntime", "pond"),
    ]


def test_users_that_cannot_be_attributed() -> None:
    held = (
        child("hull"),
        user("auto", ""),
        user("lost", "gone"),
        user("odd", "Not_A_Name"),
        user("twin", "hull"),
        user("twin", "hull"),
    )
    found = grown(*held)
    assert text(found, strays=True)[5:16] == [
        "Unattributed users (not attributed to runtime tree):",
        "  [not attributed] InferenceService/pond/auto",
        "  state=Unresolved reason=AutomaticSelection",
        "  [not attributed] InferenceService/pond/lost",
        "  state=Unresolved reason=RuntimeNotFound",
        "  declared runtime=gone",
        "  [not attributed] InferenceService/pond/odd",
        "  state=Invalid reason=InvalidRuntimeName",
        "  [not attributed] InferenceService/pond/twin",
        "  state=Ambiguous reason=DuplicateInferenceService",
        "Snapshot: Complete",
    ]
    assert "  none observed" in text(grown(child("hull")), strays=True)
    blind = text(grown(child("hull"), absent={"InferenceService": "not-collected"}), strays=True)
    assert "  cannot tell: not all InferenceServices were collected" in blind
    assert [one["reason"] for one in as_dict(found, AT, strays=True)["content"]["unattributedUsers"]][:2] == [
        "AutomaticSelection",
        "RuntimeNotFound",
    ]
    assert "unattributedUsers" not in as_dict(found, AT, strays=False)["content"]


def test_lists_that_are_not_whole_are_said_and_a_parent_that_nobody_looked_for_is_not_called_missing() -> None:
    found = grown(
        child("raft", "hull", "pond"), user("u", "gone"), name="raft",
        absent={"ClusterServingRuntime": "not-collected", "InferenceService": "forbidden"},
    )  # fmt: skip
    assert "Context: Namespaced/pond (resolution: Partial)" in text(found)
    assert not any(line.startswith("Issue") for line in text(found))
    assert text(found)[-5:] == [
        "Collection: ServingRuntime scope=Namespace/pond status=Complete pages=1 items=1",
        "Collection: InferenceService scope=Namespace/pond",
        "  status=Unavailable pages=0 items=1",
        "Warning: PartialData",
        "Warning: SourceUnavailable",
    ]
    assert "Snapshot: Partial" in text(found)
    assert found.strays[0].reason == "RuntimeUnavailable"
    assert any("ClusterServingRuntime hull was not collected" in note for note in notes(found))


def test_more_services_than_are_listed() -> None:
    found = grown(child("hull"), *(user(f"u{number:04}", "hull") for number in range(MAX_LISTED + 1)))
    assert found.warnings == ("PartialData", "Truncated")
    assert len(found.contexts[0].paths[0].users) == MAX_LISTED
    with pytest.raises(TargetError, match="requires complete runtime evidence: ClusterServingRuntime collection is truncated"):
        grown(*(child(f"r{number}") for number in range(MAX_LISTED + 1)), name="r1")


def test_targets_that_cannot_be_told() -> None:
    both = (child("hull"), child("hull", "", "pond"))
    with pytest.raises(
        TargetError, match='runtime "hull" is ambiguous; pass --kind ServingRuntime or --kind ClusterServingRuntime'
    ):
        grown(*both)
    assert grown(*both, kind="ServingRuntime").target == ("ServingRuntime", "pond", "hull")
    with pytest.raises(TargetError, match=r'runtime target was not found: "swan"$'):
        grown(*both, name="swan")
    with pytest.raises(TargetError, match="the cluster does not serve ClusterServingRuntime"):
        grown(name="", absent={"ClusterServingRuntime": "unsupported"})
    with pytest.raises(TargetError, match="not collected"):
        grown(name="swan", absent={"ServingRuntime": "not-collected"})


def test_all_runtimes_at_once() -> None:
    found = grown(child("hull"), child("raft", "hull", "pond"), child("punt", "", "lake"), name="", namespace="")
    assert text(found)[1] == "Target: all runtimes"
    assert [context.namespace for context in found.contexts] == ["", "lake", "pond"]
    assert "target" not in as_dict(found, AT, strays=True)["content"]
    near = grown(child("hull"), child("raft", "hull", "pond"), child("punt", "", "lake"), name="")
    assert [context.namespace for context in near.contexts] == ["", "pond"]


def test_the_json_form() -> None:
    found = json.loads(render(grown(child("hull", "gone"), user("u", "hull")), "json", AT, strays=False))
    assert (found["kind"], found["metadata"], found["sources"]) == ("RuntimeTreeReport", {"name": "hull"}, [])
    path = found["content"]["contexts"][0]["paths"][0]
    identity = {"kind": "ClusterServingRuntime", "name": "hull"}
    assert path == {
        "head": identity,
        "runtimes": [{"identity": identity, "parentName": "gone"}],
        "dependents": [{"kind": "InferenceService", "namespace": "pond", "name": "u"}],
        "issue": {"code": "ParentMissing", "subject": identity, "parentName": "gone", "path": [identity]},
    }


def test_no_line_is_longer_than_eighty_characters_and_nothing_steers_a_terminal() -> None:
    long = "x" * 200
    found = grown(child(long, f"{long}\x1b[31m\u202e"), user(long, long), name=long)
    shown = text(found, strays=True)
    assert max(map(len, shown)) <= 80
    assert "\x1b" not in "".join(shown)
    assert any(line.startswith("  parent: xxx") and "#" in line for line in shown)
    assert long in render(found, "wide", AT, strays=False)
