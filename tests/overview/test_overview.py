"""All subjects together: one that fails costs its own sections, and the report says so."""

from __future__ import annotations

import types
from dataclasses import replace

import duckdb
import pytest

import analyzer.overview
from analyzer.engine.sections import Row, Section, Table, words
from analyzer.overview import overview
from analyzer.render.html import report_html
from tests.render.cluster import crowded

GOOD = Section("boats", "Boats", "1 boat", (Table("Boats", ("Boat",), (Row((words("Teal"),)),)),))


def test_a_subject_that_fails_costs_its_own_sections_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(con: duckdb.DuckDBPyConnection, _marks: object) -> tuple[Section, ...]:
        con.execute("SELECT <b>no</b>")
        return ()

    modules = {
        "analyzer.overview.docks": types.SimpleNamespace(sections=broken),
        "analyzer.overview.boats": types.SimpleNamespace(sections=lambda _con, _marks: (GOOD,)),
    }
    monkeypatch.setattr(analyzer.overview, "_SUBJECTS", ("docks", "boats"))
    monkeypatch.setattr("importlib.import_module", modules.__getitem__)
    failed, good = overview(duckdb.connect(), ())
    assert good == GOOD
    assert failed.title == "Tables of subject docks"
    assert failed.notes[0].startswith("These tables could not be made, which is a fault of this tool: ParserException")
    page = report_html(replace(crowded(), overview=(failed, good)))
    assert "These tables could not be made" in page
    assert "<b>no</b>" not in page
    assert "Teal" in page
