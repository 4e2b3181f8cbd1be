"""report.html: what it says, what it never holds, and how large it gets."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings

from analyzer.content import folder
from analyzer.engine.model import Incident, KindCoverage, NotEvaluated, Report
from analyzer.render.html import report_html
from analyzer.render.markdown import report_markdown

from .cluster import CLUSTER, SMALL
from .hostile import STRINGS, either
from .sample import CORDON, CRASH, FRONT_PODS, HEALTHY, NODE_DOWN, SAMPLE, big, finding, with_text

VOID = {"meta", "br", "input"}
DRAWN = {"line", "path", "rect", "circle", "use"}


class Page(HTMLParser):
    """Elements, attributes, ids and text; complains where elements do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[tuple[str, str]] = set()
        self.values: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.raw: dict[str, list[str]] = {"style": [], "script": []}
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs or [("", "")]:
            self.elements.add((tag, name))
            self.values.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"{tag} at {self.getpos()}")

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"comment {data[:40]}")

    def unknown_decl(self, data: str) -> None:
        self.wrong.append(f"declaration {data[:40]}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]].append(data)
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.texts))


def long_chain() -> Report:
    rows = [
        finding(f"s{index}", "pod/NotReady", "warning", CRASH.object, f"Step {index} of the chain", "x", NODE_DOWN.since)
        for index in range(70)
    ]
    names = tuple(row.id for row in rows)
    parents = {name: names[index] for index, name in enumerate(names[1:])}
    tree = Incident("t", "A long chain", names[0], names, "workload", {}, (), parents)
    return replace(SAMPLE, findings=tuple(rows), incidents=(tree,))


PLAIN = Page(report_html(SAMPLE))
KNOWN = PLAIN.elements | Page(report_html(long_chain())).elements | Page(report_html(CLUSTER)).elements
LINK = re.compile(r"https://[^\s<>\"']+")


def held(page: Page) -> None:
    """Nothing in the page that the templates did not put there."""
    assert page.wrong == []
    assert page.open == []
    assert page.elements <= KNOWN
    assert len(page.ids) == len(set(page.ids))
    for tag, name, value in page.values:
        assert name != "style"
        assert not name.startswith("on")
        if name in ("href", "src", "action", "xlink:href"):
            assert (tag, name) in {("a", "href"), ("use", "href")}
            assert value.startswith("#") or (tag == "a" and LINK.fullmatch(value)), value
            if value.startswith("#"):
                assert value[1:] in page.ids


def test_the_page_holds_together() -> None:
    held(PLAIN)
    assert {tag for tag, _ in PLAIN.elements} >= {"details", "table", "svg", "symbol", "dl", "ol", "h1", "h2", "h3", "form"}
    assert {tag for tag, _ in PLAIN.elements} & {"img", "link", "iframe", "object", "embed", "base"} == set()


def test_the_policy_names_the_one_style_and_the_one_script() -> None:
    text = report_html(SAMPLE)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    for element in ("style", "script"):
        found = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        assert len(found) == 1
        digest = base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}';" in policy[1].replace("&#39;", "'")
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1]


