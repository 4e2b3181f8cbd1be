"""report.md: what it says, that no text of a bundle is more than text in it, and how it is cut."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from analyzer.engine.model import CollectError, Finding, Report
from analyzer.render.markdown import MAX_CHARS, report_markdown

from .cluster import CLUSTER, GPUS, SMALL
from .hostile import STRINGS, either
from .sample import CORDON, CRASH, FRONT_DOWN, HEALTHY, NODE_DOWN, SAMPLE, big, with_text

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
INLINE = {"text", "softbreak", "code_inline", "strong_open", "strong_close"}
BLOCKS = {
    "paragraph_open", "paragraph_close", "inline", "heading_open", "heading_close", "bullet_list_open", "bullet_list_close",
    "ordered_list_open", "ordered_list_close", "list_item_open", "list_item_close", "fence",
}  # fmt: skip
HEADINGS = re.compile(
    r"Causes|Other findings|Not evaluated|Cluster(: .*)?|Coverage|How this was made|\d+\. (Error|Warning|Info):.*", re.DOTALL
)
STRONG = {
    "Broken now:", "Who acts:", "Does waiting help:", "Since:", "Basis:", "Cause:", "What it leads to:", "Evidence:", "Do next:",
}  # fmt: skip


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or []]


def held(text: str) -> list[Token]:
    """Only the markup that we write, and only where we write it."""
    tokens = PARSER.parse(text)
    assert {token.type for token in tokens} <= BLOCKS
    assert {child.type for child in inline(tokens)} <= INLINE
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            assert HEADINGS.fullmatch(tokens[index + 1].content), tokens[index + 1].content
        if token.type == "fence":
            assert token.info == "text"
    for child in inline(tokens):
        if child.type == "text":
            assert not re.search(r"@\w|#\d|(?i:\bgh-\d|\b(https?|ftp)://|\bwww\.\w)", child.content), child.content
    return tokens


def shape(text: str) -> list[tuple[str, int]]:
    return [(token.type, token.level) for token in held(text)]


def test_the_first_line_is_the_verdict() -> None:
    assert report_markdown(SAMPLE).splitlines()[0] == f"**{SAMPLE.verdict}**"
    assert report_markdown(HEALTHY).splitlines()[0] == f"**{HEALTHY.verdict}**"


def test_an_incident_is_ready_for_a_ticket() -> None:
    text = report_markdown(SAMPLE)
    held(text)
    for words in (
        "### 1. Error: Node rack2-n07 stopped answering; its 14 pods cannot be moved",
        "- **Broken now:** 13 Pods, 1 Deployment, 1 StatefulSet",
        "- **Who acts:** Platform team",
        "- **Does waiting help:** No",
        "- **Since:** 06:42:00, 5 h 18 min before collection",
        "- Reported in `mg/quay-io-example/cluster-scoped-resources/core/nodes/rack2-n07.yaml:214`, field",
        "  Kubelet stopped posting node status.",
        "   oc delete node rack2-n07",
        "3. Set `spec.unschedulable` until then.",
        "- Not collected: `Secret`",
        "oc get secrets -A",
        "triage 0.1.0, 88 rules",
        "SHA-256 `9f2c61e0",
        "Collected 2026-11-01 12:00:00 UTC",
    ):
        assert words in text, words
    assert text.index(NODE_DOWN.title) < text.index(FRONT_DOWN.title) < text.index(CRASH.title)


def test_every_finding_is_told_once_at_least() -> None:
    text = report_markdown(SAMPLE)
    for finding in SAMPLE.findings:
        assert finding.title in text
    assert CORDON.title in text.split("## Other findings")[1]


def test_a_domain_without_a_trace_is_not_mentioned() -> None:
    assert "ray" not in re.sub(r"library|array|trace", "", report_markdown(SAMPLE))


@pytest.mark.parametrize("text", STRINGS)
def test_hostile_text_changes_nothing_but_text(text: str) -> None:
    assert shape(report_markdown(with_text(SMALL, lambda was: f"{text} {was}")))
    assert shape(report_markdown(with_text(SMALL, lambda was: f"{was}{text}")))


@given(either)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_in_every_field_stays_text(text: str) -> None:
    held(report_markdown(with_text(SMALL, lambda _: text)))


def test_hostile_words_do_not_move_the_blocks() -> None:
    """The same blocks at the same depth, whatever the words are."""
    quiet = replace(SAMPLE, incidents=tuple(replace(row, next=()) for row in SAMPLE.incidents))
    quiet = replace(quiet, findings=tuple(replace(row, next=()) for row in quiet.findings))
    plain = shape(report_markdown(with_text(quiet, lambda _: "word")))
    for text in ("# h", "- x", "1. x", "> x", "```", "| a |\n|---|", "\n\n***\n", "<div>", "    code", "===="):
        assert shape(report_markdown(with_text(quiet, lambda _, text=text: text))) == plain, text  # type: ignore[misc]


@pytest.mark.parametrize("limit", [400, 1000, 2500, 4000])
def test_a_limit_is_kept_and_the_verdict_stays(limit: int) -> None:
    text = report_markdown(SAMPLE, max_chars=limit)
    assert len(text) <= limit
    assert text.startswith("**Two faults:")
    if limit >= 1000:
        held(text)
        assert "Cut to fit" in text
        assert "SHA-256" in text


def test_a_limit_that_is_wide_enough_changes_nothing() -> None:
    whole = report_markdown(SAMPLE)
    assert report_markdown(SAMPLE, max_chars=len(whole)) == whole


def test_a_smaller_limit_keeps_the_most_important_incidents() -> None:
    text = report_markdown(big(), max_chars=6000)
    assert len(text) <= 6000
    numbers = [int(found) for found in re.findall(r"^### (\d+)\.", text, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


def test_a_large_report_stays_readable() -> None:
    text = report_markdown(big())
    held(text)
    assert len(text) <= MAX_CHARS
    assert re.search(r"Cut to fit: \d+ findings of the list left out; ", text)
    text = report_markdown(big(), max_chars=1_000_000)
    assert len(text) < 200_000
    assert re.search(r"[\d,]+ more findings in report.json", text)


def unexplained(report: Report) -> tuple[Finding, ...]:
    return tuple(replace(one, why="") for one in report.findings)


def test_a_title_that_ends_in_brackets_does_not_stand_before_others() -> None:
    findings = tuple(replace(one, title=f"{one.title} (because)") for one in SAMPLE.findings)
    text = report_markdown(replace(SAMPLE, findings=findings))
    assert "(because). `" in text
    assert "(because) (" not in text


def test_what_was_not_collected_is_said_in_words() -> None:
    errors = (CollectError(0, "a.txt", 3, "not-served", "leases", "no"),)
    text = report_markdown(replace(SAMPLE, coverage=replace(SAMPLE.coverage, collect_errors=errors)))
    assert "could not get `leases`: the API server does not serve it; `a.txt:3`" in text


def test_an_unknown_flavor_is_an_error() -> None:
    with pytest.raises(ValueError, match="flavor"):
        report_markdown(SAMPLE, flavor="wiki")  # type: ignore[arg-type]


def test_two_bundles_are_told_apart() -> None:
    second = replace(SAMPLE.inputs[0], path="later.tar.gz", sha256=None)
    report: Report = replace(SAMPLE, inputs=(*SAMPLE.inputs, second))
    text = report_markdown(report)
    assert "`[1] mg/quay-io-example/" in text
    assert "`later.tar.gz`" in text


def test_the_cluster_is_only_what_has_a_finding_and_where_the_rest_is() -> None:
    text = report_markdown(CLUSTER)
    part = text[text.index("## Cluster: ") : text.index("## Coverage")]
    for says in (
        "## Cluster: GPU nodes (340 nodes, 2,606 GPUs)",
        "- Error: `rack1-gpu-000`: allocatable 7 / 8; GPU 5 lost; 2 allocated; 5 free by count",
        "- Error: `research-cq` (h200-spot, nvidia.com/gpu): nominal 16; reserved not collected; borrowed not collected",
        '- All rows: report.html, or `triage sql . "SELECT node, devices FROM gpu_nodes ORDER BY node"`',
        "Without a finding: One large machine; see report.html.",
    ):
        assert says in part, says
    assert "rack1-gpu-002" not in part
    assert "for 19 h" in part
    assert part.index("rack1-gpu-008") < part.index("rack1-gpu-006")


def test_five_rows_of_a_section_are_named_and_the_rest_counted() -> None:
    rows = tuple(replace(row, finding="n1") for row in GPUS.tables[0].rows)
    section = replace(GPUS, tables=(replace(GPUS.tables[0], rows=rows, folded=()),))
    text = report_markdown(replace(SAMPLE, overview=(section,)))
    assert text.count("`rack1-gpu-") == 5
    assert "- 25 more with a finding; all rows: report.html, or `triage sql" in text
    long = replace(section, query=f"SELECT {'a, ' * 60}b FROM t")
    assert "all rows: report.html\n" in report_markdown(replace(SAMPLE, overview=(long,)))


def test_a_word_alone_is_told_with_its_heading() -> None:
    part = report_markdown(CLUSTER)
    assert "state Waits; couldn't assign" in part
    assert "used 70; Nodes offer 56" in part


def test_the_backgrounds_and_the_cluster_are_the_first_to_go_where_there_is_a_limit() -> None:
    whole, without = report_markdown(CLUSTER), report_markdown(replace(SAMPLE, findings=unexplained(SAMPLE)))
    assert "**Background:** " in whole
    assert "**Background:** " not in report_markdown(CLUSTER, max_chars=len(whole) - 1)
    for limit in (len(without) + 140, len(whole) - 1):
        text = report_markdown(CLUSTER, max_chars=limit)
        assert len(text) <= limit
        assert "Cut to fit" in text
        assert text.split("## Cluster")[0].rstrip().startswith(without.split("## Coverage")[0].rstrip())
        assert "## Coverage" in text
    assert "## Cluster" not in without
