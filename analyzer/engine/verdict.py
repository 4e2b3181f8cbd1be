"""Health and the verdict: the first thing that every report says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.engine.incidents import Tree, only_collect
from analyzer.engine.model import Entry, Finding, Health, KindCoverage, NotEvaluated
from analyzer.engine.templates import clip, listing, plural

CORE_KINDS = ("Node", "Pod", "Event")
NAMED = 3
"""Causes that the verdict names."""
MAX_CLAUSE = 80
"""Characters of a cause that the verdict names, long names not counted beyond `NAME`."""
NAME = 16
"""From so many characters on a word is taken for a name: it stays whole, so that it can be searched."""
MAX_WORD = 317
"""A namespace with a name has at most so many characters (Kubernetes' API: 63 and 253); what is longer is none."""
_FIRST = re.compile("[:;] ")
_ADDED = re.compile(r", (?:and|but|though|while|since|which|so|because) ")
"""Where a second clause begins; in a list of ours no comma stands before `and`."""
_WEAK_WORDS = "a an the of to for with without only and or in on by at as from than that its is are has have be not offer offers"
_WEAK = frozenset(_WEAK_WORDS.split())
"""Words that nothing ends with: what is cut behind them would read as a riddle."""
_TORN = "; the bundle itself is not whole"
_UNSEEN = ("partial", "forbidden", "not-collected", "removed")
_HOW = {"partial": "only partly collected", "forbidden": "forbidden to the collector", "not-collected": "not collected"}


def unseen_core(kinds: Sequence[KindCoverage]) -> list[KindCoverage]:
    """Which of Node, Pod and Event were not seen whole; a kind without any row was not collected."""
    rows = {row.kind: row for row in kinds if row.group == "" and row.kind in CORE_KINDS}
    everything = [rows.get(kind) or KindCoverage("", kind, 0, (), "not-collected") for kind in CORE_KINDS]
    return [row for row in everything if row.status in _UNSEEN]


def health(findings: Sequence[Finding], kinds: Sequence[KindCoverage]) -> Health:
    """`problems` with an error or warning outside collect/; else `cannot-tell` where a core kind was not seen whole."""
    if any(finding.severity != "info" and finding.domain != "collect" for finding in findings):
        return "problems"
    return "cannot-tell" if unseen_core(kinds) else "healthy"


def verdict(
    state: Health,
    trees: Sequence[Tree],
    entries: Sequence[Entry],
    kinds: Sequence[KindCoverage],
    not_evaluated: Sequence[NotEvaluated],
) -> str:
    """One sentence: how many faults, and the causes in order; or that there is none, or what was not seen.

    Args:
        state: the health.
        trees: all incidents, most important first.
        entries: the same as the reports tell them, many alike as one; empty where each is told on its own.
        kinds: what is known of each kind.
        not_evaluated: rules that could not be evaluated.
    """
    torn = any(draft.severity != "info" for tree in trees for draft in tree.drafts if draft.rule.domain == "collect")
    if state == "problems":
        return f"{_problems(trees, entries)}{_TORN if torn else ''}."
    skipped = len({entry.code for entry in not_evaluated if not entry.code.endswith("/*")})
    rest = f"; {plural(skipped, 'rule')} could not be evaluated" if skipped else ""
    if torn:
        rest = f"{_TORN}{rest}"
    if state == "healthy":
        return f"No fault found in what was collected{rest}."
    unseen = unseen_core(kinds)
    by_way: dict[str, list[str]] = {}
    for row in unseen:
        by_way.setdefault(_HOW.get(row.status, "removed before it was sent"), []).append(f"{row.kind}s")
    seen = listing([f"{listing(names)} were {way}" for way, names in by_way.items()])
    return f"Cannot tell whether something is wrong: {seen}; no fault found in the rest{rest}."


def _problems(trees: Sequence[Tree], entries: Sequence[Entry]) -> str:
    """`Four faults: …, …, …, and one more; besides, one warning.`; of many alike `515 faults of three kinds: …`."""
    counted = [tree for tree in trees if _worst(tree) != "info" and not only_collect(tree)]
    faults = [tree for tree in counted if _worst(tree) == "error"]
    titles = _titles(faults or counted, entries)
    causes = [_inside(clause(title)) for title in titles[:NAMED]]
    left = len(titles) - len(causes)
    if left:
        causes.append(f"{_number(left)} more")
    sentence = f"{_kinds(faults or counted, titles, 'fault' if faults else 'warning')}: {_joined(causes)}"
    warnings = [tree for tree in counted if _worst(tree) != "error"] if faults else []
    return f"{sentence}; besides, {_kinds(warnings, _titles(warnings, entries), 'warning').lower()}" if warnings else sentence


def _titles(trees: Sequence[Tree], entries: Sequence[Entry]) -> list[str]:
    """What these incidents are called, many alike by one title."""
    if not entries:
        return [tree.incident.title for tree in trees]
    wanted = {tree.incident.id for tree in trees}
    return [entry.title for entry in entries if entry.incidents[0] in wanted]


def _kinds(trees: Sequence[Tree], titles: Sequence[str], word: str) -> str:
    """`Four faults`; `515 faults of three kinds` where many are alike."""
    number = _counted(len(trees), word)
    return f"{number} of {_counted(len(titles), 'kind').lower()}" if len(titles) < len(trees) else number


def clause(title: str) -> str:
    """What a title says before its explanation (`: …`) or addition (`; …`); where that is long, before its second clause.

    What is still long is cut between words; names stay whole.
    """
    words = _FIRST.split(title, maxsplit=1)[0].rstrip(".:;")
    if _fitting(words) is None:
        words = _ADDED.split(words, maxsplit=1)[0]
    kept = _fitting(words)
    if kept is not None:
        return kept
    parts = words.split()
    while parts and (_fitting(" ".join(parts)) is None or parts[-1].lower() in _WEAK):
        parts.pop()
    return f"{(_fitting(' '.join(parts)) or '').rstrip(',;')} …".lstrip()


def _fitting(words: str) -> str | None:
    """The words where they are short enough, long names not counted whole; else None."""
    parts = words.split()
    size = sum(min(len(word), NAME) for word in parts) + len(parts) - 1
    return " ".join(clip(word, MAX_WORD) for word in parts) if size <= MAX_CLAUSE else None


def _inside(words: str) -> str:
    """The clause as it stands within a sentence: names keep their case."""
    first = words.split(" ", 1)[0]
    return f"{first.lower()}{words[len(first) :]}" if first in {"A", "An", "The", "No"} and first != words else words


def _joined(causes: list[str]) -> str:
    """`A, and B`; causes that have a comma of their own are set apart by semicolons."""
    if len(causes) < 2:
        return "".join(causes)
    if any("," in re.sub(r"\d,\d", "", cause) for cause in causes):
        return "; ".join(causes)
    return f"{', '.join(causes[:-1])}, and {causes[-1]}"


def _worst(tree: Tree) -> str:
    severities = {draft.severity for draft in tree.drafts if draft.rule.domain != "collect"}
    return next((name for name in ("error", "warning") if name in severities), "info")


_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")


def _number(count: int) -> str:
    return _NUMBERS[count].lower() if count < len(_NUMBERS) else f"{count:,}"


def _counted(count: int, word: str) -> str:
    number = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return f"{number} {word}{'' if count == 1 else 's'}"
