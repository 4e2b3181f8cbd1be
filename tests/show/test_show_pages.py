"""What a page says of each kind of object, from plain dictionaries through the real facts."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from analyzer.facts.rows import insert_rows
from tests.facts.build import database

from .pages import owned, page, section, thing

POD_STATUS = {
    "phase": "Running",
    "conditions": [
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-01T11:00:00Z"},
        {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "containers with unready status: [app]",
         "lastTransitionTime": "2026-11-01T11:30:00Z"},
    ],
    "containerStatuses": [
        {"name": "app", "ready": False, "restartCount": 7,
         "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}},
         "lastState": {"terminated": {"exitCode": 3, "reason": "Error", "startedAt": "2026-11-01T11:55:00Z",
                                      "finishedAt": "2026-11-01T11:55:04Z"}}},
    ],
}  # fmt: skip
POD_SPEC = {
    "nodeName": "n1",
    "containers": [{"name": "app", "image": "registry.example/app:1", "resources": {"limits": {"memory": "64Mi", "cpu": "1"}}}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
}

OBJECTS = [
    thing("v1", "Namespace", "shop", status={"phase": "Active"}),
    thing("v1", "Node", "n1", status={
        "conditions": [
            {"type": "DiskPressure", "status": "False", "lastTransitionTime": "2026-10-01T00:00:00Z"},
            {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": "2026-10-01T00:00:00Z"},
        ],
        "capacity": {"cpu": "8", "pods": "110"}, "allocatable": {"cpu": "7500m", "pods": "110"},
        "nodeInfo": {"kubeletVersion": "v1.33.1", "osImage": "Some Linux"},
    }),
    thing("apps/v1", "Deployment", "web", "shop", metadata={"uid": "d-1"},
          spec={"replicas": 2, "selector": {"matchLabels": {"app": "web"}}},
          status={"replicas": 1, "readyReplicas": 0, "conditions": [
              {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "not enough"}]}),
    thing("apps/v1", "ReplicaSet", "web-1", "shop", metadata={"uid": "r-1", **owned("Deployment", "web", "d-1")},
          spec={"replicas": 2}, status={"replicas": 1}),
    thing("v1", "Pod", "web-1-a", "shop", spec=POD_SPEC, status=POD_STATUS,
          metadata={"uid": "p-1", "labels": {"app": "web"}, "creationTimestamp": "2026-11-01T11:00:00Z",
                    **owned("ReplicaSet", "web-1", "r-1")}),
    thing("v1", "Service", "web", "shop", spec={"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}),
    thing("v1", "Endpoints", "web", "shop", subsets=[{"notReadyAddresses": [{"ip": "10.0.0.9"}]}]),
    thing("v1", "PersistentVolumeClaim", "data", "shop",
          spec={"storageClassName": "fast", "volumeName": "pv-1", "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "5Gi"}}},
          status={"phase": "Bound", "capacity": {"storage": "5Gi"}}),
    thing("v1", "PersistentVolume", "pv-1",
          spec={"capacity": {"storage": "5Gi"}, "storageClassName": "fast", "csi": {"driver": "csi.example"},
                "claimRef": {"namespace": "shop", "name": "data"}, "persistentVolumeReclaimPolicy": "Delete"}),
    thing("batch/v1", "Job", "once", "shop", metadata={"uid": "j-1"}, spec={"completions": 3, "backoffLimit": 4},
          status={"active": 1, "failed": 2, "startTime": "2026-11-01T11:00:00Z"}),
    thing("batch/v1", "CronJob", "nightly", "shop", spec={"schedule": "0 3 * * *", "suspend": True},
          status={"lastScheduleTime": "2026-11-01T03:00:00Z"}),
    thing("v1", "ResourceQuota", "small", "shop",
          status={"hard": {"pods": "2", "cpu": "4"}, "used": {"pods": "2"}}),
    thing("v1", "ConfigMap", "leaving", "shop",
          metadata={"deletionTimestamp": "2026-11-01T10:00:00Z", "finalizers": ["example.com/hold"]}),
    thing("v1", "ConfigMap", "settings", "shop", data={"b": "1", "a": "2"}),
    thing("lab.example/v1", "Gadget", "g", "shop",
          status={"conditions": [{"type": "Degraded", "status": "True", "message": "it rattles"},
                                 {"type": "Ready", "status": "True"}]}),
    *[
        thing("v1", "Event", f"e{i}", "shop", type="Warning", reason="BackOff", message="Back-off restarting failed container",
              involvedObject={"kind": "Pod", "name": "web-1-a", "namespace": "shop", "uid": "p-1", "apiVersion": "v1"},
              count=5, lastTimestamp=f"2026-11-01T11:5{i}:00Z")
        for i in range(3)
    ],
    *[
        thing("v1", "Event", f"many{i}", "shop", type="Normal", reason="Pulled", message=f"pulled image number {i}",
              involvedObject={"kind": "Pod", "name": "web-1-a", "namespace": "shop", "uid": "p-1", "apiVersion": "v1"},
              lastTimestamp=f"2026-11-01T10:{i:02}:00Z")
        for i in range(20)
    ],
]  # fmt: skip

LOGS = [{"namespace": "shop", "pod": "web-1-a", "container": "app", "source": "previous", "text": "starting\nfatal: no disk\n"}]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with database(OBJECTS, logs=LOGS, lists=[("storage.k8s.io", "StorageClass")]) as con:
        yield con


def test_the_first_lines_tell_state_why_since_and_whose_it_is(con: duckdb.DuckDBPyConnection) -> None:
    head = page(con, "pod/web-1-a").split("\n\n")[0].split("\n")
    assert head[0] == "Pod shop/web-1-a"
    facts = dict(line.strip().split(":", 1) for line in head[1:])
    assert facts["State"].strip() == "Crash looping, for 30 min, since 11:30:00"
    assert "Deduced: container app: exit code 3" in facts["Why"]
    assert facts["Owner"].strip() == "ReplicaSet web-1"
    assert facts["Top owner"].strip() == "Deployment web"
    assert "60 min before the end of the collection" in facts["Created"]


def test_the_clusters_words_are_quoted_ours_are_not(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("UPDATE states SET message = 'containers with unready status: [app]' WHERE name = 'web-1-a'")
    assert 'Why:       CrashLoopBackOff: "containers with unready status: [app]"' in page(con, "pod/web-1-a")
    con.execute("UPDATE states SET message = 'we think so' WHERE name = 'web-1-a'")
    assert "Why:       CrashLoopBackOff. Deduced: we think so" in page(con, "pod/web-1-a")
    con.execute("UPDATE states SET message = 'container app: exit code 3' WHERE name = 'web-1-a'")


def test_containers_tell_now_last_end_limits_and_last_words(con: duckdb.DuckDBPyConnection) -> None:
    lines = section(page(con, "pod/web-1-a"), "Containers")
    assert lines[1] == 'app: waiting CrashLoopBackOff: "back-off 5m0s restarting failed container", 7 restarts'
    assert lines[2].startswith("last end: exit code 3")
    assert lines[2].endswith("Error, 4 min before (11:55:04), after a run of 4 s")
    assert 'image "registry.example/app:1"' in lines
    assert "limits memory 64Mi, cpu 1" in lines
    assert "logs: previous (2 lines)" in lines
    assert any(line.startswith('its log says "fatal: no disk" (0.log:2)') for line in lines)


def test_bad_conditions_come_first_and_are_marked(con: duckdb.DuckDBPyConnection) -> None:
    lines = section(page(con, "gadget/g"), "Conditions")
    assert lines[2].split() == ["!", "Degraded", "True", "unknown", '"it', 'rattles"']
    assert lines[3].split()[:2] == ["Ready", "True"]


def test_events_are_folded_newest_first_and_the_rest_is_counted(con: duckdb.DuckDBPyConnection) -> None:
    lines = section(page(con, "pod/web-1-a"), "Events")
    assert lines[2].startswith("8 min before")
    assert lines[2].split()[3] == "15"
    assert 'BackOff: "Back-off restarting failed container"' in lines[2]
    assert len(lines) == 2 + 15 + 1
    assert lines[-1] == "and 6 more events, older"


def test_links_go_both_ways_with_states(con: duckdb.DuckDBPyConnection) -> None:
    lines = section(page(con, "pod/web-1-a"), "Linked to")
    assert "Runs on:    Node n1 (Ready)" in lines
    assert "Uses claim: PersistentVolumeClaim data" in lines
    assert any(line.startswith("Served by:") and line.endswith("Service web") for line in lines)
    assert "Volume: PersistentVolume pv-1" in section(page(con, "pvc/data"), "Linked to")


def test_a_relation_without_words_is_told_too(con: duckdb.DuckDBPyConnection) -> None:
    ids = dict(con.execute("SELECT kind || '/' || name, object_id FROM objects").fetchall())
    con.execute("INSERT INTO relations VALUES (?, ?, 'frobs')", [ids["Gadget/g"], ids["Service/web"]])
    assert "frobs of: Service web" in section(page(con, "gadget/g"), "Linked to")
    assert any(line.startswith("Frobs: ") for line in section(page(con, "svc/web"), "Linked to"))
    con.execute("DELETE FROM relations WHERE kind = 'frobs'")


@pytest.mark.parametrize(
    ("text", "title", "says"),
    [
        ("deploy/web", "Rollout", "Wanted:        2 pods"),
        ("deploy/web", "Rollout", "1 created"),
        ("deploy/web", "Pods (1 pod, 0 ready)", "web-1-a  Crash looping for 30 min  7         n1"),
        ("deploy/web", "Selects pods by", "app=web"),
        ("svc/web", "Service", "Addresses: 0 ready, 1 not ready (by its Endpoints)"),
        ("svc/web", "Service", "Ports:     80/TCP to 8080"),
        ("svc/web", "Selected pods (1 pod, 0 ready)", "web-1-a"),
        ("pvc/data", "Claim", "Class:    fast, which does not exist"),
        ("pvc/data", "Claim", "Asks for: 5Gi, ReadWriteOnce"),
        ("pvc/data", "Used by (1 pod, 0 ready)", "web-1-a"),
        ("pv/pv-1", "Volume", "Claimed by:    PersistentVolumeClaim shop/data"),
        ("node/n1", "Resources", "cpu       8         7500m"),
        ("node/n1", "Pods on it (1 pod, 0 ready)", "shop/web-1-a"),
        ("job/once", "Job", "By its status:   1 active, 0 succeeded, 2 failed"),
        ("cronjob/nightly", "Schedule", 'Schedule:     "0 3 * * *"'),
        ("ns/shop", "In this bundle of it", "Pods by state: 1 Crash looping"),
        ("ns/shop", "Being deleted in it", "ConfigMap leaving  2 h  example.com/hold"),
        ("ns/shop", "Quotas", "small  cpu       unknown  4"),
        ("quota/small", "Quotas", "small  pods      2        2"),
        ("cm/leaving", "ConfigMap", "for 2 h; finalizers that hold it: example.com/hold"),
        ("pod/web-1-a", "Read from", "pod-web-1-a.yaml:1"),
        ("event/e2", "Event", "About: Pod shop/web-1-a"),
        ("event/e2", "Event", 'Says:  BackOff: "Back-off restarting failed container"'),
        ("event/e2", "Event", "Seen:  5 times, last 8 min before (11:52:00)"),
        ("cm/settings", "Holds", "2 keys in data: a, b"),
    ],
)
def test_details(con: duckdb.DuckDBPyConnection, text: str, title: str, says: str) -> None:
    lines = section(page(con, text), title)
    assert any(says in " ".join(line.split()) or says in line for line in lines), page(con, text)


FINDING = {"severity": "error", "owner": "workload", "waiting": "no", "basis": "observed", "count": 1, "incident": "i-1"}


def test_findings_tell_their_causes_evidence_and_what_to_do(con: duckdb.DuckDBPyConnection) -> None:
    ids = dict(con.execute("SELECT kind || '/' || name, object_id FROM objects").fetchall())
    evidence = [
        {"input": 0, "file": "pods.yaml", "line": 7, "path": "status.phase", "value": "Run\x1b[2Jning", "kind": "Reported"}
    ]
    insert_rows(con, "findings", [
        FINDING | {"id": "a", "code": "node/NotReady", "object_id": ids["Node/n1"], "api_group": "", "kind": "Node",
                   "namespace": "", "name": "n1", "title": "The node is away", "message": "m", "json": {}},
        FINDING | {"id": "b", "code": "pod/Unschedulable", "object_id": ids["Deployment/web"], "api_group": "apps",
                   "kind": "Deployment", "namespace": "shop", "name": "web", "title": "Two pods wait", "message": "They wait.",
                   "count": 2, "explained_by": "a", "basis": "deduced",
                   "json": {"next": ["Look: kubectl get pods"], "evidence": evidence, "objects": [
                       {"group": "", "kind": "Pod", "namespace": "shop", "name": "web-1-a", "uid": None}]}},
        FINDING | {"id": "c", "code": "x/Circle", "object_id": ids["Gadget/g"], "api_group": "lab.example", "kind": "Gadget",
                   "namespace": "shop", "name": "g", "title": "Circle", "message": "", "explained_by": "c", "json": {}},
    ])  # fmt: skip
    insert_rows(con, "incidents", [{"rank": 1, "id": "i-1", "title": "The node is away", "root": "a", "json": {}}])
    try:
        for text in ("deploy/web", "pod/web-1-a"):
            lines = section(page(con, text), "Findings")
            assert lines[1] == "Error  pod/Unschedulable (deduced): Two pods wait".replace("Error  ", "Error ") or lines[
                1
            ].startswith("Error")
            assert "Explained by node/NotReady: The node is away" in lines
            assert 'Incident 1, "The node is away"' in lines
            assert "Next: Look: kubectl get pods" in lines
            assert 'pods.yaml:7 status.phase: "Running"' in [" ".join(line.split()) for line in lines]
        assert "It explains 1 other finding." in section(page(con, "node/n1"), "Findings")
        assert "x/Circle" in page(con, "gadget/g")
        assert "No rule found anything about it." in page(con, "svc/web")
        beside = section(page(con, "rs/web-1"), "Findings")
        assert beside[1:3] == ["No rule found anything about it.", "About what it is linked to:"]
        assert "Error pod/Unschedulable: Two pods wait (Deployment web)" in [" ".join(line.split()) for line in beside]
    finally:
        con.execute("DELETE FROM findings")
        con.execute("DELETE FROM incidents")


def test_a_deployment_shows_what_is_found_about_the_pods_of_its_replica_sets(con: duckdb.DuckDBPyConnection) -> None:
    ids = dict(con.execute("SELECT kind || '/' || name, object_id FROM objects").fetchall())
    told: dict[str, object] = {"code": "pod/CrashLooping", "api_group": "", "kind": "Pod", "namespace": "shop", "name": "web-1-a"}
    told |= {"id": "a", "object_id": ids["Pod/web-1-a"], "title": "Pod shop/web-1-a crashes", "message": "m", "json": {}}
    insert_rows(con, "findings", [FINDING | told])
    try:
        beside = section(page(con, "deploy/web"), "Findings")
        assert "pod/CrashLooping: Pod shop/web-1-a crashes" in "\n".join(beside)
    finally:
        con.execute("DELETE FROM findings")


def test_what_was_not_collected_is_said() -> None:
    with database(
        [thing("v1", "Pod", "p", "shop"), thing("apps/v1", "Deployment", "d", "shop", metadata=owned("App", "a", "u"))]
    ) as con:
        con.execute("UPDATE coverage SET status = 'not-collected', scope = [] WHERE kind = 'Event'")
        con.execute("UPDATE coverage SET status = 'forbidden', scope = [], reason = 'no right to list pods' WHERE kind = 'Pod'")
        assert "Owner: App a (not in this bundle)" in page(con, "deploy/d")
        missing = section(page(con, "deploy/d"), "Not collected")
        assert missing[1].startswith("Events were not collected")
        assert missing[2] == "Pods were forbidden to the collector (no right to list pods), so it may have others."
        assert "The bundle has no log of this pod." in section(page(con, "pod/p"), "Not collected")


def test_without_a_collection_time_there_are_no_ages() -> None:
    with database([thing("v1", "Pod", "p", "shop", status=POD_STATUS, spec=POD_SPEC)], at=None) as con:
        con.execute("UPDATE inputs SET as_of = NULL")
        text = page(con, "pod/p")
        assert "Nothing says when the bundle was collected: ages are unknown." in text
        assert "since 1 Nov 2026 11:30:00" in text


def test_places_that_disagree_are_told() -> None:
    with database([thing("v1", "Pod", "p", "shop", metadata={"resourceVersion": "9"})]) as con:
        con.execute("UPDATE sources SET resource_version = '9'")
        insert_rows(con, "sources", [
            {"object_id": 0, "file_id": 0, "idx": 1, "line": 44, "resource_version": "7", "chosen": False, "differs": True}
        ])  # fmt: skip
        lines = section(page(con, "pod/p"), "Read from")
        assert [" ".join(line.split()) for line in lines[1:3]] == [
            "pod-p.yaml:1 resourceVersion 9",
            "pod-p.yaml:44 resourceVersion 7, another version",
        ]
        assert lines[3].startswith("The places have different versions")


def test_an_object_that_is_gone_says_so() -> None:
    with database([thing("v1", "Pod", "p", "shop", status=POD_STATUS, spec=POD_SPEC)]) as con:
        con.execute("INSERT INTO gone_objects SELECT *, 0 FROM objects")
        con.execute("DELETE FROM objects")
        con.execute("DELETE FROM states")
        text = page(con, "pod/p")
        assert "Gone: the newer input case no longer has it." in text
        assert "containers with unready status" in text


def test_a_database_that_lacks_a_table_still_tells_the_rest(con: duckdb.DuckDBPyConnection) -> None:
    with database([thing("v1", "Pod", "p", "shop", status=POD_STATUS, spec=POD_SPEC)]) as other:
        other.execute("SET python_enable_replacements = false")
        other.execute("DROP TABLE findings")
        other.execute("DROP TABLE scheduling_causes")
        other.execute("ALTER TABLE pods DROP COLUMN gates")
        text = page(other, "pod/p", older=True)
        assert text.count("another version of triage made this database") == 1
        assert "Containers" in text
