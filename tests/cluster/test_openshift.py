"""OLM, alerts and etcd as facts, and the relations between objects."""

from __future__ import annotations

from typing import Any

from analyzer import facts
from analyzer.facts import alerts, etcd, nodes, olm

OLM = "operators.coreos.com/v1alpha1"


def _olm(kind: str, name: str, namespace: str = "dock", **parts: Any) -> dict[str, Any]:
    return {
        "apiVersion": OLM,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, **parts.pop("metadata", {})},
        **parts,
    }


def _edges(con: Any) -> set[tuple[str, str, str]]:
    rows = con.execute(
        "SELECT s.kind || ' ' || s.name, d.kind || ' ' || d.name, r.kind FROM relations r "
        "JOIN objects s ON s.object_id = r.src JOIN objects d ON d.object_id = r.dst"
    ).fetchall()
    return set(rows)


def test_a_subscription_that_moved_on_leaves_its_failed_plan_behind(make: Any) -> None:
    con = make(
        [
            _olm("InstallPlan", "old", spec={"clusterServiceVersionNames": ["crane.v1"]}, status={"phase": "Failed"}),
            _olm("Subscription", "crane", status={"currentCSV": "crane.v2", "installPlanRef": {"name": "new"}}),
            _olm("ClusterServiceVersion", "crane.v2", status={"phase": "Succeeded"}),
        ]
    )
    olm.derive(con)
    assert con.execute("SELECT name FROM olm_installs WHERE verdict <> 'well'").fetchall() == []


def test_a_failed_plan_and_its_subscription_are_one_row(make: Any) -> None:
    fault = {"type": "InstallPlanFailed", "status": "True", "reason": "InstallComponentFailed"}
    con = make(
        [
            _olm(
                "InstallPlan",
                "p1",
                spec={"clusterServiceVersionNames": ["crane.v1"]},
                status={"phase": "Failed", "message": "no rope"},
            ),
            _olm(
                "Subscription",
                "crane",
                status={"currentCSV": "crane.v1", "installPlanRef": {"name": "p1"}, "conditions": [fault]},
            ),
        ]
    )
    olm.derive(con)
    assert con.execute("SELECT kind, message, message_path FROM olm_installs").fetchall() == [
        ("InstallPlan", "no rope", "status.message")
    ]


def test_a_copy_without_its_label_knows_its_home_by_its_message(make: Any) -> None:
    status = {"phase": "Failed", "reason": "Copied", "message": "The operator is running in dock but is managing this namespace"}
    con = make(
        [_olm("ClusterServiceVersion", "crane.v1", "quay", status=status), _olm("ClusterServiceVersion", "odd", status="Failed")]
    )
    olm.derive(con)
    rows = con.execute("SELECT name, home, copied, verdict, reason FROM olm_installs ORDER BY name").fetchall()
    assert rows == [("crane.v1", "dock", True, "failed", None), ("odd", "dock", False, "well", None)]


def test_trouble_of_an_operator_spreads_from_its_original(make: Any) -> None:
    con = make(
        [
            _olm("ClusterServiceVersion", "crane.v2", spec={"replaces": "crane.v1"}, status={"phase": "Pending"}),
            _olm("ClusterServiceVersion", "crane.v1", status={"phase": "Replacing"}),
            _olm("ClusterServiceVersion", "crane.v2", "quay", metadata={"labels": {"olm.copiedFrom": "dock"}}),
            _olm("InstallPlan", "p1", spec={"clusterServiceVersionNames": ["crane.v2", "gone"]}),
            _olm(
                "Subscription", "crane", spec={"source": "shelf", "sourceNamespace": "market"}, status={"currentCSV": "crane.v2"}
            ),
            _olm("CatalogSource", "shelf", "market"),
        ]
    )
    olm.derive(con)
    version = "ClusterServiceVersion crane.v2"
    assert _edges(con) == {
        (version, "ClusterServiceVersion crane.v1", "csv"),
        (version, version, "csv"),
        ("InstallPlan p1", version, "subscription"),
        ("Subscription crane", version, "subscription"),
        ("CatalogSource shelf", "Subscription crane", "catalog"),
    }


def test_alerts_are_read_once_and_find_their_object(make: Any) -> None:
    rule = {
        "name": "CraneStuck",
        "labels": {"severity": "critical"},
        "alerts": [
            {
                "state": "firing",
                "labels": {"exported_namespace": "dock", "namespace": "monitor", "pod": "exporter-0", "exported_pod": "crane-0"},
            },
            {"state": "inactive", "labels": {}},
            "odd",
        ],
    }
    answer = {"data": {"groups": [{"rules": [rule, {"alerts": None}, 7]}]}}
    pods = [
        {"kind": "Pod", "metadata": {"name": name, "namespace": space}}
        for name, space in (("exporter-0", "monitor"), ("crane-0", "dock"))
    ]
    con = make(
        pods,
        documents=[
            {"role": "alerts", "json": answer},
            {"role": "prometheus-rules", "json": answer},
            {"role": "alerts", "json": []},
        ],
    )
    alerts.derive(con)
    assert con.execute("SELECT a.name, state, severity, o.name FROM alerts a JOIN objects o USING (object_id)").fetchall() == [
        ("CraneStuck", "firing", "critical", "crane-0")
    ]


