"""A database as loading leaves it, from plain dictionaries: files, lists and objects are told apart, unlike in a rule's case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import duckdb
import orjson
import pytest

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import moment
from analyzer.store.schema import TABLES

Row = Mapping[str, Any]
Make = Callable[..., duckdb.DuckDBPyConnection]


@pytest.fixture
def make() -> Iterable[Make]:
    """Makes a database: `objects` lie in the file that `_file` names (0 where it is missing), in the input of that file."""
    opened: list[duckdb.DuckDBPyConnection] = []

    def build(
        objects: Iterable[Row] = (),
        files: Iterable[Row] = ({},),
        lists: Iterable[Row] = (),
        inputs: Iterable[Row] = ({},),
        logs: Iterable[Row] = (),
        documents: Iterable[Row] = (),
        errors: Iterable[Row] = (),
    ) -> duckdb.DuckDBPyConnection:
        con = duckdb.connect(config={"threads": 1})
        opened.append(con)
        con.execute("SET TimeZone='UTC'")
        for table in TABLES:
            con.execute(table.ddl())
        given = [
            {"input": 0, "path": f"f{n}.yaml", "root": "", "format": "plain", "role": "objects", "status": "read"} | dict(row)
            for n, row in enumerate(files)
        ]
        insert_rows(con, "files", [{"file_id": n} | row for n, row in enumerate(given)])
        insert_rows(
            con,
            "inputs",
            [
                {"input": n, "path": f"bundle-{n}", "format": "plain", "complete": True} | dict(row)
                for n, row in enumerate(inputs)
            ],
        )
        rows = [_object(n, dict(value), given) for n, value in enumerate(objects)]
        insert_rows(con, "objects", rows)
        insert_rows(con, "sources", [{"object_id": row["object_id"], "file_id": row["file_id"], "idx": 0} for row in rows])
        insert_rows(
            con, "lists", [{"file_id": 0, "api_group": "", "namespace": "*", "complete": True} | dict(row) for row in lists]
        )
        insert_rows(con, "logs", [{"log_id": n, "file_id": 0, "lines": 1} | dict(row) for n, row in enumerate(logs)])
        insert_rows(con, "documents", [{"file_id": 0} | dict(row) for row in documents])
        insert_rows(con, "collect_errors", [{"file_id": 0, "line": 1} | dict(row) for row in errors])
        return con

    yield build
    for con in opened:
        con.close()


def _object(number: int, value: dict[str, Any], files: list[dict[str, Any]]) -> dict[str, Any]:
    file_id = int(value.pop("_file", 0))
    metadata = value.setdefault("metadata", {})
    group, _, version = str(value.get("apiVersion", "v1")).rpartition("/")
    return {
        "object_id": number,
        "input": files[file_id]["input"],
        "api_group": group,
        "version": version,
        "kind": value["kind"],
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", f"object-{number}"),
        "uid": metadata.get("uid", ""),
        "deleted_at": moment(metadata.get("deletionTimestamp")),
        "file_id": file_id,
        "json": orjson.loads(orjson.dumps(value)),
    }
