"""Many incidents of one kind in every report: told once, some named, the rest counted and within reach."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

from rich.console import Console

from analyzer.render.html import report_html
from analyzer.render.json import report_json
from analyzer.render.markdown import MAX_CHARS, report_markdown
from analyzer.render.page import ALIKE, ALIKE_ROWS, build
from analyzer.render.terminal import print_summary

from .hostile import STRINGS
from .sample import alike, with_text

REPORT = alike(6000, 3000)
LISTS_ALL = 'triage sql . "SELECT rank, title FROM incidents WHERE entry = 1 ORDER BY rank"'


def test_a_page_names_some_and_says_how_to_get_at_all() -> None:
    text = report_html(REPORT)
    assert len(text) < 2_000_000
    page = build(REPORT)
    first = page.cards[0]
    assert (page.told, len(first.view.alike), len(first.alike)) == (1002, 1000, ALIKE)
    assert first.alike_command == LISTS_ALL
    assert first.view.broken == ("40,000 Pods",)
    assert first.view.message.startswith(
        "1,000 incidents of one kind in 1,000 namespaces: Deployment tenant-0/service, tenant-1/service, tenant-2/service, "
        "tenant-3/service, tenant-4/service and 995 more. One of them: "
    )
    assert "1,000 incidents of this kind, the first 100 of them" in text
    assert "900 more. This lists them all" in text


def test_findings_of_one_kind_do_not_hide_the_others() -> None:
    rows = build(REPORT).rows
    assert sum(row.incident == 1 for row in rows) == 2 * ALIKE_ROWS
    assert sum(row.incident == 2 for row in rows) == 2 * ALIKE_ROWS
    assert any(row.incident > 2 for row in rows)


def test_a_ticket_and_a_terminal_stay_about_a_page() -> None:
    text = report_markdown(REPORT)
    assert len(text) <= MAX_CHARS
    assert f"**All 1,000 incidents:** `{LISTS_ALL}`" in text
    assert "in 3,000 incidents, told as 1,002; " in text
    out = StringIO()
    print_summary(REPORT, Path("out"), Console(file=out, width=100, color_system=None))
    assert out.getvalue().count("\n") < 60
    assert "1,000 incidents" in out.getvalue()
    assert "992 more in the report" in out.getvalue()


def test_report_json_keeps_every_incident_and_finding() -> None:
    value = json.loads(report_json(REPORT))
    assert (len(value["incidents"]), len(value["findings"])) == (3000, 6000)


def test_hostile_names_stay_text() -> None:
    report = with_text(alike(60, 30), lambda was: f"{was} {' '.join(STRINGS)}")
    assert "<script>alert" not in report_html(report)
    assert build(report).cards[0].view.alike
