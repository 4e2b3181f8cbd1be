"""The cluster's tables in report.html: what stands where, what is left out and said, and that findings lead on."""

from __future__ import annotations

import re
import shlex
import time
from dataclasses import replace

import pytest
from hypothesis import given

from analyzer.engine.model import Report
from analyzer.engine.sections import FOLDED, Bar, Cell, Devices, Row, Section, Table, machine, number, unknown, words
from analyzer.render.html import report_html
from analyzer.render.overview import COLUMNS, NOTES, SECTIONS, TABLES, overview, sql_command

from .cluster import CLUSTER, GPUS, OVERVIEW, crowded, largest
from .hostile import STRINGS, either
from .sample import NODE_DOWN, SAMPLE, big
from .test_html import Page, held

HTML = report_html(CLUSTER)
CLUSTER_PART = HTML[HTML.index('id="cluster"') : HTML.index('id="timeline"')]


def of(*rows: Row, columns: tuple[str, ...] = ("Name", "Says"), folded: tuple[Row, ...] = (), more: str = "") -> Report:
    section = Section("one", "One", "small", (Table("Rows", columns, rows, folded, more),), ("A note.",), "SELECT 1")
    return replace(SAMPLE, overview=(section,))


def cluster_of(report: Report) -> str:
    text = report_html(report)
    held(Page(text))
    return text[text.index('id="cluster"') : text.index('id="timeline"')]


def test_it_stands_after_the_causes_before_the_timeline_and_in_the_rail() -> None:
    order = [HTML.index(f'<section id="{name}"') for name in ("causes", "cluster", "timeline", "findings")]
    assert order == sorted(order)
    rail = HTML[HTML.index('class="toc"') : HTML.index("</nav>")]
    for section in OVERVIEW:
        assert f'href="#cluster-{section.id}"' in rail
        assert f'id="cluster-{section.id}"' in CLUSTER_PART


def test_without_sections_there_is_no_heading_and_no_symbol() -> None:
    text = report_html(SAMPLE)
    assert 'id="cluster"' not in text
    assert 'href="#cluster"' not in text
    assert 'id="ga"' not in text


def test_cells_look_as_what_they_are() -> None:
    found = cluster_of(of(Row((machine("front-0", "of front"), unknown("not collected"))), Row((words("all"), number("1,024")))))
    assert 'class="d0 nm"><span class="m">front-0</span><span class="lo">of front</span>' in found
    assert re.search(r'<td role="cell" class="r nm" data-l="Says"><span class="uk">not collected</span>', found)
    assert ">1,024</td>" in found
    assert found.count('role="rowheader"') == 2
    assert '<th role="columnheader" scope="col" class="r nm">Says</th>' in found


def test_a_column_of_words_with_numbers_is_set_left() -> None:
    found = cluster_of(of(Row((words("a"), number(1))), Row((words("b"), words("two")))))
    assert '<th role="columnheader" scope="col" class="nm">Says</th>' in found


def test_what_does_not_apply_is_empty_and_has_no_label() -> None:
    found = cluster_of(of(Row((words("a"), Cell()))))
    assert re.search(r'<td role="cell"( class="[a-z]*")?></td>', found)


def test_rows_lead_to_their_findings() -> None:
    for name in ("n1", "c1", "p1"):
        finding = CLUSTER.finding(name)
        anchor = {row: index + 1 for index, row in enumerate(sorted(
            CLUSTER.findings, key=lambda it: ("error", "warning", "info").index(it.severity)))}[finding]  # fmt: skip
        assert f'<a href="#f{anchor}">' in CLUSTER_PART
        assert finding.title in CLUSTER_PART


def test_a_finding_beyond_the_table_is_a_word_without_a_link() -> None:
    report = big(2000, 200)
    last = min(report.findings, key=lambda it: ("info", "warning", "error").index(it.severity))
    row = Row((words("a"), words("b")), last.id)
    found = cluster_of(replace(report, overview=of(row).overview))
    assert '<td role="cell" class="fi"><span class="sev i">' in found
    assert last.title in found


def test_a_row_of_an_unknown_finding_has_none() -> None:
    found = cluster_of(of(Row((words("a"), words("b")), "gone")))
    assert "Finding" not in found
    assert 'class="hit"' not in found


def test_depth_is_drawn_and_told() -> None:
    rows = tuple(Row((words(f"row {depth}"), words("x")), None, depth) for depth in (-3, 0, 1, 4, 7))
    found = cluster_of(of(*rows))
    assert 'class="d0 nw">row -3' in found
    assert 'class="d0 nw">row 0' in found
    for indent, depth in ((1, 1), (4, 4), (4, 7)):
        assert f'class="d{indent} nw"><span class="vh">level {depth + 1}: </span>row {depth}' in found


