"""The map of the GPU nodes: what each has, what its GPUs are doing, who holds them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from analyzer.engine.sections import Cell, Devices, Section, Slot, machine, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.overview.gpu.view import View, view_of
from analyzer.overview.gpu.world import World
from analyzer.overview.marks import Marks, table
from analyzer.overview.nodenames import Named, common_ending, folded
from analyzer.overview.read import Row, lasting, sentences
from analyzer.render.words import listed, plural

UNFOLDED: Final = 24
"""Up to so many nodes each have a row of their own."""
_COLUMNS: Final = ("Node", "GPUs", "Model", "Allocatable", "Held by")
_COUNTED: Final = "Kubernetes counts devices and does not say which one a pod holds:"
QUERY: Final = (
    "SELECT coalesce(g.name, d.name) AS name, coalesce(g.product, d.product) AS product, coalesce(g.count, d.gpus) AS count, "
    "coalesce(g.memory_mib, d.memory_mib) AS memory_mib, coalesce(g.driver, d.driver) AS driver, g.sharing, "
    " g.capacity, g.allocatable, g.mig_config, g.mig_state, g.opt_outs, d.drivers "
    "FROM gpu_nodes g FULL JOIN gpu_device_nodes d ON d.input = g.input AND d.name = g.name ORDER BY 1"
)


def section(world: World, marks: Marks) -> Section:
    """The map; nodes with a finding first, equal ones folded where there are many."""
    ending = common_ending([node.name for node in world.nodes])
    named_rows: list[Named] = []
    slots: dict[Slot, int] = {}
    own_slots = by_count = False
    for node in world.nodes:
        view = view_of(node, world)
        own_slots = own_slots or view.own_slots
        by_count = by_count or (bool(view.drawn.slots) and not view.by_name)
        for slot in view.drawn.slots:
            slots[slot] = slots.get(slot, 0) + 1
        named_rows.append(_named(node, view, ending, marks, world))
    lines = folded(sorted(named_rows, key=lambda one: marks.rank(one.row.finding)), UNFOLDED, "nodes")
    return Section(
        id="gpu-nodes",
        title="GPU nodes",
        small=_small(world, slots),
        tables=(table("GPU nodes and what their GPUs are doing", _COLUMNS, lines, "rows"),),
        notes=tuple(_notes(world, ending, by_count=by_count, own_slots=own_slots)),
        query=QUERY,
    )


def _named(node: Row, view: View, ending: str, marks: Marks, world: World) -> Named:
    short = node.name.removesuffix(ending)
    state = _state(node, world)
    gpus = Cell(view.drawn.words, "words", "", Devices(view.drawn.slots) if view.drawn.slots else None)
    model = _model(node)
    row = Line((machine(short, state), gpus, model, view.offered, view.holders), marks.of("", "Node", None, node.name))
    same: Hashable = (state, gpus, model, view.offered, bool(view.users))
    holders = words("pods on each") if view.users else view.holders
    return Named(short, row, same, Line((machine(short, state), gpus, model, view.offered, holders)))


def _small(world: World, slots: dict[Slot, int]) -> str:
    order: tuple[tuple[Slot, str], ...] = (
        ("lost", "lost"),
        ("blocked", "out of reach"),
        ("mig-failed", "with a failed MIG change"),
        ("allocated", "allocated"),
        ("mig", "split by MIG"),
        ("cordoned", "free on cordoned nodes"),
        ("free", "free"),
        ("unknown", "cannot be told"),
    )
    counts = ", ".join(f"{slots[slot]:,} {said}" for slot, said in order if slots.get(slot))
    total = sum(slots.values())
    return plural(len(world.nodes), "node") + (f", {plural(total, 'GPU')}: {counts}" if total else "")


def _notes(world: World, ending: str, *, by_count: bool, own_slots: bool) -> list[str]:
    notes = []
    if by_count:
        notes.append(
            f"{_COUNTED} only one that a log or a claim names stands in its own slot, the others fill the drawing from the left."
            if own_slots
            else f"{_COUNTED} the drawings are filled from the left, and no slot is a certain GPU."
        )
    if world.missing:
        notes.append(f"The {world.missing} were not collected whole, so it cannot be told which GPUs are free.")
    if world.gone:
        nodes = "a node that is" if len(world.gone) == 1 else "nodes that are"
        notes.append(
            f"Slices of {listed(world.gone, 4)}, {nodes} not in the cluster, still publish GPUs: they are left over, not shown."
        )
    if ending:
        notes.append(f"All names of these nodes end in {ending}, which is left out.")
    return notes


def _state(node: Row, world: World) -> str:
    as_of = world.as_of.get(node.input)
    told = [] if node.object_id is not None else ["the bundle does not have this node"]
    if node.state in ("Not ready", "Unknown"):
        told.append(f"{'not ready' if node.state == 'Not ready' else 'state unknown'} {lasting(node.since, as_of)}".strip())
    if node.cordoned:
        told.append(f"cordoned {lasting(node.cordoned_since, as_of)}".strip())
    if node.opt_outs:
        told.append(f"switched off on purpose: {listed(node.opt_outs, 3)}")
    if node.upgrade_state not in (None, "", "upgrade-done"):
        told.append(f"driver upgrade: {node.upgrade_state}")
    if node.workload_config not in (None, "", "container"):
        told.append(f"for {node.workload_config}")
    return sentences(*told)


def _model(node: Row) -> Cell:
    below = [
        f"{node.memory_mib / 1024:,.0f} GiB each" if node.memory_mib else "",
        f"driver {node.driver}" if node.driver else "",
        f"CUDA {node.cuda}" if node.cuda else "",
        f"{node.sharing}, {node.replicas or '?'} pods a GPU" if node.sharing not in (None, "", "none") else "",
        f"not labelled: told by {listed(node.drivers, 2)}" if node.drivers and node.product and not node.labelled else "",
    ]
    said = ", ".join(part for part in below if part)
    if not node.product:
        return unknown("not labelled", said)
    # With strategy single the label counts MIG devices.
    return words(f"{node.count} {node.product}" if node.count is not None else node.product, said)
