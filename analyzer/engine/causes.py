"""Which finding explains which: along the relations of the cluster, as the rules allow, as the times allow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

import duckdb

from analyzer.engine.draft import Draft
from analyzer.engine.model import SEVERITIES
from analyzer.engine.objects import Known
from analyzer.engine.rule import Cause

MAX_STEPS = 6
"""Longest path of relations from a cause to its effect."""
TOLERANCE = timedelta(minutes=2)
"""How much later than its effect a cause may seem to begin."""

Node = Hashable
Edges = dict[str, dict[int, list[int]]]
"""kind of relation → source → destinations."""


def parents(con: duckdb.DuckDBPyConnection, found: Sequence[Draft]) -> dict[int, int]:
    """For each finding that another explains, that other: positions in `found`.

    Of several causes the nearest counts: one that another cause of the same effect explains stands behind that other.
    Among the rest what lasts comes before what is over (`past`), then the worse severity, the earlier, the shorter path,
    the earlier in the list. There are no cycles.
    """
    candidates = _candidates(found, _edges(con, _used_relations(found)))
    chosen: dict[int, int] = {}
    for effect in range(len(found)):
        ways = candidates.get(effect, {})
        nearest = [cause for cause in ways if not _stands_behind(cause, ways, candidates)] or list(ways)
        # Those that stand behind come last: they are taken only where the nearest ones would close a circle.
        order = sorted(nearest, key=lambda cause: _rank(found[cause], ways[cause], cause))
        order += sorted(set(ways) - set(nearest), key=lambda cause: _rank(found[cause], ways[cause], cause))
        for cause in order:
            if not _leads_to(chosen, cause, effect):
                chosen[effect] = cause
                break
    return chosen


def _rank(cause: Draft, steps: int, position: int) -> tuple[bool, int, float, int, int]:
    began = cause.since.timestamp() if cause.since else float("inf")
    return (cause.rule.past, SEVERITIES.index(cause.severity), began, steps, position)


def _stands_behind(cause: int, ways: dict[int, int], candidates: dict[int, dict[int, int]]) -> bool:
    """Whether another cause of the same effect is itself explained by this one, and not the reverse."""
    return any(other != cause and cause in candidates.get(other, {}) and other not in candidates.get(cause, {}) for other in ways)


def _leads_to(chosen: dict[int, int], start: int, goal: int) -> bool:
    """Whether going up from `start` reaches `goal`."""
    position: int | None = start
    while position is not None:
        if position == goal:
            return True
        position = chosen.get(position)
    return False


def _candidates(found: Sequence[Draft], edges: Edges) -> dict[int, dict[int, int]]:
    """For each effect its possible causes, with the length of the path."""
    by_code: dict[str, list[int]] = {}
    for position, draft in enumerate(found):
        by_code.setdefault(draft.code, []).append(position)
    nodes = [_nodes(draft) for draft in found]
    # From an object to the findings on it: a cause looks only at what its paths lead to, not at every finding.
    on_node: dict[Node, list[int]] = {}
    for position, own in enumerate(nodes):
        for node in dict.fromkeys(own):
            on_node.setdefault(node, []).append(position)
    candidates: dict[int, dict[int, int]] = {}
    for cause, draft in enumerate(found):
        for link in _links(draft, found, by_code):
            codes = {code for code in by_code if link.matches(code)}
            if not codes:
                continue
            reached = _reached(nodes[cause], link.along, edges)
            met = dict.fromkeys(position for node in reached for position in on_node.get(node, ()))
            for effect in met:
                if effect == cause or found[effect].code not in codes:
                    continue
                if not link.any_time and not _times_allow(draft, found[effect]):
                    continue
                steps = _steps(nodes[effect], reached)
                if steps is not None and not (link.apart and steps == 0):
                    ways = candidates.setdefault(effect, {})
                    ways[cause] = min(steps, ways.get(cause, steps))
    return candidates


def _links(draft: Draft, found: Sequence[Draft], by_code: dict[str, list[int]]) -> list[Cause]:
    """What a finding explains: by its own rule, and by the rules of others that name it as their cause."""
    if not draft.causes:
        return []
    links = list(draft.rule.explains)
    for code, positions in by_code.items():
        by = found[positions[0]].rule.explained_by
        links += [replace(entry, codes=(code,)) for entry in by if entry.matches(draft.code)]
    return links


def _times_allow(cause: Draft, effect: Draft) -> bool:
    return cause.since is None or effect.since is None or cause.since <= effect.since + TOLERANCE


def _nodes(draft: Draft) -> list[Node]:
    """The objects of a finding as nodes: the ones it folds together, not the one that it is shown at."""
    return [_node(known) for known in draft.members]


def _node(known: Known) -> Node:
    return known.key if known.object_id is None else known.object_id


def _steps(goals: Sequence[Node], reached: dict[Node, int]) -> int | None:
    """The shortest path to the goals where more than half of them are reached (all of one)."""
    steps = [reached[goal] for goal in goals if goal in reached]
    return min(steps) if 2 * len(steps) > len(goals) else None


def _reached(starts: Iterable[Node], along: Sequence[str], edges: Edges) -> dict[Node, int]:
    """All objects that a path from the starts leads to, with the number of steps."""
    reached: dict[Node, int] = dict.fromkeys(starts, 0)
    border = list(reached)
    kinds = [edges[kind] for kind in along if kind in edges]
    for steps in range(1, MAX_STEPS + 1):
        ahead: list[Node] = []
        for node in border:
            if not isinstance(node, int):
                continue
            for kind in kinds:
                for other in kind.get(node, ()):
                    if other not in reached:
                        reached[other] = steps
                        ahead.append(other)
        if not ahead:
            break
        border = ahead
    return reached


def _used_relations(found: Sequence[Draft]) -> set[str]:
    rules = {draft.code: draft.rule for draft in found}.values()
    return {kind for rule in rules for link in (*rule.explains, *rule.explained_by) for kind in link.along}


def _edges(con: duckdb.DuckDBPyConnection, kinds: set[str]) -> Edges:
    edges: Edges = {}
    if kinds:
        cursor = con.execute(
            "SELECT DISTINCT kind, src, dst FROM relations WHERE kind IN (SELECT unnest(?::VARCHAR[])) "
            "AND src IS NOT NULL AND dst IS NOT NULL ORDER BY ALL",
            [sorted(kinds)],
        )
        for kind, source, target in cursor.fetchall():
            edges.setdefault(kind, {}).setdefault(source, []).append(target)
    return edges
