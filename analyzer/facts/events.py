"""Events of both APIs (core v1 and events.k8s.io) in one table."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, moment, number, stored, text

_KINDS = (("", "Event"), ("events.k8s.io", "Event"))

# A uid that is a UUID names one incarnation of an object: a pod of the same name that came later is another one.
# The kubelet gives a Node's name as its uid, and a hash for static pods; those are joined by name.
_JOIN = """
UPDATE events SET about_id = found.object_id FROM (
    SELECT e.rowid AS row, coalesce(min(u.object_id), min(n.object_id)) AS object_id
    FROM events AS e
    LEFT JOIN objects AS u ON e.about_uid <> '' AND u.uid = e.about_uid
    LEFT JOIN objects AS n
        ON NOT regexp_matches(e.about_uid, '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$')
        AND n.kind = e.about_kind AND n.name = e.about_name AND n.api_group = e.about_group
        AND n.namespace IN (e.about_namespace, '')
    GROUP BY e.rowid
) AS found WHERE found.row = events.rowid AND found.object_id IS NOT NULL
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `events` from the Event objects; one that both APIs gave is there once.

    The last time of an event is the first that exists of series.lastObservedTime, lastTimestamp, eventTime and
    creationTimestamp (Kubernetes API, Event v1 and events.k8s.io/v1).
    """
    seen: set[str] = set()

    def rows() -> Any:
        for event in stored(con, _KINDS):
            if event.uid:
                if event.uid in seen:
                    continue
                seen.add(event.uid)
            yield _row(event)

    insert_rows(con, "events", rows())
    con.execute(_JOIN)


def _row(event: Stored) -> dict[str, Any]:
    value = event.value
    about = mapping(value.get("involvedObject")) or mapping(value.get("regarding"))
    source = mapping(value.get("source")) or mapping(value.get("deprecatedSource"))
    series = mapping(value.get("series"))
    first = moment(value.get("firstTimestamp")) or moment(value.get("deprecatedFirstTimestamp"))
    last = moment(value.get("lastTimestamp")) or moment(value.get("deprecatedLastTimestamp"))
    seen_at = moment(value.get("eventTime"))
    first_at = first or seen_at or last or event.created_at
    last_at = moment(series.get("lastObservedTime")) or last or seen_at or event.created_at
    if first_at and last_at and first_at > last_at:
        first_at = last_at
    version = text(about.get("apiVersion")) or ""
    times = number(series.get("count")) or number(value.get("count")) or number(value.get("deprecatedCount")) or 1
    return {
        "object_id": event.object_id,
        "input": event.input,
        "namespace": event.namespace,
        "type": text(value.get("type")) or "",
        "reason": text(value.get("reason")) or "",
        "message": text(value.get("message")) or text(value.get("note")) or "",
        "about_group": version.split("/", 1)[0] if "/" in version else "",
        "about_kind": text(about.get("kind")) or "",
        "about_namespace": text(about.get("namespace")) or "",
        "about_name": text(about.get("name")) or "",
        "about_uid": text(about.get("uid")) or "",
        "field_path": text(about.get("fieldPath")) or "",
        "times": max(times, 1),
        "first_at": first_at,
        "last_at": last_at,
        "component": text(value.get("reportingComponent"))
        or text(value.get("reportingController"))
        or text(source.get("component"))
        or "",
        "host": text(source.get("host")) or text(value.get("reportingInstance")) or "",
    }
