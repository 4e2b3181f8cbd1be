"""What was collected: the difference between none and not asked for."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from analyzer.facts import coverage

PODS = {"kind": "Pod"}


def _space(name: str, **more: Any) -> dict[str, Any]:
    return {"kind": "Namespace", "metadata": {"name": name}, **more}


def _pod(namespace: str, name: str = "web-0", **more: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"namespace": namespace, "name": name}, **more}


def _of(con: duckdb.DuckDBPyConnection, kind: str, group: str = "", needed: Any = ()) -> tuple[Any, ...]:
    """Status, scope, objects and reason of one kind."""
    coverage.derive(con, needed)
    rows = con.execute(
        "SELECT status, scope, objects, reason FROM coverage WHERE kind = ? AND api_group = ?", [kind, group]
    ).fetchall()
    assert len(rows) == 1
    return rows[0]


def test_node_pod_and_event_are_always_told(make: Any) -> None:
    con = make()
    coverage.derive(con)
    assert con.execute("SELECT kind, status FROM coverage ORDER BY kind").fetchall() == [
        ("Event", "not-collected"),
        ("Node", "not-collected"),
        ("Pod", "not-collected"),
    ]


def test_one_list_of_all(make: Any) -> None:
    assert _of(make([_pod("a")], lists=[PODS]), "Pod")[:3] == ("complete", ["*"], 1)
    assert _of(make(lists=[PODS]), "Pod")[:3] == ("absent", ["*"], 0)


def test_a_list_in_each_namespace_of_a_complete_namespace_list_is_the_whole_cluster(make: Any) -> None:
    lists = [{"kind": "Namespace"}, {**PODS, "namespace": "a"}, {**PODS, "namespace": "b"}]
    assert _of(make([_space("a"), _space("b"), _pod("a")], lists=lists), "Pod")[:2] == ("complete", ["*"])
    assert _of(make([_space("a"), _space("b")], lists=lists), "Pod")[:2] == ("absent", ["*"])


def test_a_namespace_without_its_list_makes_it_partial(make: Any) -> None:
    con = make([_space("a"), _space("b"), _pod("a")], lists=[{"kind": "Namespace"}, {**PODS, "namespace": "a"}])
    status, scope, _, reason = _of(con, "Pod")
    assert (status, scope) == ("partial", ["a"])
    assert "1 namespace: b" in reason


def test_without_a_namespace_list_the_scope_is_the_namespaces_that_have_lists(make: Any) -> None:
    lists = [{**PODS, "namespace": "a"}, {**PODS, "namespace": "b"}, {"kind": "Service", "namespace": "a"}]
    con = make([_pod("a")], lists=lists)
    assert _of(con, "Pod")[:2] == ("complete", ["a", "b"])
    assert con.execute("SELECT status, scope FROM coverage WHERE kind = 'Service'").fetchall() == [("partial", ["a"])]


def test_single_objects_prove_nothing_of_the_rest(make: Any) -> None:
    assert _of(make([_pod("a")]), "Pod")[:2] == ("partial", ["a"])


@pytest.mark.parametrize(("form", "status"), [("must-gather", "complete"), ("inspect", "complete"), ("plain", "partial")])
def test_folders_of_must_gather_count_as_lists(make: Any, form: str, status: str) -> None:
    con = make(
        [{"kind": "Node", "metadata": {"name": "n1"}}, {"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure"}],
        files=[{"format": form, "path": "cluster-scoped-resources/core/nodes/n1.yaml"}],
    )
    assert _of(con, "Node")[0] == status
    assert con.execute("SELECT status FROM coverage WHERE kind = 'Infrastructure'").fetchall() == [("partial",)]


def test_a_namespace_of_single_objects_was_not_asked_for(make: Any) -> None:
    copied = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": {"namespace": "user"}}
    con = make([_space("a"), _pod("a"), copied], files=[{"format": "must-gather"}], lists=[{**PODS, "namespace": "a"}])
    assert _of(con, "Pod")[:2] == ("complete", ["a"])


def test_a_list_that_was_cut(make: Any) -> None:
    status, scope, _, reason = _of(make([_pod("a")], lists=[{**PODS, "complete": False}]), "Pod")
    assert (status, scope) == ("partial", ["a"])
    assert "f0.yaml" in reason


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("x/namespaces/a/core/pods.yaml", "Pod"),
        ("x/namespaces/a/pods/web-0/web-0.yaml", "Pod"),
        ("x/cluster-scoped-resources/core/nodes/n1.yaml", "Node"),
        ("cluster-resources/events/a.json", "Event"),
        ("resources/ns/a/core_v1_pods.json", "Pod"),
        ("a/pods.json", "Pod"),
    ],
)
def test_an_unread_file_of_the_kind(make: Any, path: str, kind: str) -> None:
    con = make(files=[{}, {"path": path, "status": "unread"}], lists=[{"kind": name} for name in ("Pod", "Node", "Event")])
    coverage.derive(con)
    rows = dict(con.execute("SELECT kind, status FROM coverage").fetchall())
    assert rows == {"Pod": "absent", "Node": "absent", "Event": "absent"} | {kind: "partial"}


def test_a_stream_that_is_cut_after_a_list_of_all(make: Any) -> None:
    con = make(files=[{"status": "partial"}], lists=[{"kind": "Node"}, {**PODS, "namespace": "a"}])
    assert _of(con, "Node")[:2] == ("absent", ["*"])
    assert con.execute("SELECT status FROM coverage WHERE kind = 'Pod'").fetchall() == [("partial",)]


def test_an_unread_file_of_another_kind_of_the_same_name(make: Any) -> None:
    con = make(
        files=[{}, {"path": "cluster-resources/custom-resources/nodes.longhorn.io/longhorn-system.yaml", "status": "unread"}],
        lists=[{"kind": "Node"}, {"kind": "Node", "api_group": "longhorn.io", "namespace": "longhorn-system"}],
    )
    assert _of(con, "Node")[0] == "absent"
    assert con.execute("SELECT status FROM coverage WHERE api_group = 'longhorn.io'").fetchall() == [("partial",)]


def test_an_input_that_is_cut_leaves_only_lists_of_all_complete(make: Any) -> None:
    con = make(
        [_space("a"), _pod("a")],
        lists=[{"kind": "Namespace"}, {**PODS, "namespace": "a"}, {"kind": "Node"}],
        inputs=[{"complete": False}],
    )
    assert _of(con, "Pod")[0] == "partial"
    assert con.execute("SELECT status FROM coverage WHERE kind = 'Node'").fetchall() == [("absent",)]


@pytest.mark.parametrize(("subject", "kind"), [("pods", "Pod"), ("nodes", "Node"), ("events", "Event"), ("Pod", "Pod")])
def test_forbidden_where_nothing_of_it_was_read(make: Any, subject: str, kind: str) -> None:
    con = make(errors=[{"kind": "forbidden", "subject": subject, "message": "no, you cannot"}])
    coverage.derive(con)
    rows = con.execute("SELECT kind, reason FROM coverage WHERE status = 'forbidden'").fetchall()
    assert rows == [(kind, "no, you cannot")]


def test_refused_in_part_is_partial(make: Any) -> None:
    con = make(lists=[{**PODS, "namespace": "a"}], errors=[{"kind": "forbidden", "subject": "pods", "message": "not in b"}])
    assert _of(con, "Pod")[0] == "partial"


def test_a_kind_that_the_cluster_does_not_serve(make: Any) -> None:
    con = make(errors=[{"kind": "not-served", "subject": "cranes.example.com", "message": "no such type"}])
    assert _of(con, "Crane", "example.com", needed=[("example.com", "Crane")])[0] == "absent"


def test_a_complete_list_of_crds_that_lacks_the_kind(make: Any) -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "names": {"kind": "Crane"}},
    }
    needed = [("example.com", "Crane"), ("example.com", "Winch"), ("apps", "Deployment"), ("resource.k8s.io", "ResourceClaim")]
    whole = [{"api_group": "apiextensions.k8s.io", "kind": "CustomResourceDefinition"}]
    coverage.derive(con := make([crd], lists=whole), needed)
    rows = dict(con.execute("SELECT kind, status FROM coverage").fetchall())
    assert (rows["Crane"], rows["Winch"]) == ("not-collected", "absent")
    assert rows["Deployment"] == rows["ResourceClaim"] == "not-collected"
    coverage.derive(con := make([crd]), needed)
    assert dict(con.execute("SELECT kind, status FROM coverage").fetchall())["Winch"] == "not-collected"


def test_an_object_wins_over_the_list_of_crds(make: Any) -> None:
    con = make(
        [{"apiVersion": "example.com/v1", "kind": "Winch"}],
        lists=[{"api_group": "apiextensions.k8s.io", "kind": "CustomResourceDefinition"}],
    )
    assert _of(con, "Winch", "example.com")[0] == "partial"


def test_events_of_the_newer_group_are_the_same_events(make: Any) -> None:
    assert _of(make(lists=[{"api_group": "events.k8s.io", "kind": "Event"}]), "Event")[0] == "absent"


@pytest.mark.parametrize(("complete", "status"), [(True, "absent"), (False, "partial")])
def test_the_record_of_an_archive_that_is_cut_proves_nothing(make: Any, complete: bool, status: str) -> None:
    record = {"role": "sonobuoy-queries", "json": {"asked": [{"resource": "nodes", "namespace": ""}]}}
    con = make(inputs=[{"complete": complete}], lists=[{"kind": "Service", "namespace": "a"}], documents=[record])
    assert _of(con, "Node")[0] == status
