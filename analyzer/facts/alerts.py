"""Alerts of the cluster's Prometheus, from its own answers (`/api/v1/rules`, `/api/v1/alerts`) in the bundle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, moment, one_line, text

ROLES = ("alerts", "prometheus-rules")
_STATES = ("pending", "firing")
_NAMED_BY = (
    ("pod", "Pod"),
    ("persistentvolumeclaim", "PersistentVolumeClaim"),
    ("deployment", "Deployment"),
    ("statefulset", "StatefulSet"),
    ("daemonset", "DaemonSet"),
    ("job_name", "Job"),
    ("service", "Service"),
)
"""Labels of kube-state-metrics that name an object of the alert's namespace; what the exporter itself is comes last."""
_QUIET_LABELS = frozenset({"alertname", "severity", "prometheus", "endpoint", "job", "instance", "container", "uid"})
_TARGET_LABELS = frozenset({"namespace", "pod", "service", "container", "endpoint", "instance", "job", "node"})
_LABELS_SHOWN = 8

Key = tuple[str, str, str]
"""Kind, namespace, name."""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `alerts`: each pending or firing alert once, with the nearest object that its labels name."""
    documents = con.execute(
        "SELECT file_id, json FROM documents WHERE role IN (SELECT unnest(?::VARCHAR[])) ORDER BY file_id", [list(ROLES)]
    ).fetchall()
    if documents:
        insert_rows(con, "alerts", _rows(documents, _index(con)))


def _index(con: duckdb.DuckDBPyConnection) -> dict[Key, int]:
    kinds = ["Node", "Namespace", "ClusterOperator", "ClusterServiceVersion", *(kind for _, kind in _NAMED_BY)]
    rows = con.execute(
        "SELECT kind, namespace, name, object_id FROM objects WHERE kind IN (SELECT unnest(?::VARCHAR[])) "
        "AND api_group IN ('', 'apps', 'batch', 'config.openshift.io', 'operators.coreos.com') ORDER BY object_id DESC",
        [kinds],
    ).fetchall()
    return {(kind, namespace, name): object_id for kind, namespace, name, object_id in rows}


def _rows(documents: list[tuple[int, str]], index: dict[Key, int]) -> Iterator[dict[str, Any]]:
    seen: set[tuple[tuple[str, str], ...]] = set()
    for file_id, document in documents:
        for alert in _alerts(orjson.loads(document)):
            labels = {name: value for name, value in mapping(alert.get("labels")).items() if isinstance(value, str)}
            key = tuple(sorted(labels.items()))
            state = str(alert.get("state", "")).lower()
            if state not in _STATES or not labels.get("alertname") or key in seen:
                continue
            seen.add(key)
            notes = mapping(alert.get("annotations"))
            words = (text(notes.get(name)) for name in ("message", "description", "summary"))
            yield {
                "file_id": file_id,
                "name": labels["alertname"],
                "state": state,
                "severity": labels.get("severity"),
                "object_id": _nearest(labels, index),
                "labels": _words(labels),
                "text": one_line(next((word for word in words if word), "")) or None,
                "active_at": moment(alert.get("activeAt")),
            }


def _alerts(document: Any) -> Iterator[dict[str, Any]]:
    """The alerts of an answer of Prometheus, by rule or as a plain list."""
    data = mapping(mapping(document).get("data")) or mapping(document)
    yield from mappings(data.get("alerts"))
    for group in mappings(data.get("groups")):
        for rule in mappings(group.get("rules")):
            for alert in mappings(rule.get("alerts")):
                name = {"alertname": rule.get("name"), **mapping(rule.get("labels"))}
                yield {"annotations": rule.get("annotations"), **alert, "labels": {**name, **mapping(alert.get("labels"))}}


def _nearest(labels: dict[str, str], index: dict[Key, int]) -> int | None:
    """The object that an alert is about: what it names in its namespace, its node, its operator, its namespace.

    Where the metric has a label of the same name as the scraped target, Prometheus keeps the metric's as `exported_…`;
    then the plain labels only say which exporter told it.
    """
    exported = {name.removeprefix("exported_"): value for name, value in labels.items() if name.startswith("exported_")}
    if exported:
        labels = {name: value for name, value in labels.items() if name not in _TARGET_LABELS} | exported
    namespace = labels.get("namespace", "")
    name = labels.get("name", "")
    wanted = [
        ("ClusterServiceVersion", namespace, name),
        ("ClusterOperator", "", name),
        *((kind, namespace, labels.get(label, "")) for label, kind in _NAMED_BY),
        ("Node", "", labels.get("node", "")),
        ("Node", "", labels.get("instance", "")),
        ("Namespace", "", namespace),
    ]
    return next((index[key] for key in wanted if key[2] and key in index), None)


def _words(labels: dict[str, str]) -> str:
    """The labels that say what the alert is about."""
    shown = [f"{name}={value}" for name, value in sorted(labels.items()) if name not in _QUIET_LABELS]
    return ", ".join(one_line(word, 120) for word in shown[:_LABELS_SHOWN])
