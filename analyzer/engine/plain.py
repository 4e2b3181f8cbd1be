"""Findings and incidents as plain data: the form they have in report.json and in the tables of `bundle.duckdb`."""

from __future__ import annotations

from typing import Any, Final

from analyzer.engine.model import Evidence, Finding, Incident, ObjectRef
from analyzer.times import rfc3339

OBJECTS_LISTED: Final = 50
"""How many of the objects that a finding folds are listed; `count` tells the whole number."""


def object_dict(ref: ObjectRef) -> dict[str, Any]:
    """An object as in report.json: group, kind, namespace, name, uid."""
    return {"group": ref.group, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name, "uid": ref.uid}


def _evidence(item: Evidence) -> dict[str, Any]:
    return {
        "input": item.input,
        "file": item.file,
        "line": item.line,
        "path": item.path,
        "value": item.value,
        "kind": item.kind,
    }


def finding_dict(finding: Finding) -> dict[str, Any]:
    """A finding as in report.json and in the column `json` of the table `findings`: 16 fields in a fixed order."""
    return {
        "id": finding.id,
        "code": finding.code,
        "severity": finding.severity,
        "domain": finding.domain,
        "object": object_dict(finding.object),
        "title": finding.title,
        "message": finding.message,
        "since": rfc3339(finding.since),
        "ageSeconds": finding.age_seconds,
        "owner": finding.owner,
        "waiting": finding.waiting,
        "basis": finding.basis,
        "next": list(finding.next),
        "evidence": [_evidence(item) for item in finding.evidence],
        "count": finding.count,
        "objects": [object_dict(ref) for ref in finding.objects[:OBJECTS_LISTED]],
    }


def incident_dict(incident: Incident) -> dict[str, Any]:
    """An incident as in report.json and in the column `json` of the table `incidents`."""
    return {
        "id": incident.id,
        "title": incident.title,
        "root": incident.root,
        "findings": list(incident.findings),
        "owner": incident.owner,
        "impact": dict(incident.impact),
        "next": list(incident.next),
    }
