"""Incidents: trees of findings with one cause, ranked.

The order, as a support engineer needs it: what is more than information before what is not, and the collection's own
troubles last; errors before warnings, by the worst finding of the tree; then how much is hit (a node counts as ten, a
controller as three, anything else as one); then what began last, for that is most likely what the case is about;
then the code and the id, so that the order never depends on chance. What a rule says of what the others left over
(`last: true`) follows the rest of its severity, in the order of its query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from analyzer.engine.causes import parents
from analyzer.engine.draft import Draft
from analyzer.engine.model import SEVERITIES, Incident

MAX_NEXT_STEPS = 8
"""Next steps that an incident lists."""

_WEIGHTS = {"Node": 10, "Deployment": 3, "StatefulSet": 3, "DaemonSet": 3, "ClusterOperator": 3, "MachineConfigPool": 3}


@dataclass(frozen=True, slots=True)
class Tree:
    """An incident with its findings, root first, each below the one that explains it."""

    incident: Incident
    drafts: tuple[Draft, ...]


def incidents(con: duckdb.DuckDBPyConnection, found: Sequence[Draft]) -> list[Tree]:
    """Joins findings by cause and ranks the incidents; each finding is in exactly one."""
    parent = parents(con, found)
    children: dict[int, list[int]] = {}
    for effect, cause in parent.items():
        children.setdefault(cause, []).append(effect)
    trees = []
    for root in range(len(found)):
        if root not in parent:
            order = _walk(root, children, found)
            above = {found[effect].id: found[parent[effect]].id for effect in order if effect in parent}
            trees.append(_tree([found[position] for position in order], above))
    return sorted(trees, key=rank)


def _walk(root: int, children: dict[int, list[int]], found: Sequence[Draft]) -> list[int]:
    """The positions of a tree from the root down, worse ones first among those of one parent."""
    order, stack = [], [root]
    while stack:
        position = stack.pop()
        order.append(position)
        stack += sorted(children.get(position, ()), key=lambda child: _among(found[child]), reverse=True)
    return order


def _among(draft: Draft) -> tuple[int, float, str, str]:
    began = draft.since.timestamp() if draft.since else float("inf")
    return (SEVERITIES.index(draft.severity), began, draft.code, draft.id)


def _tree(drafts: list[Draft], above: dict[str, str]) -> Tree:
    root = drafts[0]
    # Effects vanish with their cause: theirs are asked only where the root says nothing.
    steps = dict.fromkeys(root.next or [step for draft in drafts for step in draft.next])
    incident = Incident(
        id=f"i-{root.id}",
        title=root.title,
        root=root.id,
        findings=tuple(draft.id for draft in drafts),
        owner=root.owner,
        impact=impact(drafts),
        next=tuple(steps)[:MAX_NEXT_STEPS],
        parents=above,
    )
    return Tree(incident, tuple(drafts))


def impact(drafts: Iterable[Draft]) -> dict[str, int]:
    """How many objects of each kind these findings are about, each counted once, the weightiest kind first."""
    members = {known.key for draft in drafts for known in draft.members}
    found: dict[str, int] = {}
    for _, kind, _, _ in sorted(members):
        found[kind] = found.get(kind, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-_WEIGHTS.get(item[0], 1), item[0])))


def worst(drafts: Sequence[Draft]) -> int:
    """The place of the worst severity among these findings: 0 is an error."""
    return min(SEVERITIES.index(draft.severity) for draft in drafts)


def hit(found: Mapping[str, int]) -> int:
    """How much that is, in objects; a node and a controller count for more than one."""
    return sum(_WEIGHTS.get(kind, 1) * number for kind, number in found.items())


def only_collect(tree: Tree) -> bool:
    """Whether all of it is about the collection, not about the cluster."""
    return all(draft.rule.domain == "collect" for draft in tree.drafts)


def rank(tree: Tree) -> tuple[int, int, bool, int, float, str, str]:
    """The order of incidents, least first."""
    severity = worst(tree.drafts)
    last = 2 if only_collect(tree) else int(SEVERITIES[severity] == "info")
    root = tree.drafts[0]
    if root.rule.last and severity == SEVERITIES.index(root.severity):
        return (last, severity, True, 0, 0, "", "")
    began = -root.since.timestamp() if root.since else float("inf")
    return (last, severity, False, -hit(tree.incident.impact), began, root.code, root.id)
