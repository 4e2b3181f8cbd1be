"""A loaded database from plain dictionaries: what the tests of facts and rules stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import Any

import duckdb
import orjson

from analyzer import facts
from analyzer.bundle.formats.base import Place
from analyzer.bundle.signatures import Scanner, search
from analyzer.engine.pack import load_packs, signatures_of
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import moment
from analyzer.store.schema import TABLES

AT = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


def database(
    objects: Sequence[Mapping[str, Any]] = (),
    *,
    logs: Sequence[Mapping[str, Any]] = (),
    lists: Sequence[tuple[str, str]] = (),
    documents: Sequence[tuple[str, Mapping[str, Any]]] = (),
    at: datetime | None = AT,
    derived: bool = True,
) -> duckdb.DuckDBPyConnection:
    """An in-memory database of one input with all facts derived.

    Args:
        objects: Kubernetes objects; uid and creationTimestamp are not needed.
        logs: {namespace, pod, container, source, text}.
        lists: (API group, kind) of further lists that were read whole and are empty; the kinds of `objects` count as
            read whole.
        documents: (role, content) of files that are no Kubernetes objects.
        at: the end of the collection, None for unknown.
        derived: False leaves the facts' tables empty.
    """
    con = duckdb.connect(config={"threads": 1})
    # Looking for the best plan takes longer than any plan over a handful of rows. The samples are analyzed with the best plans.
    con.execute("PRAGMA disable_optimizer")
    con.execute("SET TimeZone='UTC'")
    for table in TABLES:
        con.execute(table.ddl())
    naive = at.astimezone(UTC).replace(tzinfo=None) if at else None
    insert_rows(
        con,
        "inputs",
        [{"input": 0, "path": "case", "format": "plain", "format_at": naive, "format_source": "the test", "complete": True}],
    )
    rows = [_object(number, value) for number, value in enumerate(objects)]
    insert_rows(con, "objects", rows)
    sources = ({"object_id": i, "file_id": i, "idx": 0, "line": 1, "chosen": True, "differs": False} for i in range(len(rows)))
    insert_rows(con, "sources", sources)
    insert_rows(con, "files", [_file(i, f"{row['kind']}-{row['name']}.yaml".lower(), "objects") for i, row in enumerate(rows)])
    kinds = {(row["api_group"], row["kind"]) for row in rows} | set(lists)
    insert_rows(
        con,
        "lists",
        [
            {
                "file_id": 0,
                "api_group": group,
                "kind": kind,
                "namespace": "*",
                "objects": sum(row["api_group"] == group and row["kind"] == kind for row in rows),
                "complete": True,
            }
            for group, kind in sorted(kinds)
        ],
    )
    insert_rows(con, "logs", [_log(number, len(rows), log) for number, log in enumerate(logs)])
    insert_rows(con, "files", [_file(len(rows) + number, f"{number}.log", "log") for number in range(len(logs))])
    for number, log in enumerate(logs):
        place = Place(log["namespace"], log["pod"], log["container"], log.get("source", "current"))
        hits, counts = search(_scanner(), place, f"{number}.log", "plain", str(log["text"]).encode())
        ids = {"log_id": number, "file_id": len(rows) + number}
        insert_rows(con, "log_hits", [ids | asdict(hit) | {"at": moment(hit.at)} for hit in hits])
        insert_rows(con, "log_hit_counts", [ids | asdict(count) for count in counts])
    first = len(rows) + len(logs)
    insert_rows(con, "files", [_file(first + number, f"{role}.json", "document") for number, (role, _) in enumerate(documents)])
    contents = [{"file_id": first + number, "role": role, "json": value} for number, (role, value) in enumerate(documents)]
    insert_rows(con, "documents", contents)
    if derived:
        facts.derive_all(con)
    return con


@cache
def _scanner() -> Scanner:
    return Scanner(signatures_of(load_packs()))


def one(con: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    """The only row of a query, by column name."""
    found = rows(con, query)
    assert len(found) == 1, found
    return found[0]


def rows(con: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    """The rows of a query, by column name."""
    result = con.execute(query)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _object(number: int, value: Mapping[str, Any]) -> dict[str, Any]:
    metadata: Mapping[str, Any] = value.get("metadata", {})
    group, _, version = str(value["apiVersion"]).rpartition("/")
    return {
        "object_id": number,
        "input": 0,
        "api_group": group,
        "version": version,
        "kind": value["kind"],
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", ""),
        "uid": metadata.get("uid", ""),
        "resource_version": metadata.get("resourceVersion", ""),
        "created_at": moment(metadata.get("creationTimestamp")),
        "deleted_at": moment(metadata.get("deletionTimestamp")),
        "file_id": number,
        "line": 1,
        "byte_offset": 0,
        "byte_length": 1,
        "whole": True,
        "json": orjson.loads(orjson.dumps(value)),
    }


def _file(number: int, path: str, role: str) -> dict[str, Any]:
    return {
        "file_id": number, "input": 0, "path": path, "bytes": 1, "root": "", "format": "plain", "role": role, "status": "read",
    }  # fmt: skip


def _log(number: int, first_file: int, log: Mapping[str, Any]) -> dict[str, Any]:
    lines = str(log["text"]).rstrip("\n").split("\n")
    tail = lines[-50:]
    return {
        "log_id": number,
        "file_id": first_file + number,
        "namespace": log["namespace"],
        "pod": log["pod"],
        "container": log["container"],
        "source": log.get("source", "current"),
        "bytes": len(str(log["text"])),
        "lines": len(lines),
        "first_line": 1,
        "tail": "\n".join(tail),
        "tail_line": len(lines) - len(tail) + 1,
    }
