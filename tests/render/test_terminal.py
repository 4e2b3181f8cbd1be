"""The summary on the terminal: short, true, and nothing of a bundle steers the terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from analyzer.engine.model import NotEvaluated, Report
from analyzer.render.terminal import print_summary

from .hostile import STRINGS
from .sample import HEALTHY, SAMPLE, big, with_text


def printed(report: Report, width: int = 100, colour: bool = False, formats: tuple[str, ...] = ("html", "md", "json")) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, color_system="truecolor" if colour else None)
    print_summary(report, Path("case.triage"), console, formats)
    return out.getvalue()


def test_the_verdict_is_first_and_the_reports_are_last() -> None:
    lines = printed(SAMPLE, 200).splitlines()
    assert lines[0] == SAMPLE.verdict
    assert lines[-1] == "Reports: case.triage/ (report.html, report.md, report.json, bundle.duckdb)"
    assert printed(SAMPLE, formats=("json",)).splitlines()[-1] == "Reports: case.triage/ (report.json, bundle.duckdb)"


def test_incidents_tell_severity_owner_and_since() -> None:
    text = printed(SAMPLE, 200)
    assert " 1  Error   Node rack2-n07 stopped answering; its 14 pods cannot be moved" in text
    assert "platform team; for 5 h 18 min; 13 Pods, 1 Deployment, 1 StatefulSet; explains 4 other findings" in text
    assert "3 of 88 rules not evaluated; missing: Secret, EndpointSlice.discovery.k8s.io" in text
    assert "1 file not read in full:\n  mg/quay-io-example/namespaces/lab/core/secrets.yaml: ends in a string" in text
    assert "audit" not in text


def test_a_broken_rule_is_named_before_what_is_missing() -> None:
    broken = NotEvaluated("shop/NoLimit", "this rule is broken: no such column (of pods) (pack/shop/NoLimit.yaml:7)")
    lines = printed(replace(SAMPLE, not_evaluated=(*SAMPLE.not_evaluated, broken)), 200).splitlines()
    at = lines.index("1 rule is broken: pack/shop/NoLimit.yaml:7: no such column (of pods)")
    assert lines[at + 1].startswith("4 of 88 rules not evaluated; missing: Secret, ")
    many = [replace(broken, code=f"shop/R{at}", reason=f"this rule is broken: odd (pack/R{at}.yaml:1)") for at in range(5)]
    text = printed(replace(HEALTHY, not_evaluated=tuple(many)), 200)
    assert "5 rules are broken: pack/R0.yaml:1: odd; pack/R1.yaml:1: odd; pack/R2.yaml:1: odd and 2 more\n5 of " in text


def test_each_missing_thing_is_named_once() -> None:
    needs = [("Pod: not collected",), ("Pod: not collected", "Node"), ("Node", "logs")]
    entries = tuple(NotEvaluated(f"pod/R{at}", f"not sent {at}", need) for at, need in enumerate(needs))
    assert "missing: Pod: not collected, Node, logs\n" in printed(replace(SAMPLE, not_evaluated=entries), 200)


def test_many_incidents_are_ten_and_a_count() -> None:
    text = printed(big())
    assert "490 more in the report" in text
    assert len(re.findall(r"^ ?\d+  (?:Error|Warning|Info)", text, re.MULTILINE)) == 10


def test_a_healthy_bundle_says_so() -> None:
    assert printed(HEALTHY).startswith("No fault found in what was collected")


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_but_a_path_is_wider_than_the_terminal(width: int) -> None:
    report = replace(SAMPLE, files=())
    lines = printed(report, width).splitlines()[:-1]
    assert max(map(len, lines)) <= max(width, 22)


@pytest.mark.parametrize("text", STRINGS)
def test_nothing_of_a_bundle_steers_the_terminal(text: str) -> None:
    shown = printed(with_text(SAMPLE, lambda was: f"{was} {text}"), 300)
    assert "\x1b" not in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200b\u2066]", shown)


def test_brackets_are_no_markup() -> None:
    text = printed(with_text(SAMPLE, lambda was: f"[bold]{was}[/bold] [link=http://x]y[/link]"), 300, colour=True)
    assert "[bold]Two faults" in text
    assert "\x1b]8" not in text


def test_a_pipe_gets_no_colour_and_a_terminal_does() -> None:
    assert "\x1b" not in printed(SAMPLE)
    assert "\x1b[" in printed(SAMPLE, colour=True)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    report = with_text(SAMPLE, lambda was: f"{was} caf\u00e9 \u2026 \u4e2d \u202e")
    print_summary(report, Path("caf\u00e9"), Console(file=out, width=100))
    out.flush()
    text = raw.getvalue().decode("ascii")
    assert "caf? ... ? [U+202E]" in text
