"""The prompt of `triage sql`, Parquet, and what reaches a terminal."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from analyzer.cli import main, sql_output, sql_shell
from analyzer.cli.sql_shell import Shell, is_whole
from analyzer.cli.sql_words import SqlCompleter
from analyzer.store.database import QueryError
from analyzer.store.query import Runner
from analyzer.store.statement import end_of, without_end

HOSTILE = "\x1b]0;owned\x07\u202e\x9b31m\r"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small database of ours."""
    path = tmp_path_factory.mktemp("case.triage") / "bundle.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE meta (key VARCHAR, value VARCHAR)")
        con.execute("INSERT INTO meta VALUES ('schema', 'triage.db/v1')")
        con.execute("CREATE TABLE pods (object_id BIGINT, name VARCHAR, created_at TIMESTAMP)")
        con.execute("INSERT INTO pods SELECT range, 'web-' || range, '2026-11-01 12:00:00' FROM range(600)")
        con.execute("INSERT INTO pods VALUES (1000, ?, NULL)", [HOSTILE])
    return path


@pytest.fixture
def shell(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "state"))
    with Runner(database) as runner:
        yield Shell(runner, "case")


def typed(shell: Shell, keys: str) -> None:
    """Runs the prompt with these keys."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(keys)
        shell.run()


# --- where a statement ends -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("SELECT 1", None),
        ("SELECT 1;", 8),
        ("SELECT ';'", None),
        ("SELECT 'it''s;';", 15),
        ('SELECT ";" ;', 11),
        ("SELECT 1 -- ;\n;", 14),
        ("SELECT 1 -- ;", None),
        ("SELECT /* ; /* ; */ ; */ 1;", 26),
        ("SELECT $$;$$;", 12),
        ("SELECT $a$;$$;$a$;", 17),
        ("SELECT E'\\';';", 13),
        ("SELECT 'open;", None),
        ("SELECT a - b / c;", 16),
    ],
)
def test_where_a_statement_ends(text: str, end: int | None) -> None:
    assert end_of(text) == end


@given(st.text(alphabet="aeE ;'\"-/*$\n\\1", max_size=40))
@example("SELECT 1;")
def test_what_is_cut_off_is_no_statement_less(text: str) -> None:
    """Where DuckDB takes a text for several statements, the first one ends where we say."""
    end = end_of(text)
    assert without_end(text) == (text if end is None else text[:end])
    assert end is None or text[end] == ";"
    assert end_of(without_end(text)) is None


@given(st.sampled_from(["'", '"']), st.text(max_size=20), st.text(alphabet="abc \n,()", max_size=20))
def test_a_semicolon_in_quotes_ends_nothing(mark: str, inner: str, outside: str) -> None:
    quoted = mark + inner.replace(mark, mark * 2) + mark
    text = f"SELECT {outside} {quoted}"
    assert end_of(text) is None
    assert end_of(text + ";") == len(text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", True),
        (" \n", True),
        (".help", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; SELECT", False),
        ("';", False),
    ],
)
def test_what_can_be_run(text: str, whole: bool) -> None:
    assert is_whole(text) is whole


# --- the prompt -------------------------------------------------------------------------------------------------------


def test_a_query_of_several_lines(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    typed(shell, "SELECT count(*) AS n\rFROM pods;\r\x04")
    assert capsys.readouterr().out.split()[-3:] == ["n", "───", "601"]


def test_a_mistake_ends_nothing(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    typed(shell, "SELECT nothing FROM pods;\rDROP TABLE pods;\r.odd\r.schema odd\r.format xml\rSELECT 5 AS n;\r.quit\r")
    said = capsys.readouterr()
    assert said.out.split()[-1] == "5"
    assert len([line for line in said.err.splitlines() if line.startswith("error: ")]) == 2
    assert "no command is called .odd" in said.err
    assert "no table is called 'odd'" in said.err
    assert "one of table, json, csv" in said.err


def test_commands(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    typed(shell, ".help\r.tables\r.schema PODS\r.format csv\rSELECT 1 AS a; SELECT 2 AS b;\r\x04")
    said = capsys.readouterr().out
    assert ".schema TABLE" in said
    assert "pods        601  One row a Pod that has a status." in said
    assert "object_id" in said
    assert said.endswith("a\n1\nb\n2\n")


def test_after_a_query_that_fails_the_rest_of_the_line_is_not_run(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.take("SELECT nothing; SELECT 'the second' AS n;")
    assert "the second" not in capsys.readouterr().out


def test_many_rows_are_cut_and_lines_end_at_the_edge(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    shell.take("SELECT object_id, name, repeat('x', 100) AS long FROM pods;")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + sql_shell.MAX_ROWS
    assert {len(line) for line in lines[1:]} == {30}
    assert all(line.endswith("…") for line in lines[1:])


def test_ctrl_c_ends_a_query_and_not_the_prompt(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Runner, "run", interrupted)
        assert shell.take("SELECT 1;")
    assert capsys.readouterr().err == "cancelled\n"
    typed(shell, "SELECT half\x03SELECT 8 AS n;\r\x04")
    assert capsys.readouterr().out.split()[-1] == "8"


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_the_history_is_the_users_alone(shell: Shell, tmp_path: Path) -> None:
    os.umask(os.umask(0o022))
    typed(shell, "SELECT 1 AS remembered;\r\x04")
    path = tmp_path / "state" / "bundle-triage" / "sql-history"
    assert "remembered" in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    assert isinstance(sql_shell._history(), FileHistory)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_history_that_grew_loses_its_oldest(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_shell, "MAX_HISTORY_BYTES", 2000)
    history = sql_shell._history()
    for number in range(200):
        history.store_string(f"SELECT {number}")
    kept = list(sql_shell._history().load_history_strings())
    assert kept[0] == "SELECT 199"
    assert 5 < len(kept) < 60
    assert all(entry.startswith("SELECT ") for entry in kept)


def test_without_a_place_for_it_the_history_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "state"))
    assert isinstance(sql_shell._history(), InMemoryHistory)


@pytest.mark.parametrize(
    ("text", "found", "not_found"),
    [
        ("sel", {"SELECT"}, {"pods"}),
        ("SELECT * FROM po", {"pods"}, {"name"}),
        ("SELECT p. FROM pods AS p", set(), set()),
        ("SELECT * FROM pods AS p WHERE p.na", {"name"}, {"namespace_"}),
        ("SELECT * FROM pods p WHERE p.na", {"name"}, set()),
        ("SELECT * FROM pods WHERE pods.NA", {"name"}, set()),
        ("SELECT * FROM pods WHERE odd.na", set(), {"name"}),
        (".sch", {".schema"}, {"SELECT"}),
        (".schema po", {"pods"}, set()),
        (".format j", {"json"}, set()),
    ],
)
def test_completion(text: str, found: set[str], not_found: set[str]) -> None:
    words = {one.text for one in SqlCompleter(["pods", "meta"]).get_completions(Document(text), CompleteEvent())}
    assert found <= words
    assert not words & not_found


@given(st.text(max_size=60))
def test_completion_takes_any_text(text: str) -> None:
    list(SqlCompleter(["pods"]).get_completions(Document(text), CompleteEvent()))


# --- what reaches a terminal, and files -------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("output_format", ["table", "json", "csv"])
def test_no_control_character_reaches_a_terminal(database: Path, output_format: str) -> None:
    terminal, pipe = Terminal(), io.StringIO()
    with Runner(database) as runner:
        for stream in (terminal, pipe):
            sql_output.print_result(runner.run("SELECT name FROM pods WHERE object_id = 1000"), output_format, stream)
    assert all(char.isprintable() or char == "\n" for char in terminal.getvalue())
    assert output_format != "csv" or HOSTILE in pipe.getvalue()


def run(*words: object, monkeypatch: pytest.MonkeyPatch) -> int:
    """The program in this process: its exit code."""
    monkeypatch.setattr("sys.argv", ["triage", "sql", *map(str, words)])
    with pytest.raises(SystemExit) as ending:
        main()
    return int(ending.value.code or 0)


def test_parquet(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "it's pods.parquet"
    query = "SELECT name, created_at, [object_id] AS ids, name FROM pods ORDER BY object_id LIMIT 2; -- a comment"
    assert run(database, query, "--format", "parquet", "-o", out, monkeypatch=monkeypatch) == 0
    with duckdb.connect() as con:
        quoted = str(out).replace("'", "''")
        found = con.execute(f"FROM '{quoted}'").fetchall()
        types = [row[:2] for row in con.execute(f"DESCRIBE FROM '{quoted}'").fetchall()]
    assert [(row[0], row[2]) for row in found] == [("web-0", [0]), ("web-1", [1])]
    assert types == [("name", "VARCHAR"), ("created_at", "TIMESTAMP"), ("ids", "BIGINT[]"), ("name_1", "VARCHAR")]
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1) TO '/tmp/x' (FORMAT csv); SELECT (1",
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY pods TO 'pods.csv'",
        "EXPLAIN SELECT 1",
        "SELECT nothing FROM pods",
        "SELECT * FROM glob('/*')",
    ],
)
def test_what_is_no_select_gives_no_parquet(database: Path, query: str) -> None:
    with Runner(database) as runner, pytest.raises(QueryError) as told:
        runner.parquet(query)
    assert "\n" not in str(told.value)


def test_the_parquet_file_is_all_that_can_be_reached(database: Path) -> None:
    """The result's own path is open to the child, and what a SELECT could do with it is nothing."""
    with Runner(database) as runner:
        made = runner.parquet("SELECT 1 AS a")
        with pytest.raises(QueryError):
            runner.run(f"SELECT * FROM read_parquet('{made}')")
        beside = made.with_name("other")
        beside.write_text("secret", encoding="utf-8")
        with pytest.raises(QueryError, match="Permission"):
            runner.parquet(f"SELECT * FROM read_text('{beside}')")


@pytest.mark.parametrize(
    "words",
    [
        ("SELECT 1", "--format", "parquet"),
        ("--format", "parquet", "-o", "x.parquet"),
        ("SELECT 1", "--timeout", "0"),
        ("SELECT 1", "--timeout", "4000"),
    ],
)
def test_wrong_usage(
    database: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(database, *words, monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_time_limit_can_be_chosen(
    database: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    endless = "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r"
    assert run(database, endless, "--timeout", "2", monkeypatch=monkeypatch) == 1
    assert capsys.readouterr().err == "error: the query took longer than 2 s\n"


def test_a_prompt_only_where_there_is_a_terminal(
    database: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Shell] = []

    def prompt(self: Shell) -> None:
        asked.append(self)

    monkeypatch.setattr(Shell, "run", prompt)
    assert run(database, monkeypatch=monkeypatch) == 0
    assert asked == []
    assert "pods (601 rows)" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(database, monkeypatch=monkeypatch) == 0
    assert len(asked) == 1
