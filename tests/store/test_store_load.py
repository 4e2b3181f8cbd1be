"""Loading part files: one object from several places, times, damaged lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest

from analyzer.store import database
from analyzer.store.load import load
from analyzer.store.schema import PARTS, TABLES


@dataclass
class Given:
    """Parts for a test: objects as (file, fields), the rest as rows."""

    folder: Path
    inputs: Sequence[Mapping[str, Any]] = ({"input": 0, "path": "case", "format": "plain", "complete": True},)
    files: list[dict[str, Any]] = field(default_factory=list)
    parts: dict[str, tuple[Path, ...]] = field(default_factory=dict)

    def write(self, table: str, rows: Sequence[Mapping[str, Any]], tail: bytes = b"") -> None:
        """One more part file of that table."""
        path = self.folder / f"{table}-{len(self.parts.get(table, ()))}.ndjson"
        path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows) + tail)
        self.parts[table] = (*self.parts.get(table, ()), path)

    def file(self, number: int, **more: Any) -> None:
        """One more file."""
        self.files.append({"file_id": number, "input": 0, "path": f"{number}.yaml", "bytes": 1, "status": "read"} | more)


def thing(file_id: int, name: str = "web", uid: str = "u1", version: str = "5", **more: Any) -> dict[str, Any]:
    """A row of part_objects."""
    body = {"metadata": {"name": name, "creationTimestamp": "2026-11-01T12:00:00Z"}, "read": [file_id, more.get("idx", 0)]}
    return {
        "file_id": file_id,
        "idx": 0,
        "line": 1,
        "byte_offset": 0,
        "byte_length": 9,
        "api_group": "",
        "version": "v1",
        "kind": "Pod",
        "namespace": "shop",
        "name": name,
        "uid": uid,
        "resource_version": version,
        "whole": True,
        "json": body,
    } | more


@pytest.fixture
def given(tmp_path: Path) -> Given:
    made = Given(tmp_path)
    for number in range(4):
        made.file(number)
    return made


@pytest.fixture
def con(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    opened = database.open_memory(tmp_path)
    yield opened
    opened.close()


def loaded(con: duckdb.DuckDBPyConnection, given: Given, *rows: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Loads these objects: (object_id, name, uid, file_id) of each."""
    given.write("part_objects", rows)
    load(con, given)
    return con.execute("SELECT object_id, name, uid, file_id FROM objects ORDER BY object_id").fetchall()