def test_etcd_documents_of_any_shape(make: Any) -> None:
    con = make(
        documents=[
            {"role": "etcd-endpoint-health", "json": [{"endpoint": "https://a:2379", "health": "true"}, {"health": False}, 1]},
            {"role": "etcd-endpoint-health", "json": "no"},
            {"role": "etcd-alarm-list", "json": {"alarms": [{"memberID": 18446744073709551615, "alarm": 2}]}},
            {"role": "etcd-member-list", "json": {"members": None}},
            {"role": "etcd-endpoint-status", "json": [{}]},
        ]
    )
    nodes.derive(con)
    etcd.derive(con)
    assert con.execute("SELECT about, name, ok, message FROM etcd_checks ORDER BY about DESC").fetchall() == [
        ("endpoint", "https://a:2379", True, None),
        ("alarm", "18446744073709551615", False, "CORRUPT"),
    ]


def test_edges_of_pods_nodes_volumes_services_and_operators(make: Any) -> None:
    space = {"namespace": "dock"}
    con = make(
        [
            {
                "kind": "Node",
                "metadata": {"name": "n1", "labels": {"role": "w"}},
                "spec": {"taints": [{"key": "node.kubernetes.io/not-ready"}]},
                "status": {"conditions": [{"type": "Ready", "status": "False"}]},
            },
            {
                "kind": "Pod",
                "metadata": {"name": "web-0", "labels": {"app": "web", "tier": "x"}, **space},
                "spec": {
                    "nodeName": "n1",
                    "volumes": [
                        {"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}},
                        {"name": "tmp", "ephemeral": {}},
                    ],
                },
                "status": {"phase": "Running"},
            },
            {
                "kind": "Pod",
                "metadata": {"name": "new", **space},
                "spec": {},
                "status": {
                    "phase": "Pending",
                    "conditions": [
                        {
                            "type": "PodScheduled",
                            "status": "False",
                            "reason": "Unschedulable",
                            "message": "0/1 nodes available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.",
                        }
                    ],
                },
            },
            {"kind": "PersistentVolumeClaim", "metadata": {"name": "data-0", **space}, "spec": {"volumeName": "pv-1"}},
            {"kind": "PersistentVolumeClaim", "metadata": {"name": "web-0-tmp", **space}},
            {"kind": "PersistentVolume", "metadata": {"name": "pv-1"}},
            {"kind": "Service", "metadata": {"name": "web", **space}, "spec": {"selector": {"app": "web", "tier": "x"}}},
            {"kind": "Service", "metadata": {"name": "other", **space}, "spec": {"selector": {"app": "web", "tier": "y"}}},
            {"kind": "Service", "metadata": {"name": "none", **space}, "spec": {"selector": {}}},
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": "gate"},
                "webhooks": [{"clientConfig": {"service": {"name": "web", **space}}}],
            },
            {
                "apiVersion": "config.openshift.io/v1",
                "kind": "ClusterOperator",
                "metadata": {"name": "crane"},
                "status": {"relatedObjects": [{"resource": "namespaces", "name": "dock"}, "odd"]},
            },
            {
                "apiVersion": "config.openshift.io/v1",
                "kind": "ClusterVersion",
                "metadata": {"name": "version"},
                "status": {
                    "conditions": [{"type": "Failing", "status": "True", "message": "Cluster operator crane is degraded"}]
                },
            },
            {
                "apiVersion": "machineconfiguration.openshift.io/v1",
                "kind": "MachineConfigPool",
                "metadata": {"name": "w"},
                "spec": {"nodeSelector": {"matchExpressions": [{"key": "role", "operator": "In", "values": ["w"]}]}},
            },
            {
                "apiVersion": "certificates.k8s.io/v1",
                "kind": "CertificateSigningRequest",
                "metadata": {"name": "c1"},
                "spec": {"username": "system:node:n1"},
            },
        ]
    )
    facts.derive_all(con)
    assert _edges(con) == {
        ("Node n1", "Pod web-0", "node"),
        ("Node n1", "Pod new", "taint"),
        ("Node n1", "MachineConfigPool w", "pool"),
        ("PersistentVolumeClaim data-0", "Pod web-0", "pvc"),
        ("PersistentVolumeClaim web-0-tmp", "Pod web-0", "pvc"),
        ("PersistentVolume pv-1", "PersistentVolumeClaim data-0", "pv"),
        ("Pod web-0", "Service web", "service"),
        ("Service web", "ValidatingWebhookConfiguration gate", "backend"),
        ("Pod web-0", "ClusterOperator crane", "component"),
        ("Pod new", "ClusterOperator crane", "component"),
        ("ClusterOperator crane", "ClusterVersion version", "operator"),
        ("CertificateSigningRequest c1", "Node n1", "csr"),
    }
