"""Modules of facts whose inputs are empty are left out: that changes no table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer import content, facts
from analyzer.engine import case_tables
from analyzer.engine.case_file import read_cases
from analyzer.facts import certificates, log_ends, log_places, node_restarts
from analyzer.facts.gpu import edges
from analyzer.store.schema import TABLES

RULES = ("pod/OOMKilled", "node/NotReady", "gpu/CapacityLost", "cert/Expiring", "webhook/Failing")


def rows(con: duckdb.DuckDBPyConnection) -> dict[str, list[Any]]:
    """All rows of all tables up to the facts."""
    names = [table.name for table in TABLES if table.stage != "result"]
    return {name: sorted(con.execute(f'FROM "{name}"').fetchall(), key=repr) for name in names}


@pytest.mark.parametrize("code", RULES)
def test_every_table_is_the_same_where_all_modules_run(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    con = case_tables.connection()
    cases = read_cases(Path(content.folder("rules")) / f"{code}.cases.yaml", code)
    short = []
    for case in cases:
        case_tables.build(con, case, ())
        short.append(rows(con))
    monkeypatch.setattr(facts, "_any_rows", lambda *_: True)
    monkeypatch.setattr(edges, "derive", lambda con: [con.execute(query) for query in edges.QUERIES])
    monkeypatch.setattr(certificates, "_ANY", "SELECT 1")
    for case, expected in zip(cases, short, strict=True):
        case_tables.build(con, case, ())
        assert rows(con) == expected


def test_what_is_left_out_finds_nothing_in_empty_tables() -> None:
    con = case_tables.connection()
    for table in TABLES:
        if table.stage != "result":
            con.execute(table.ddl())
    log_places.settle(con)
    for module in (log_ends, node_restarts):
        module.derive(con)
    for query in edges.QUERIES:
        con.execute(query)
    assert {name: found for name, found in rows(con).items() if found} == {}
