"""A case as a loaded database: the tables that loading a bundle would fill, masked as there."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb

from analyzer import facts, redact, times
from analyzer.bundle.formats.base import SOURCES, Place, Source
from analyzer.bundle.logs import LogCounter
from analyzer.bundle.signatures import Scanner, search
from analyzer.engine.case_file import Case
from analyzer.facts.rows import insert_rows
from analyzer.store.renew import renew
from analyzer.store.schema import TABLES

Kind = tuple[str, str]

_CRD: Kind = ("apiextensions.k8s.io", "CustomResourceDefinition")
_ALWAYS: tuple[Kind, ...] = (("", "Node"), ("", "Pod"), ("", "Event"), ("", "Namespace"))
_NAMES = uuid.UUID("6b1f2a52-5f6e-4c7e-9f52-0f6d3f7c9a11")


def connection() -> duckdb.DuckDBPyConnection:
    """A connection to build cases in, one after the other."""
    con = duckdb.connect(config={"threads": 1})
    # A case has a handful of rows: looking for the best plan takes longer than any plan.
    con.execute("PRAGMA disable_optimizer")
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET enable_external_access = false")
    return con


def build(con: duckdb.DuckDBPyConnection, case: Case, known: Iterable[Kind], scanner: Scanner | None = None) -> None:
    """Fills all tables up to the facts.

    Args:
        con: what `connection` gave.
        case: the case.
        known: (API group, kind) that the rules need: collected whole unless the case says that they are missing.
        scanner: the signatures to look for in the logs.
    """
    renew(con, "parts")
    for table in TABLES:
        if table.stage == "result":
            con.execute(f'DROP TABLE IF EXISTS "{table.name}"')
    known = set(known)
    objects = [_object_row(number, value) for number, value in enumerate(_completed(case))]
    files = [_file(0, "case.yaml", "objects")]
    insert_rows(con, "objects", objects)
    insert_rows(
        con,
        "sources",
        [
            {"object_id": row["object_id"], "file_id": 0, "idx": row["object_id"], "line": row["line"], "chosen": True}
            | {"resource_version": row["resource_version"], "differs": False}
            for row in objects
        ],
    )
    insert_rows(con, "lists", _lists(case, objects, known))
    files += _logs(con, case, len(files), scanner or Scanner())
    files += _documents(con, case, len(files))
    files += _errors(con, case, len(files))
    for item in case.files:
        row = _file(len(files), str(item.get("path", "broken.yaml")), str(item.get("role", "objects")))
        files.append(row | {key: item[key] for key in ("status", "line", "error", "lost") if key in item})
    insert_rows(con, "files", files)
    insert_rows(con, "inputs", [_input(case)])
    facts.derive_all(con, needed=known)
    if not case.knows_time:
        con.execute("UPDATE inputs SET collected_at = NULL, as_of = NULL")


def parse_kind(text: str) -> Kind:
    """`Kind` or `Kind.group` as (API group, kind)."""
    kind, _, group = text.partition(".")
    return group, kind


def _input(case: Case) -> dict[str, Any]:
    at = _naive(case.at) if case.knows_time else None
    return {"input": 0, "path": "case", "format": "plain", "bytes": 1, "format_at": at, "complete": True} | (
        {"format_source": "the case"} if at else {}
    )


def _completed(case: Case) -> list[dict[str, Any]]:
    """The objects with uid, resourceVersion, creationTimestamp and the uids of their owners."""
    created = times.rfc3339((times.parse(case.at) or datetime.now(UTC)) - timedelta(days=1))
    values = [copy.deepcopy(value) for value in case.objects]
    uids: dict[tuple[str, str, str], str] = {}
    for number, value in enumerate(values):
        metadata = value["metadata"]
        metadata.setdefault("name", f"object-{number}")
        space = str(metadata.get("namespace", ""))
        key = f"{value['apiVersion']}/{value['kind']}/{space}/{metadata['name']}"
        metadata.setdefault("uid", str(uuid.uuid5(_NAMES, key)))
        metadata.setdefault("resourceVersion", str(1000 + number))
        metadata.setdefault("creationTimestamp", created)
        uids[(value["kind"], space, metadata["name"])] = metadata["uid"]
    for value in values:
        space = str(value["metadata"].get("namespace", ""))
        owners = value["metadata"].get("ownerReferences")
        about = value.get("involvedObject") or value.get("regarding")
        for owner in owners if isinstance(owners, list) else []:
            _set_uid(owner, space, uids)
        if isinstance(about, dict):
            _set_uid(about, str(about.get("namespace", "")), uids)
    return values


def _set_uid(reference: Any, space: str, uids: dict[tuple[str, str, str], str]) -> None:
    if isinstance(reference, dict):
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        uid = uids.get((kind, space, name)) or uids.get((kind, "", name))
        if uid:
            reference.setdefault("uid", uid)


def _object_row(number: int, value: dict[str, Any]) -> dict[str, Any]:
    masked = redact.mask_object(value)
    group, _, version = str(value["apiVersion"]).rpartition("/")
    metadata = value["metadata"]
    return {
        "object_id": number,
        "input": 0,
        "api_group": group,
        "version": version,
        "kind": value["kind"],
        "namespace": str(metadata.get("namespace", "")),
        "name": str(metadata["name"]),
        "uid": str(metadata["uid"]),
        "resource_version": str(metadata["resourceVersion"]),
        "created_at": _naive(metadata["creationTimestamp"]),
        "deleted_at": _naive(metadata.get("deletionTimestamp")),
        "file_id": 0,
        "line": number + 1,
        "byte_offset": 0,
        "byte_length": 0,
        "whole": True,
        "json": masked,
    }


def _lists(case: Case, objects: list[dict[str, Any]], known: set[Kind]) -> list[dict[str, Any]]:
    """One whole list of each kind that was collected.

    CRDs count as collected only where the case has one: a whole list of them would say of every kind that the case
    leaves out that the cluster does not know it.
    """
    there: dict[Kind, int] = {}
    for row in objects:
        kind = (row["api_group"], row["kind"])
        there[kind] = there.get(kind, 0) + 1
    missing = {parse_kind(text) for text in case.missing}
    kinds = (set(there) | (known - {_CRD}) | set(_ALWAYS)) - missing
    return [
        {
            "file_id": 0,
            "api_group": group,
            "kind": kind,
            "namespace": "*",
            "objects": there.get((group, kind), 0),
            "complete": True,
        }
        for group, kind in sorted(kinds)
    ]


def _logs(con: duckdb.DuckDBPyConnection, case: Case, first: int, scanner: Scanner) -> list[dict[str, Any]]:
    """The logs, counted and searched as those of a bundle are."""
    rows, files, hits, counts = [], [], [], []
    for number, log in enumerate(case.logs):
        text = str(log.get("text", ""))
        namespace, pod, container = (str(log.get(key, "")) for key in ("namespace", "pod", "container"))
        place = Place(namespace, pod, container, _source(log))
        file = _file(first + number, str(log.get("path") or f"logs/{pod}/{container}-{place.source}-{number}.log"), "log")
        files.append(file)
        counter = LogCounter()
        counter.feed(text.encode("utf-8", "replace"))
        told = counter.summary()
        ids = {"log_id": number, "file_id": first + number}
        rows.append(
            ids
            | asdict(place)
            | {"bytes": told.bytes, "lines": told.lines, "first_line": 1, "tail": told.tail, "tail_line": told.tail_line}
            | {"first_at": _naive(told.first_at), "last_at": _naive(told.last_at)}
        )
        found, numbers = search(scanner, place, file["path"], file["format"], text.encode("utf-8", "replace"))
        hits += [ids | asdict(hit) | {"at": _naive(hit.at)} for hit in found]
        counts += [{"log_id": number} | asdict(count) for count in numbers]
    insert_rows(con, "logs", rows)
    insert_rows(con, "log_hits", hits)
    insert_rows(con, "log_hit_counts", counts)
    return files


def _source(log: dict[str, Any]) -> Source:
    source = log.get("source", "current")
    return next((known for known in SOURCES if known == source), "other")


def _documents(con: duckdb.DuckDBPyConnection, case: Case, first: int) -> list[dict[str, Any]]:
    rows, files = [], []
    for number, document in enumerate(case.documents):
        role = str(document.get("role", ""))
        files.append(_file(first + number, str(document.get("path", f"documents/{role}-{number}.json")), "document"))
        rows.append({"file_id": first + number, "role": role, "json": redact.mask_document(document.get("json"), role)})
    insert_rows(con, "documents", rows)
    return files


def _errors(con: duckdb.DuckDBPyConnection, case: Case, first: int) -> list[dict[str, Any]]:
    if not case.errors:
        return []
    rows = [
        {
            "file_id": first,
            "line": number + 1,
            "kind": str(error.get("kind", "failed")),
            "subject": str(error.get("subject", "")),
            "message": redact.mask_text(str(error.get("message", ""))),
        }
        for number, error in enumerate(case.errors)
    ]
    insert_rows(con, "collect_errors", rows)
    return [_file(first, "collection-errors.txt", "errors")]


def _file(number: int, path: str, role: str) -> dict[str, Any]:
    return {
        "file_id": number,
        "input": 0,
        "path": path,
        "bytes": 1,
        "root": "",
        "format": "plain",
        "role": role,
        "status": "read",
    }


def _naive(text: Any) -> datetime | None:
    moment = times.parse(text)
    return moment.astimezone(UTC).replace(tzinfo=None) if moment else None