def test_nothing_is_loaded_from_anywhere() -> None:
    for name in ("report.css", "report.js"):
        text = (folder("reports") / name).read_text(encoding="utf-8")
        assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)|fetch\(|XMLHttp|eval|innerHTML|document\.write", text)


def test_the_dark_tokens_are_said_alike_for_the_query_and_the_switch() -> None:
    style = (folder("reports") / "report.css").read_text(encoding="utf-8")
    query = re.search(r"prefers-color-scheme:dark\)\{:root\{(.*?)\}\}", style)
    switch = re.search(r":root:has\(#th-d:checked\)\{(.*?)\}", style)
    assert query
    assert switch
    assert query[1] == switch[1]


def test_the_first_heading_is_the_verdict() -> None:
    text = report_html(SAMPLE)
    heading = re.search(r"<h1>(.*?)</h1>", text)
    assert heading
    assert heading[1] == SAMPLE.verdict
    assert PLAIN.text.index(SAMPLE.verdict) < PLAIN.text.index("Who acts")


def test_an_incident_tells_cause_effects_evidence_owner_and_next_steps() -> None:
    text = PLAIN.text
    for words in (
        "13 Pods", "Platform team", "06:42:00, 5 h 18 min before collection", "Kubelet stopped posting node status.",
        "mg/quay-io-example/cluster-scoped-resources/core/nodes/rack2-n07.yaml:214", "oc delete node rack2-n07",
        "12 folded: shop/front-6c9f7-00", "and 7 more", "Deduced in 1 of 5 steps", "Does waiting help?",
    ):  # fmt: skip
        assert words in text, words
    chain = text[text.index("What happened, cause first") :]
    order = [chain.index(title) for title in ("Node rack2-n07 · cause", FRONT_PODS.title)]
    assert order == sorted(order)
    assert "· cause" in chain


def test_commands_stand_in_blocks_of_their_own_and_other_code_does_not() -> None:
    blocks = re.findall(r'<pre id="c\d+" class="c">(.*?)</pre>', report_html(SAMPLE), re.DOTALL)
    assert "oc adm node-logs rack2-n07 -u kubelet --tail=200" in blocks
    assert "kubectl logs -n billing ledger-0 -c app --previous" in blocks
    assert "spec.unschedulable" not in blocks
    assert "<code>spec.unschedulable</code>" in report_html(SAMPLE)


def test_what_was_not_seen_is_said_and_never_called_fine() -> None:
    text = PLAIN.text
    for words in (
        "Secrets were not collected", "pod/ConfigMissing, pod/MountFailed", "not collected", "forbidden: 403 in gather.logs",
        "mg/quay-io-example/gather.logs:611", "ends in a string at line 411", "No trace in this bundle of: ray, kueue",
        "3 of 88 rules",
    ):  # fmt: skip
        assert words in text, words
    row = re.search(r"Secret</th>.*?</tr>", report_html(SAMPLE), re.DOTALL)
    assert row
    assert ">?<" in row[0]


def test_findings_are_counted_with_a_plural() -> None:
    assert PLAIN.text.count("4 errors, 4 warnings, 1 info") == 2


def test_what_no_rule_looks_at_is_not_called_absent_or_fine() -> None:
    entries = [
        NotEvaluated(f"{name}/*", f"{name} is in this bundle, but this version has no rules for it")
        for name in ("train", "gpu", "net")
    ]
    said = "In this bundle there is also something of train, gpu and net, which no rule of this version looks at."
    for sample in (HEALTHY, SAMPLE):
        report = replace(sample, not_evaluated=(*sample.not_evaluated, *entries))
        html, markdown = Page(report_html(report)).text, report_markdown(report)
        assert said in html
        assert said in markdown
        assert "kueue, train" not in html
        assert "Every rule" not in html + markdown


def test_a_healthy_report_says_so_first() -> None:
    page = Page(report_html(HEALTHY))
    held(page)
    assert page.text.index(HEALTHY.verdict) < page.text.index("Cluster")
    assert "No finding." in page.text
    assert "Waiting heals" not in page.text


def test_a_mere_note_is_no_card() -> None:
    report = replace(SAMPLE, findings=(CORDON,), incidents=(SAMPLE.incidents[-1],))
    text = report_html(report)
    assert "<article" not in text
    assert CORDON.title in text


def test_ages_name_the_moment_they_are_measured_at() -> None:
    assert "measured at collection" in PLAIN.text
    assert SAMPLE.as_of is not None
    moved = replace(SAMPLE, as_of=SAMPLE.as_of.replace(hour=13))
    assert "measured at 2026-11-01 13:00:00 UTC" in Page(report_html(moved)).text


@pytest.mark.parametrize("text", STRINGS)
def test_hostile_text_in_every_field_stays_text(text: str) -> None:
    page = Page(report_html(with_text(SMALL, lambda was: f"{was} {text}")))
    held(page)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page.text)


