"""MIG: which layout each node was asked for, what became of it, and what it offers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from analyzer.engine.macros import BEFORE_LINE
from analyzer.engine.sections import Cell, Section, machine, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.facts.whole import Whole
from analyzer.overview.gpu.nodes import UNFOLDED
from analyzer.overview.marks import Marks, table
from analyzer.overview.nodenames import Named, common_ending, folded, natural
from analyzer.overview.read import Row, cut, lasting, measured, quoted, rows, sentences
from analyzer.render.words import listed, plural

if TYPE_CHECKING:
    import duckdb

OFF: Final = "all-disabled"
QUERY: Final = (
    "SELECT g.name, g.mig_strategy, g.mig_config, g.mig_state, g.mig_since, g.mig_paused, l.differences, l.unknown "
    "FROM gpu_nodes g LEFT JOIN mig_layouts l USING (object_id) WHERE coalesce(g.mig_config, g.mig_state) IS NOT NULL "
    "OR contains(g.product, '-MIG-') OR object_id IN (SELECT object_id FROM gpu_resources WHERE kind = 'mig') ORDER BY g.name"
)
_NODES: Final = """
SELECT g.*, l.strategy AS used, l.differences, l.unknown, m.configmap, m.pod, w.text, w.cause,
    coalesce(g.mig_since, w."at") AS turned_at,
    (SELECT list(coalesce(r.allocatable::VARCHAR, '?') || ' of ' || r.capacity || ' '
        || replace(replace(r.resource, 'nvidia.com/', ''), 'mig-', '') ORDER BY r.resource)
        FROM gpu_resources r WHERE r.object_id = g.object_id AND r.kind = 'mig' AND r.capacity > 0) AS devices,
    d.parts, json_extract(o.json, '$.status.capacity') IS NOT NULL AS reported,
    (SELECT list(h.words ORDER BY h.rank) FROM gpu_holders h WHERE h.node_id = g.object_id AND h.part <> 'driver') AS held
FROM gpu_nodes g LEFT JOIN mig_layouts l USING (object_id) LEFT JOIN mig_managers m USING (object_id)
LEFT JOIN mig_words w ON w.object_id = g.object_id AND w.rank = 1
LEFT JOIN gpu_device_nodes d ON d.object_id = g.object_id LEFT JOIN objects o ON o.object_id = g.object_id
"""
_STAMP: Final = re.compile(BEFORE_LINE, re.ASCII)
_COLUMNS: Final = ("Node", "Strategy", "Layout asked for", "State", "Offers", "What is wrong")


def section(con: duckdb.DuckDBPyConnection, marks: Marks) -> Section | None:
    """The section, None where no node has anything of MIG but that it is off."""
    nodes = sorted((node for node in rows(con, _NODES) if _is_cut(node)), key=lambda node: natural(node.name))
    off = sum(_is_off(node) for node in nodes)
    nodes = [node for node in nodes if not _is_off(node)]
    if not nodes:
        return None
    as_of = measured(con)
    ending = common_ending([node.name for node in nodes])
    all_pods = Whole.read(con).has("", "Pod")
    found = [_row(node, ending, marks, lasting(node.turned_at, as_of.get(node.input)), all_pods=all_pods) for node in nodes]
    lines = folded(sorted(found, key=lambda one: marks.rank(one.row.finding)), UNFOLDED, "nodes")
    states = [
        f"{sum(node.mig_state == state for node in nodes)} {state}" for state in ("failed", "pending", "rebooting", "success")
    ]
    small = ", ".join([plural(len(nodes), "node"), *(text for text in states if not text.startswith("0 "))])
    notes = [f"On {plural(off, 'more node')} MIG is off as asked for ({OFF})."] if off else []
    notes += [f"All names of these nodes end in {ending}, which is left out."] if ending else []
    shown = table("MIG layout of each node", _COLUMNS, lines, "rows")
    return Section("mig", "MIG layouts", small, (shown,), tuple(notes), QUERY)


def _is_cut(node: Row) -> bool:
    """Something of the node speaks of MIG."""
    return bool(node.mig_config or node.mig_state or node.mig_paused or node.devices or "-MIG-" in (node.product or ""))


def _is_off(node: Row) -> bool:
    """MIG is off there and nothing is wrong with that."""
    done = node.mig_state in (None, "success") and node.mig_config in (None, OFF)
    return done and not (node.mig_paused or node.devices or node.differences or "-MIG-" in (node.product or ""))


def _row(node: Row, ending: str, marks: Marks, lasted: str, *, all_pods: bool) -> Named:
    name = node.name.removesuffix(ending)
    cells: tuple[Cell, ...] = (
        machine(name),
        words(node.mig_strategy or node.used or "not set"),
        machine(node.mig_config or "", f"from ConfigMap {node.configmap}" if node.configmap else ""),
        _state(node, lasted),
        _offers(node),
        _wrong(node, all_pods=all_pods),
    )
    line = Line(cells, marks.of("", "Node", None, node.name))
    return Named(name, line, cells[1:], line)


def _state(node: Row, lasted: str) -> Cell:
    if not node.mig_state:
        return words("never changed" if node.mig_config else "")
    return words(node.mig_state, lasted or ("" if node.mig_state == "success" else "since an unknown time"))


def _offers(node: Row) -> Cell:
    if node.devices:
        return words(", ".join(node.devices), "allocatable of registered")
    if "-MIG-" in (node.product or ""):
        return words(f"{node.allocatable} of {node.capacity} {node.product.rpartition('-MIG-')[2]}", "as nvidia.com/gpu")
    if node.parts:
        return words(plural(node.parts, "device"), "by DRA")
    return words("no MIG device") if node.reported else unknown("cannot tell", "its status was not collected")


def _wrong(node: Row, *, all_pods: bool) -> Cell:
    """What tells most first: what the manager's log means, or what the node lacks; below it the manager's words, and pauses."""
    failing = node.cause and node.mig_state != "success"
    told = [
        cut(node.cause) if failing else "",
        *(cut(text) for text in node.differences or ()),
        "the MIG manager has no pod there" if all_pods and node.mig_state not in (None, "success") and not node.pod else "",
    ]
    below = sentences(
        quoted(_STAMP.sub("", node.text or ""), 160) if failing else "",
        f"GPUs open in {cut(listed(node.held))}" if node.held and node.mig_state not in (None, "success") else "",
        f"paused: {listed(node.mig_paused)}" if node.mig_paused else "",
    )
    text = sentences(*told)
    if not text and not below and node.unknown and node.mig_config not in (None, OFF):
        return unknown("cannot tell", cut(node.unknown))
    return words(text, below)