def test_what_is_folded_and_left_out_is_counted() -> None:
    assert "<summary>120 more</summary>" in CLUSTER_PART
    assert "190 more nodes, not listed here." in CLUSTER_PART
    assert "SELECT node, devices FROM gpu_nodes ORDER BY node" in CLUSTER_PART
    found = cluster_of(of(*(Row((words("a"), words("b"))),) * 40, folded=(Row((words("c"), words("d")), "n1"),) * 120))
    assert "<summary>120 more, 110 with a finding</summary>" in found
    assert "10 more rows, not listed here." in found


def test_only_looks_and_parts_that_occur_are_explained() -> None:
    row = Row((Cell("a", drawing=Devices(("free", "lost"))), Cell("b", drawing=Bar(4, 3, None))))
    found = cluster_of(of(row))
    key = re.findall(r"</svg>([a-z ,]+)</li>", found)
    assert key == ["free", "lost", "nominal"]
    assert 'aria-label="Key to the' not in cluster_of(of(Row((words("a"), words("b")))))


def test_what_a_limit_leaves_out_is_not_explained() -> None:
    free, lost = (Row((words("a"), Cell("1", drawing=Devices((slot,))))) for slot in ("free", "lost"))
    found = cluster_of(of(free, folded=(*(free,) * FOLDED, lost)))
    assert re.findall(r"</svg>([a-z ,]+)</li>", found) == ["free"]
    assert "1 more row, not listed here." in found


def test_drawings_are_hidden_from_readers_who_hear_the_words() -> None:
    for found in re.findall(r'<svg class="(?:gpus|quota)"[^>]*>', CLUSTER_PART):
        assert 'aria-hidden="true"' in found
    assert len(re.findall('class="gpus"', CLUSTER_PART)) == 151
    assert "… and 9,936 more" in cluster_of(of(Row((words("a"), Cell("b", drawing=Devices(("free",) * 10_000))))))


def test_strange_sections_cost_no_report() -> None:
    table = Table("x", ("A", "B"), (Row(()), Row((words("a"),)), Row((words("a"),) * 99)))
    odd = [replace(GPUS, id=name) for name in ("gpu-nodes", "gpu-nodes", "", "A b", '"><b>', "x" * 999)]
    page = Page(report_html(replace(SAMPLE, overview=(*odd, Section("t", "", "", (table,), (), "")))))
    held(page)
    assert len([name for name in page.ids if name.startswith("cluster-")]) == 7


def test_more_than_the_limits_is_said() -> None:
    wide = Table("Wide", tuple("abcdefghijklmnop"), (Row((words("x"),) * 16),))
    section = Section("s", "S", "", (wide,) * (TABLES + 3), ("n",) * (NOTES + 2))
    shown = overview(replace(SAMPLE, overview=(section,) * (SECTIONS + 4)), {})
    assert shown.more == "4 more sections"
    assert len(shown.sections[0].tables[0].columns) == COLUMNS
    assert shown.sections[0].tables[0].more == "4 more columns"
    assert shown.sections[0].notes[-2:] == ("3 more tables of this section.", "2 more notes.")


def test_long_texts_are_cut_but_names_are_whole() -> None:
    name = f"{'n' * 63}/{'p' * 253}"
    found = cluster_of(of(Row((machine(name), words("w" * 5000)))))
    assert name in found
    assert "w" * 401 not in found
    assert "…" in found


@pytest.mark.parametrize("text", STRINGS)
def test_a_query_is_one_argument_whatever_it_holds(text: str) -> None:
    command = sql_command(f"SELECT '{text}'")
    assert "\n" not in command
    assert len(shlex.split(command)) == 4
    assert not re.search(r'"[^"]*[$`!][^"]*"\Z', command)


@given(either)
def test_any_query_is_one_argument(text: str) -> None:
    assert shlex.split(sql_command(text))[:3] == ["triage", "sql", "."]
    assert len(shlex.split(sql_command(text))) == 4


def test_a_plain_query_stands_in_double_quotes() -> None:
    assert sql_command("SELECT a\n  FROM b WHERE c = 'd'") == "triage sql . \"SELECT a FROM b WHERE c = 'd'\""
    assert sql_command('SELECT "a" FROM b') == "triage sql . 'SELECT \"a\" FROM b'"


def test_six_full_sections_are_quick_and_small() -> None:
    report = replace(big(3000, 500), overview=largest())
    plain = report_html(replace(report, overview=()))
    start = time.process_time()
    text = report_html(report)
    assert time.process_time() - start < 10
    assert len(text.encode()) < 2_000_000
    assert len(text) - len(plain) < 1_500_000
    assert text.count('role="rowheader"') >= 900


def test_as_wide_as_may_be_holds_together() -> None:
    held(Page(report_html(crowded())))
    assert NODE_DOWN.title in cluster_of(crowded())