@given(either)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_in_every_field_stays_text(text: str) -> None:
    held(Page(report_html(with_text(SMALL, lambda _: text))))


def test_only_https_references_become_links() -> None:
    bad = ("javascript:alert(1)", "http://example.com", "data:text/html,x", "//example.com")
    report = replace(SAMPLE, findings=(replace(NODE_DOWN, references=bad), *SAMPLE.findings[1:]))
    held(Page(report_html(report)))
    for found in re.finditer(r'<a href="https:[^>]*>', report_html(SAMPLE)):
        assert 'rel="noopener noreferrer"' in found[0]


def test_a_template_of_a_bundle_is_not_run() -> None:
    assert "{{7*7}}" in report_html(with_text(SAMPLE, lambda _: "{{7*7}}"))


def test_a_large_report_stays_small_and_says_what_it_leaves_out() -> None:
    report = big()
    start = time.process_time()
    text = report_html(report)
    assert time.process_time() - start < 10
    assert len(text.encode()) < 2_000_000
    page = Page(text)
    held(page)
    assert text.count("<article") == 10
    assert "2,500 more findings" in page.text
    assert "400 more incidents" in page.text
    assert text.count('data-d="pod"') == 500


def test_a_long_chain_folds_its_middle() -> None:
    page = Page(report_html(long_chain()))
    held(page)
    assert "63 steps between" in page.text
    assert "23 more: see all findings" in page.text
    for shown in (0, 4, 5, 68, 69):
        assert f"Step {shown} of the chain" in page.text


def shuffled(change: Callable[[Incident], Incident]) -> Report:
    first = change(SAMPLE.incidents[0])
    return replace(SAMPLE, incidents=(first, *SAMPLE.incidents[1:]))


@pytest.mark.parametrize(
    "report",
    [
        shuffled(lambda it: replace(it, parents={"n2": "n3", "n3": "n2"})),
        shuffled(lambda it: replace(it, parents={"n2": "n2", "n4": "gone"})),
        shuffled(lambda it: replace(it, parents={"n1": "n5", "n5": "n1"})),
        shuffled(lambda it: replace(it, findings=(*it.findings, "gone"))),
    ],
    ids=["cycle", "strays", "root in a cycle", "unknown finding"],
)
def test_an_odd_tree_loses_no_finding(report: Report) -> None:
    chain = Page(report_html(report)).text.split("All findings")[0]
    for name in SAMPLE.incidents[0].findings:
        assert report.finding(name).title in chain


def test_an_incident_without_its_root_costs_no_report() -> None:
    page = Page(report_html(shuffled(lambda it: replace(it, root="gone"))))
    assert page.wrong == []
    assert CRASH.title in page.text


def test_rules_of_one_reason_are_one_question() -> None:
    many = tuple(
        NotEvaluated(f"pod/Rule{index}", "Events were not collected", ("Event",), ("oc get events -A",)) for index in range(30)
    )
    page = Page(report_html(replace(SAMPLE, not_evaluated=many)))
    assert "30 rules:" in page.text
    assert "and 18 more" in page.text
    assert page.text.count("oc get events -A") == 1


def test_only_what_a_command_can_answer_is_a_question_to_the_customer() -> None:
    assert "2 questions to the customer would close that" in PLAIN.text
    broken = (NotEvaluated("pod/Rule", "this rule is broken: no such column"),)
    text = Page(report_html(replace(SAMPLE, not_evaluated=broken))).text
    assert "questions to the customer" not in text
    assert "this rule is broken" in text


def test_many_kinds_of_one_reason_are_a_group() -> None:
    why = "single objects, and no list that says that they are all"
    kinds = tuple(KindCoverage("example.com", f"Thing{index}", 1, ("shop",), "partial", why) for index in range(9))
    coverage = replace(SAMPLE.coverage, kinds=(*SAMPLE.coverage.kinds, *kinds))
    page = Page(report_html(replace(SAMPLE, coverage=coverage)))
    assert f"9 kinds partial: {why}" in page.text
    assert all(kind.kind in page.text for kind in coverage.kinds)
