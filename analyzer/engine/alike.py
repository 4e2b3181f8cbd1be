"""Incidents of one kind told as one entry: 3,000 pods that fail for the same reason are one thing to know.

Only where there are many incidents. report.json and the tables keep every one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from analyzer.engine.alike_words import label, said, title
from analyzer.engine.incidents import Tree, hit, impact, rank, worst
from analyzer.engine.model import Entry

FEW = 10
"""Up to so many incidents each is told on its own, and so many entries are what a reader takes in."""
MANY = 40
"""With more entries than that, incidents of one code are told as one even where their causes differ."""
LEAST = 3
"""So many alike are told as one."""


def entries(trees: Sequence[Tree]) -> tuple[Entry, ...]:
    """What the reports tell, most important first; empty where every incident is told on its own.

    Alike are incidents of one code, severity, owner and cause whose titles differ in names and counts only; where these
    are too many, those of one code and cause; and where these still are far too many, those of one code.

    Args:
        trees: all incidents, most important first.
    """
    if len(trees) <= FEW:
        return ()
    found = _alike(trees, _same_words)
    if len(found) > FEW:
        found = _alike(trees, _same_cause)
    if len(found) > MANY:
        found = _alike(trees, _same_code)
    if len(found) == len(trees):
        return ()
    return tuple(_entry(group) for group in sorted(found, key=_rank))


def _alike(trees: Sequence[Tree], key: Callable[[Tree], Hashable]) -> list[list[Tree]]:
    groups: dict[Hashable, list[Tree]] = {}
    for tree in trees:
        groups.setdefault(key(tree), []).append(tree)
    found = []
    for group in groups.values():
        found += [sorted(group, key=_among)] if len(group) >= LEAST else [[tree] for tree in group]
    return found


def _same_code(tree: Tree) -> tuple[Hashable, ...]:
    root = tree.drafts[0]
    return root.code, worst(tree.drafts), root.severity


def _same_cause(tree: Tree) -> tuple[Hashable, ...]:
    root = tree.drafts[0]
    words = said(root)
    # A title without a cause says it before the place of one.
    return (*_same_code(tree), root.owner, root.waiting, words.cause or words.pattern)


def _same_words(tree: Tree) -> tuple[Hashable, ...]:
    return (*_same_cause(tree), said(tree.drafts[0]).pattern)


def _among(tree: Tree) -> tuple[int, float, str]:
    """Those that hit most first, then those that last longest."""
    root = tree.drafts[0]
    return -hit(tree.incident.impact), root.since.timestamp() if root.since else float("inf"), root.id


def _rank(group: Sequence[Tree]) -> tuple[object, ...]:
    """As an incident is ranked, with all that the group hits."""
    last, severity, left_over, _, *rest = rank(group[0])
    return (last, severity, left_over, -sum(hit(tree.incident.impact) for tree in group), *rest)


def _entry(group: Sequence[Tree]) -> Entry:
    ids = tuple(tree.incident.id for tree in group)
    roots = [tree.drafts[0] for tree in group]
    words = title(roots) if len(group) > 1 else group[0].incident.title
    return Entry(words, ids, tuple(label(root) for root in roots), impact(draft for tree in group for draft in tree.drafts))
