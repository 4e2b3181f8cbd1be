"""What etcd says of itself: the answers of `etcdctl endpoint health`, `alarm list` and `member list` in a must-gather."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, one_line, strings, text

_ALARMS = {1: "NOSPACE", 2: "CORRUPT"}

Place = Callable[[str], int | None]
"""Name of a member → the object that stands for it."""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `etcd_checks` from the documents `etcd-endpoint-health`, `etcd-alarm-list` and `etcd-member-list`."""
    rows = con.execute("SELECT file_id, role, json FROM documents WHERE role LIKE 'etcd-%' ORDER BY file_id").fetchall()
    documents = [(file_id, role, orjson.loads(text)) for file_id, role, text in rows]
    if documents:
        insert_rows(con, "etcd_checks", _checks(documents, _placer(con)))


def _placer(con: duckdb.DuckDBPyConnection) -> Place:
    operator = con.execute(
        "SELECT min(object_id) FROM objects "
        "WHERE api_group = 'config.openshift.io' AND kind = 'ClusterOperator' AND name = 'etcd'"
    ).fetchall()[0][0]
    nodes: dict[str, int] = dict(con.execute("SELECT name, object_id FROM nodes").fetchall())
    return lambda member: operator if operator is not None else nodes.get(member)


def _checks(documents: list[tuple[int, str, Any]], place: Place) -> Iterator[dict[str, Any]]:
    members = [
        member
        for _, role, document in documents
        if role == "etcd-member-list"
        for member in mappings(mapping(document).get("members"))
    ]
    by_url = {url: text(member.get("name")) or "" for member in members for url in strings(member.get("clientURLs"))}
    by_id = {str(member.get("ID")): text(member.get("name")) or "" for member in members}
    for file_id, role, document in documents:
        if role == "etcd-endpoint-health":
            yield from _endpoints(file_id, document, by_url, place)
        elif role == "etcd-alarm-list":
            for alarm in mappings(mapping(document).get("alarms")):
                name = by_id.get(str(alarm.get("memberID")), "")
                kind = alarm.get("alarm")
                words = _ALARMS.get(kind, str(kind)) if isinstance(kind, int) else str(kind)
                yield _row(file_id, "alarm", name or str(alarm.get("memberID")), words, place(name))
        elif role == "etcd-member-list":
            for member in mappings(mapping(document).get("members")):
                # A member that was added but never started has no name yet (etcd's documentation).
                name = text(member.get("name")) or ""
                peers = ", ".join(strings(member.get("peerURLs")))
                yield _row(file_id, "member", name or peers, None if name else "unstarted", place(name))


def _endpoints(file_id: int, document: Any, by_url: dict[str, str], place: Place) -> Iterator[dict[str, Any]]:
    """Only network endpoints count: etcd before 3.5 also lists its local socket (`unixs://`), which etcdctl cannot reach."""
    for item in mappings(document):
        endpoint = text(item.get("endpoint")) or ""
        if not endpoint.startswith(("https://", "http://")):
            continue
        error = None if item.get("health") in (True, "true") else one_line(text(item.get("error")) or "unhealthy", 500)
        name = by_url.get(endpoint, "")
        yield _row(file_id, "endpoint", f"{name} ({endpoint})" if name else endpoint, error, place(name))


def _row(file_id: int, about: str, name: str, problem: str | None, object_id: int | None) -> dict[str, Any]:
    return {
        "file_id": file_id,
        "about": about,
        "name": one_line(name, 300),
        "ok": problem is None,
        "message": problem,
        "object_id": object_id,
    }
