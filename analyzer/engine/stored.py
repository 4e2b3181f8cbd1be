"""The result as tables of `bundle.duckdb`: findings, incidents, what was not evaluated, and about the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import duckdb

from analyzer import times
from analyzer.engine.model import Finding, ObjectRef, Report
from analyzer.engine.plain import finding_dict, incident_dict
from analyzer.facts.rows import insert_rows
from analyzer.store.schema import GENERATION, TABLES


def store_result(con: duckdb.DuckDBPyConnection, report: Report, signatures: Sequence[str] = ()) -> None:
    """Creates and fills the tables `findings`, `incidents`, `not_evaluated` and `meta`.

    Args:
        con: the database.
        report: what was found.
        signatures: ids of the signatures that logs were searched for.
    """
    for table in TABLES:
        if table.stage == "result":
            con.execute(table.ddl())
    place = {name: incident.id for incident in report.incidents for name in incident.findings}
    told = {name: number for number, entry in enumerate(report.entries, 1) for name in entry.incidents}
    ids = _object_ids(con, report)
    causes = {effect: cause for incident in report.incidents for effect, cause in incident.parents.items()}
    rows = [_finding_row(one, place.get(one.id), ids) | {"explained_by": causes.get(one.id)} for one in report.findings]
    insert_rows(con, "findings", rows)
    insert_rows(
        con,
        "incidents",
        [
            {
                "rank": rank,
                "id": one.id,
                "title": one.title,
                "root": one.root,
                "entry": told.get(one.id, rank),
                "json": incident_dict(one),
            }
            for rank, one in enumerate(report.incidents, 1)
        ],
    )
    insert_rows(con, "not_evaluated", [dataclasses.asdict(entry) for entry in report.not_evaluated])
    about = {
        "schema": GENERATION,
        "tool-version": report.tool_version,
        "rules": str(report.rules.count),
        "rules-digest": report.rules.digest,
        "health": report.health,
        "verdict": report.verdict,
        "signatures": " ".join(signatures),
        "collected-at": times.rfc3339(report.collected_at),
    }
    insert_rows(con, "meta", [{"key": key, "value": value} for key, value in about.items()])


def _finding_row(finding: Finding, incident: str | None, ids: dict[ObjectRef, int]) -> dict[str, Any]:
    return {
        "id": finding.id,
        "code": finding.code,
        "severity": finding.severity,
        "object_id": ids.get(finding.object),
        "api_group": finding.object.group,
        "kind": finding.object.kind,
        "namespace": finding.object.namespace,
        "name": finding.object.name,
        "title": finding.title,
        "message": finding.message,
        "since": _naive(finding.since),
        "owner": finding.owner,
        "waiting": finding.waiting,
        "basis": finding.basis,
        "count": finding.count,
        "incident": incident,
        "json": finding_dict(finding),
    }


def _object_ids(con: duckdb.DuckDBPyConnection, report: Report) -> dict[ObjectRef, int]:
    """The ids of the objects that findings are about."""
    names = sorted({finding.object.name for finding in report.findings})
    rows = con.execute(
        "SELECT object_id, api_group, kind, namespace, name, uid FROM objects WHERE name IN (SELECT unnest(?::VARCHAR[]))",
        [names],
    ).fetchall()
    return {ObjectRef(group, kind, space, name, uid or None): number for number, group, kind, space, name, uid in rows}


def _naive(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=None) if moment else None
