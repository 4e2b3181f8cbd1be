"""The hardened database: the order of a run, and what a locked connection refuses."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from analyzer.store import database, docs
from analyzer.store.database import QueryError, check_select, one_line


def test_the_order_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "it's out.duckdb"
    con = database.open_memory(tmp_path)
    con.execute("CREATE TABLE objects AS SELECT 1 AS object_id")
    con.execute("CREATE TABLE part_objects AS SELECT 1 AS x")
    database.attach_output(con, path)
    database.lock(con)
    con.execute("INSERT INTO objects VALUES (2)")
    database.save(con)
    con.close()
    with duckdb.connect(str(path), read_only=True) as saved:
        assert saved.execute("SELECT count(*) FROM objects").fetchall() == [(2,)]
        assert saved.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["it's out.duckdb", "spill"]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('/*')",
        "COPY (SELECT 1) TO '{file}.out'",
        "ATTACH '{file}.db' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "SET temp_directory = '/'",
        "RESET lock_configuration",
        "SELECT * FROM read_text('https://example.com/x')",
        "EXPORT DATABASE '{file}.dir'",
    ],
)
def test_a_locked_connection_reaches_nothing(tmp_path: Path, statement: str) -> None:
    file = tmp_path / "private.txt"
    file.write_text("quiet words")
    con = database.open_memory(tmp_path)
    database.lock(con)
    with pytest.raises(duckdb.Error) as error:
        con.execute(statement.format(file=file))
    assert "quiet words" not in str(error.value)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["private.txt", "spill"]


def test_python_objects_are_not_tables(tmp_path: Path) -> None:
    con = database.open_memory(tmp_path)
    database.lock(con)
    private = [{"a": 1}]
    assert private
    with pytest.raises(duckdb.Error):
        con.execute("SELECT * FROM private")


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "select 1;", "WITH a AS (SELECT 1) SELECT * FROM a", "FROM range(3)", "VALUES (1)", "-- x\nSELECT 1"]
)
def test_one_select_is_fine(sql: str) -> None:
    check_select(duckdb.connect(), sql)


@pytest.mark.parametrize(
    "sql",
    [
        "",
        ";",
        "-- nothing",
        "SELECT 1; SELECT 2",
        "COPY (SELECT 1) TO 'x'",
        "ATTACH 'x'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA version",
        "CALL pragma_version()",
        "SET threads = 1",
        "CREATE TABLE x (a INT)",
        "INSERT INTO x VALUES (1)",
        "EXPORT DATABASE 'x'",
        "CHECKPOINT",
        "EXPLAIN SELECT 1",
        "SELEC 1",
        "SELECT 1\0",
    ],
)
def test_everything_else_is_refused_in_one_line(sql: str) -> None:
    with pytest.raises(QueryError) as error:
        check_select(duckdb.connect(), sql)
    assert "\n" not in str(error.value)


def test_explain_is_fine_where_asked_for() -> None:
    check_select(duckdb.connect(), "EXPLAIN SELECT 1", explain=True)
    with pytest.raises(QueryError):
        check_select(duckdb.connect(), "PRAGMA version", explain=True)


def test_errors_quote_no_value() -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE logs AS SELECT 'quiet words' AS tail")
    with pytest.raises(duckdb.Error) as error:
        con.execute("SELECT tail::INT FROM logs")
    assert "quiet words" not in one_line(error.value)
    assert "INT32" in one_line(error.value)


def test_the_page_about_the_tables_is_current() -> None:
    text = docs.page().read_text(encoding="utf-8")
    assert not re.search(r"\bcatalogue\b|\bsection\b", docs.tables_text()), "a reader has no other page to look that up in"
    assert docs.with_tables(text) == text, "run `python -m analyzer.store.docs`"


def test_a_page_without_marks() -> None:
    with pytest.raises(ValueError, match="no marks"):
        docs.with_tables("# nothing")
