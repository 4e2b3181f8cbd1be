"""Packs of others: their queries run apart, on a copy, and are stopped."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer.engine import foreign
from analyzer.engine.query import QueryError
from analyzer.store.schema import TABLES


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    path = tmp_path / "copy.duckdb"
    con = duckdb.connect(str(path))
    for table in TABLES:
        con.execute(table.ddl())
    con.execute("INSERT INTO inputs (input, as_of) VALUES (0, TIMESTAMP '2026-11-01 12:00:00')")
    con.close()
    return path


def test_rows_come_back_as_they_are(copy: Path) -> None:
    sql = "SELECT 1 AS object_id, as_of(0) AS since, [ev(1, 'a', 'b')] AS evidence, NULL AS n, true AS t, 1.5::DECIMAL(3,1) AS d"
    (rows,) = foreign.run(copy, [sql])
    assert isinstance(rows, list)
    assert rows[0]["since"] == datetime(2026, 11, 1, 12)  # noqa: DTZ001 - as DuckDB gives it
    assert rows[0]["evidence"] == [{"origin": "object", "id": 1, "line": None, "path": "a", "value": "b", "kind": "Reported"}]
    assert (rows[0]["object_id"], rows[0]["n"], rows[0]["t"], rows[0]["d"]) == (1, None, True, "1.5")


def test_each_query_stands_for_itself(copy: Path) -> None:
    answers = foreign.run(
        copy,
        [
            "SELECT count(*) AS n FROM found",
            "SELECT * FROM read_text('/etc/hostname')",
            "WITH w AS (INSERT INTO inputs VALUES (1, NULL) RETURNING 1) SELECT * FROM w",
            "ATTACH 'x.duckdb'",
            "SELECT 2 AS n",
        ],
        [(7, "pod/Odd")],
    )
    assert answers[0] == [{"n": 1}]
    assert all(isinstance(answer, QueryError) for answer in answers[1:4])
    assert answers[4] == [{"n": 2}]


def test_what_runs_too_long_is_stopped_and_the_rest_still_runs(copy: Path) -> None:
    slow = "SELECT count(*) AS n FROM range(100000000) a, range(100000000) b WHERE a.range + b.range = 3"
    answers = foreign.run(copy, [slow, "SELECT 2 AS n"], seconds=3)
    assert isinstance(answers[0], QueryError)
    assert "longer than 3 s" in str(answers[0])
    assert answers[1] == [{"n": 2}]


def test_a_child_that_dies_costs_one_query(copy: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(foreign, "ANSWER_BYTES", 10_000)
    answers = foreign.run(copy, ["SELECT repeat('x', 100000) AS n", "SELECT 2 AS n"])
    assert "ended" in str(answers[0])
    assert answers[1] == [{"n": 2}]


def test_a_pack_that_is_not_trusted_runs_on_a_copy(
    write: Any, analyse: Any, con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    case = "objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: s}, status: {phase: Running}}]"
    text = "query: SELECT object_id, as_of(input) AS since, [ev(object_id, 'status.phase', 'Running')] AS evidence FROM objects\n"
    pack = write({"acme/Odd": text + "needs: [Pod]"}, trusted=False)
    report = analyse(case, pack)
    assert not report.findings
    assert any("packs of others cannot be run here" in entry.reason for entry in report.not_evaluated)
    own = duckdb.connect()
    try:
        from analyzer.engine import analysis, case_tables
        from analyzer.engine.case_file import read_cases

        case_tables.build(own, read_cases(tmp_path / "case.yaml", "case.yaml")[0], [("", "Pod")])
        report = analysis.analyse(own, [pack], snapshot=foreign.prepared(own, tmp_path / "copy.duckdb"))
    finally:
        own.close()
    assert [(finding.code, str(finding.object), finding.age_seconds) for finding in report.findings] == [
        ("acme/Odd", "Pod s/a", 0)
    ]
    assert report.findings[0].evidence[0].value == "Running"