def test_the_same_uid_is_one_object_and_the_newer_version_wins(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    assert loaded(con, given, thing(0, version="9"), thing(1, version="10"), thing(2, version="9")) == [(0, "web", "u1", 1)]
    sources = con.execute("SELECT file_id, chosen, differs FROM sources ORDER BY file_id").fetchall()
    assert sources == [(0, False, True), (1, True, False), (2, False, True)]
    assert con.execute("SELECT json ->> '$.read[0]' FROM objects").fetchall() == [("1",)]


def test_at_an_equal_version_the_whole_one_wins_then_the_first(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    rows = [thing(0, whole=False), thing(1), thing(2)]
    assert loaded(con, given, *rows) == [(0, "web", "u1", 1)]
    assert con.execute("SELECT whole FROM objects").fetchall() == [(True,)]


def test_without_a_number_to_compare_the_later_file_wins(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    assert loaded(con, given, thing(0, version="a"), thing(1, version="b")) == [(0, "web", "u1", 1)]


def test_a_version_that_is_a_number_beats_none(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    assert loaded(con, given, thing(0, version="7"), thing(1, version="")) == [(0, "web", "u1", 0)]


def test_a_copy_without_uid_joins_its_namesake(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    rows = [thing(0, uid="", version=""), thing(1), thing(2, uid="", version="6")]
    assert loaded(con, given, *rows) == [(0, "web", "", 2)]


def test_a_copy_without_uid_joins_the_newest_of_two(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    rows = [thing(0, uid="old", version="5"), thing(1, uid="new", version="50"), thing(2, uid="", version="")]
    assert loaded(con, given, *rows) == [(0, "web", "old", 0), (1, "web", "new", 1)]
    assert con.execute("SELECT object_id FROM sources WHERE file_id = 2").fetchall() == [(1,)]


def test_without_any_uid_the_name_counts(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    rows = [thing(0, uid=""), thing(1, uid="", version="6"), thing(2, uid="", namespace="other"), thing(3, uid="", kind="Job")]
    assert [row[3] for row in loaded(con, given, *rows)] == [1, 2, 3]


def test_one_uid_under_two_kinds_is_two_objects(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    rows = [thing(0, kind="Namespace"), thing(1, kind="Project", api_group="project.openshift.io")]
    assert len(loaded(con, given, *rows)) == 2


def test_an_event_under_both_groups_is_one(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    rows = [thing(0, kind="Event"), thing(1, kind="Event", api_group="events.k8s.io")]
    assert len(loaded(con, given, *rows)) == 1


def test_objects_without_uid_and_name_are_each_their_own(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    assert len(loaded(con, given, thing(0, name="", uid=""), thing(0, name="", uid="", idx=1))) == 2


def test_inputs_are_loaded_apart(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    given.inputs = [{"input": 0, "path": "a"}, {"input": 1, "path": "b"}]
    given.files[1]["input"] = 1
    rows = [thing(0, uid=""), thing(1, uid=""), thing(0, uid="u2", idx=1), thing(1, uid="u2", idx=1)]
    rows[2]["name"] = rows[3]["name"] = "other"
    assert len(loaded(con, given, *rows)) == 4


def test_ids_are_dense_and_in_the_order_of_the_files(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    rows = [thing(2, name="c", uid="c"), thing(0, name="b", uid="b", idx=1), thing(0, name="a", uid="a")]
    assert [(row[0], row[1]) for row in loaded(con, given, *rows)] == [(0, "a"), (1, "b"), (2, "c")]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-01T12:00:00Z", datetime(2026, 11, 1, 12)),  # noqa: DTZ001
        ("2026-11-01T12:00:00.25+02:00", datetime(2026, 11, 1, 10, 0, 0, 250000)),  # noqa: DTZ001
        ("2026-11-01T12:00:00", None),
        ("2026-13-01T12:00:00Z", None),
        ("infinity", None),
        ("soon", None),
        (5, None),
        (None, None),
    ],
)
def test_times(con: duckdb.DuckDBPyConnection, given: Given, text: Any, moment: datetime | None) -> None:
    loaded(con, given, thing(0, json={"metadata": {"creationTimestamp": text, "deletionTimestamp": text}}))
    assert con.execute("SELECT created_at, deleted_at FROM objects").fetchall() == [(moment, moment)]


def test_a_line_that_was_not_finished_is_dropped(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    given.write("part_objects", [thing(0)], tail=orjson.dumps(thing(1, uid="u2"))[:-20])
    load(con, given)
    assert con.execute("SELECT uid FROM objects").fetchall() == [("u1",)]


def test_the_other_tables(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    given.inputs = [{"input": 0, "path": "case", "format_at": "2026-11-01T12:00:00Z", "name_at": None, "unknown": 1}]
    log = {"namespace": "shop", "pod": "web", "container": "web", "source": "current", "bytes": 3, "lines": 1, "first_line": 1}
    log |= {"tail": "a\nb", "tail_line": 1, "first_at": "2026-11-01T12:00:00.5Z", "last_at": "nonsense"}
    given.write("part_logs", [{"file_id": 1, "part": 1} | log, {"file_id": 1, "part": 0} | log, {"file_id": 0, "part": 0} | log])
    row = {"file_id": 2, "api_group": "", "kind": "Pod", "namespace": "*", "objects": 0, "complete": True}
    given.write("part_lists", [row])
    given.write("part_documents", [{"file_id": 2, "role": "alerts", "json": {"data": [1]}}])
    given.write("part_errors", [{"file_id": 3, "line": 4, "kind": "forbidden", "subject": "pods", "message": "no"}])
    given.write("part_files", [{"file_id": 2, "status": "partial", "line": 7, "error": "cut", "lost": 3}])
    load(con, given)
    assert con.execute("SELECT log_id, file_id, first_at IS NOT NULL, last_at FROM logs ORDER BY log_id").fetchall() == [
        (0, 0, True, None),
        (1, 1, True, None),
        (2, 1, True, None),
    ]
    assert con.execute("SELECT * FROM lists").fetchall() == [(2, "", "Pod", "*", 0, True)]
    assert con.execute("SELECT role, json ->> '$.data[0]' FROM documents").fetchall() == [("alerts", "1")]
    assert con.execute("SELECT * FROM collect_errors").fetchall() == [(3, 4, "forbidden", "pods", "no")]
    assert con.execute("SELECT status, line, error, lost FROM files WHERE file_id IN (1, 2) ORDER BY file_id").fetchall() == [
        ("read", None, None, None),
        ("partial", 7, "cut", 3),
    ]
    assert con.execute("SELECT format_at, path FROM inputs").fetchall() == [(datetime(2026, 11, 1, 12), "case")]  # noqa: DTZ001


def test_nothing_at_all(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    load(con, given)
    names = {row[0] for row in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert names == {table.name for table in TABLES if table.stage == "parts"}
    assert not names & {table.name for table in PARTS}


def test_a_long_line(con: duckdb.DuckDBPyConnection, given: Given) -> None:
    loaded(con, given, thing(0, json={"metadata": {}, "text": "x" * 40_000_000}))
    assert con.execute("SELECT length(json ->> '$.text') FROM objects").fetchall() == [(40_000_000,)]
