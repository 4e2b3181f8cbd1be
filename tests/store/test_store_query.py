"""`triage sql`: what it answers, what it refuses, how it ends."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from analyzer.bundle.errors import UnreadableError
from analyzer.cli import main
from analyzer.store.database import QueryError
from analyzer.store.query import Runner
from tests.program import said


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report folder with a database of ours."""
    folder = tmp_path_factory.mktemp("case.triage")
    with duckdb.connect(str(folder / "bundle.duckdb")) as con:
        con.execute("CREATE TABLE meta (key VARCHAR, value VARCHAR)")
        con.execute("INSERT INTO meta VALUES ('schema', 'triage.db/v1')")
        con.execute("CREATE TABLE objects (object_id BIGINT, name VARCHAR, created_at TIMESTAMP, json JSON)")
        con.execute(
            "INSERT INTO objects VALUES (0, 'web', '2026-11-01 12:00:00', '{\"a\": [1]}'), (1, chr(27) || '[31m', NULL, NULL)"
        )
    return folder


@pytest.fixture(scope="module")
def database(report: Path) -> Path:
    return report / "bundle.duckdb"


def triage(*args: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The program itself."""
    return said(*args, here=folder)


def test_rows(database: Path) -> None:
    with Runner(database) as runner:
        result = runner.run("SELECT object_id, name, created_at, [1, 2] AS l, NULL AS n FROM objects ORDER BY 1 LIMIT 1")
        assert [name for name, _ in result.columns] == ["object_id", "name", "created_at", "l", "n"]
        assert list(result.rows()) == [[0, "web", "2026-11-01T12:00:00Z", [1, 2], None]]


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("SELECT * FROM object", 'Did you mean "objects"?'),
        ("SELECT nam FROM objects", "Candidate bindings: name"),
        ("SELECT object.name FROM objects", "Candidate tables: objects."),
        ("SELECT weeb FROM (SELECT name, 1 AS web FROM objects)", "Candidate bindings: name."),
    ],
)
def test_a_wrong_name_is_told_with_what_may_be_meant(report: Path, query: str, hint: str) -> None:
    done = triage("sql", report, query)
    assert done.returncode == 1
    assert hint in done.stderr
    assert '"web"' not in done.stderr
    assert ": web" not in done.stderr
    assert done.stderr.endswith(" `triage sql BUNDLE` lists tables and columns\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["report.json", "report.html", "report.md"])
def test_a_report_stands_for_its_folder(report: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "case.triage"
    shutil.copytree(report, folder)
    (folder / name).write_text("{}")
    done = triage("sql", folder / name, "SELECT name FROM objects WHERE object_id = 0", "--format", "csv")
    assert (done.returncode, done.stdout) == (0, "name\nweb\n")
    assert triage("sql", folder / name, "SELECT 1", "-o", folder / "bundle.duckdb").returncode == 2


def test_strange_values(database: Path) -> None:
    huge = "170141183460469231731687303715884105727"
    query = f"SELECT {huge}::HUGEINT, 'nan'::DOUBLE, 1.50::DECIMAL(4,2), '\\xAA'::BLOB, DATE '2026-11-01'"
    with Runner(database) as runner:
        assert list(runner.run(query).rows()) == [[huge, None, "1.50", "aa", "2026-11-01"]]


@pytest.mark.parametrize(
    "query",
    [
        "COPY objects TO 'out.csv'",
        "ATTACH 'other.duckdb' AS other",
        "INSTALL httpfs",
        "PRAGMA database_list",
        "SELECT 1; SELECT 2",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "EXPLAIN ANALYZE INSERT INTO objects SELECT * FROM objects",
        "WITH x AS (INSERT INTO meta VALUES ('a', 'b') RETURNING key) SELECT * FROM x",
        "SELECT * FROM duckdb_secrets()",
        "SELECT nothing FROM objects",
        "SELECT name::INT FROM objects",
    ],
)
def test_hostile_or_wrong_sql_fails_in_one_line(database: Path, query: str) -> None:
    before = database.read_bytes()
    with Runner(database) as runner, pytest.raises(QueryError) as error:
        runner.run(query)
    assert "\n" not in str(error.value)
    assert str(error.value)
    assert database.read_bytes() == before


def test_endless_recursion_ends_at_the_time_limit(database: Path) -> None:
    with Runner(database, seconds=2) as runner, pytest.raises(QueryError, match="longer than 2 s"):
        runner.run("WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r")


@pytest.mark.skipif(sys.platform != "linux", reason="needs an address-space limit")
def test_memory_is_bounded(database: Path) -> None:
    query = "SELECT count(DISTINCT x) FROM (SELECT repeat(chr(65 + range::INT), 2000000000) AS x FROM range(6))"
    with Runner(database, seconds=50) as runner, pytest.raises(QueryError, match="memory"):
        runner.run(query)


def test_a_database_of_someone_else(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE meta (key VARCHAR, value VARCHAR)")
    with Runner(path) as runner, pytest.raises(UnreadableError, match="not a database of triage"):
        runner.run("SELECT 1")
    path.write_bytes(b"not a database at all")
    with Runner(path) as runner, pytest.raises(UnreadableError):
        runner.run("SELECT 1")


def test_nothing_is_left_behind(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Runner(database) as runner:
        runner.run("SELECT 1")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_imported_from_the_working_directory(database: Path, tmp_path: Path) -> None:
    (tmp_path / "duckdb.py").write_text("raise SystemExit('taken')")
    (tmp_path / "orjson.py").write_text("raise SystemExit('taken')")
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from analyzer.cli import main; main()", "sql", str(database), "SELECT 7 AS x"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent)},
    )
    assert (done.returncode, done.stdout.split()) == (0, ["x", "─", "7"])


def test_a_table_shows_control_characters(report: Path) -> None:
    done = triage("sql", report, "SELECT name, json FROM objects ORDER BY object_id")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "␛[31m" in done.stdout
    assert "NULL" in done.stdout


def test_json_and_csv(report: Path, tmp_path: Path) -> None:
    query = "SELECT object_id, json, name, name FROM objects ORDER BY object_id"
    done = triage("sql", report, query, "--format", "json")
    assert json.loads(done.stdout)[0] == {"object_id": 0, "json": {"a": [1]}, "name": "web", "name_2": "web"}
    out = tmp_path / "out.csv"
    done = triage("sql", report, query, "--format", "csv", "-o", out)
    assert (done.returncode, done.stdout) == (0, "")
    with out.open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows == [["object_id", "json", "name", "name_2"], ["0", '{"a": [1]}', "web", "web"], ["1", "", "\x1b[31m", "\x1b[31m"]]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]


def test_without_rows_json_is_an_empty_array(report: Path) -> None:
    done = triage("sql", report, "SELECT * FROM objects WHERE false", "--format", "json")
    assert json.loads(done.stdout) == []


def test_without_a_query_the_tables_are_listed(report: Path) -> None:
    done = triage("sql", report)
    assert done.returncode == 0
    assert "objects (2 rows): Every Kubernetes object once" in done.stdout
    tables = json.loads(triage("sql", report, "--format", "json").stdout)
    assert [(table["table"], table["rows"]) for table in tables] == [("objects", 2), ("meta", 1)]


def test_exit_codes(report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = tmp_path / "foreign.duckdb"
    foreign.write_bytes(b"x" * 5000)
    for code, args in (
        (1, (report, "SELECT nothing FROM objects")),
        (1, (report, "DROP TABLE objects")),
        (2, (report, "")),
        (2, (report, " ; ")),
        (2, (report, "SELECT 1", "--format", "xml")),
        (2, (report, "SELECT 1", "--unknown")),
        (2, (report, "SELECT 1", "-o", tmp_path)),
        (2, (report, "SELECT 1", "-o", report / "bundle.duckdb")),
        (2, (report, "SELECT 1", "-o", tmp_path / "none" / "x")),
        (2, (tmp_path / "none", "SELECT 1")),
        (2, ()),
        (3, (foreign, "SELECT 1")),
        (3, (foreign,)),
    ):
        monkeypatch.setattr("sys.argv", ["triage", "sql", *map(str, args)])
        with pytest.raises(SystemExit) as ending:
            main()
        said = capsys.readouterr()
        assert (ending.value.code, said.out) == (code, ""), args
        assert said.err.startswith("error: "), args
        assert said.err.count("\n") == 1, args


def test_a_reader_that_goes_away_is_no_error(database: Path) -> None:
    query = "SELECT range FROM range(200000)"
    command = f"{sys.executable} -m analyzer sql {database} '{query}' --format csv | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "range\n", "")


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
def test_the_output_keeps_what_it_is(report: Path, tmp_path: Path) -> None:
    """A link stays a link, and nothing takes the place of a pipe or a device."""
    real, link, pipe = tmp_path / "real.csv", tmp_path / "link.csv", tmp_path / "pipe"
    real.write_text("old", encoding="utf-8")
    link.symlink_to(real)
    assert triage("sql", report, "SELECT 1 AS a", "--format", "csv", "-o", link).returncode == 0
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "a\n1\n"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert triage("sql", report, "SELECT 1 AS a", "--format", "csv", "-o", pipe).returncode == 0
        assert os.read(reader, 100) == b"a\n1\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert {path.name for path in tmp_path.iterdir()} == {"real.csv", "link.csv", "pipe"}
