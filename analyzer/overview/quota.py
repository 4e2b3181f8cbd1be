"""Kueue's quota: cohorts as trees with their ClusterQueues, flavors with what their nodes offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Bar, Cell, Table, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.facts import quantity
from analyzer.facts.kueue.base import GROUP, show
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import Row, cut, grouped, rows, sentences
from analyzer.render.words import listed, plural

if TYPE_CHECKING:
    import duckdb

_DEPTH: Final = 50
"""Cohorts above one another that are followed; what lies deeper stands at this depth."""
_TOLD: Final = 3
"""Resources whose sums stand in the line of a cohort."""
_FIRST: Final = ("cpu", "memory")
"""Resources that come after the devices of a queue, in this order; the rest follows."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """The quota of one flavor and resource as numbers, for drawings."""

    row: Row
    nominal: Fraction | None
    reserved: Fraction | None
    borrowed: Fraction | None
    used: Fraction | None
    offered: Fraction | None


@dataclass(slots=True)
class _Sum:
    """Amounts of several members; None once one of them is not known."""

    nominal: Fraction | None = Fraction(0)
    reserved: Fraction | None = Fraction(0)

    def add(self, one: Amounts) -> None:
        """A member's quota; a Cohort holds nothing itself."""
        held = one.reserved if one.row.kind == "ClusterQueue" else Fraction(0)
        self.nominal = None if self.nominal is None or one.nominal is None else self.nominal + one.nominal
        self.reserved = None if self.reserved is None or held is None else self.reserved + held

    def words(self, resource: str) -> str:
        """`40 of 40 reserved`."""
        if self.nominal is None:
            return "cannot tell"
        reserved = "an unknown number" if self.reserved is None else show(resource, self.reserved)
        return f"{reserved} of {show(resource, self.nominal)} reserved"


@dataclass(slots=True)
class Node:
    """A ClusterQueue or a Cohort with its lines, and what lies below it."""

    kind: str
    name: str
    head: Line
    lines: list[Line]
    worst: int
    below: list[Node] = field(default_factory=list)


def read(con: duckdb.DuckDBPyConnection) -> list[Amounts]:
    """All quotas, the devices of a queue first."""
    query = """
        SELECT q.*, o.offered, o.nodes, o.closed_nodes, o.why, o.flavor_id
        FROM kueue_quota q LEFT JOIN kueue_offers o USING (flavor, resource)
        ORDER BY q.kind, q.name, contains(q.resource, '/') DESC, coalesce(list_position(?, q.resource), 99), q.resource,
            q.resource_group, q.flavor
    """
    return [
        Amounts(row, *(quantity.parse(getattr(row, name)) for name in ("nominal", "reserved", "borrowed", "used", "offered")))
        for row in rows(con, query, list(_FIRST))
    ]


def _scales(amounts: Iterable[Amounts]) -> dict[str, Fraction]:
    """The right end of the bars of each resource: the greatest quota or use of it. Offers beyond it are told in words alone."""
    scales: dict[str, Fraction] = {}
    for one in amounts:
        found = [value for value in (one.nominal, one.reserved, one.used) if value is not None]
        scales[one.row.resource] = max(scales.get(one.row.resource, Fraction(0)), *found, Fraction(0))
    return scales


def _bar(scale: Fraction, one: Amounts) -> Bar | None:
    parts = (one.nominal, one.reserved, one.borrowed, one.used, one.offered)
    return Bar(float(scale), *(None if part is None else float(part) for part in parts)) if scale else None


class Quotas:
    """The tables of quota."""

    def __init__(self, con: duckdb.DuckDBPyConnection, marks: Marks) -> None:
        """Reads what there is."""
        self._marks = marks
        self._amounts = read(con)
        self._scales = _scales(self._amounts)
        self._by_owner = grouped(self._amounts, lambda one: (one.row.kind, one.row.name))
        self._queues = list(rows(con, "SELECT * FROM kueue_queues WHERE kind = 'ClusterQueue' ORDER BY name"))
        self._cohorts = list(rows(con, "SELECT * FROM kueue_cohorts ORDER BY name"))

    @property
    def small(self) -> str:
        """What there is, counted."""
        counts = ((len(self._cohorts), "cohort"), (len(self._queues), "cluster queue"))
        return ", ".join(plural(count, noun) for count, noun in counts if count)

    def tree(self) -> Table | None:
        """Cohorts with what is in them, then the queues that are in none."""
        if not self._queues and not self._cohorts:
            return None
        columns = ("Queue, flavor, resource", "Nominal", "Reserved", "Borrowed", "In use", "Drawn, and what to note")
        return table("Quota by cohort, queue and flavor", columns, self._lines(), "rows")

    def _lines(self) -> Iterator[Line]:
        stack = [(node, 0) for node in reversed(self._trees())]
        while stack:
            node, depth = stack.pop()
            yield replace(node.head, depth=depth)
            yield from (replace(line, depth=depth + 1) for line in node.lines)
            stack += [(child, min(depth + 1, _DEPTH)) for child in reversed(_sorted(node.below))]

    def _trees(self) -> list[Node]:
        """The nodes at the top, what has the worst finding in it first. Cohorts of a circle all stand at the top."""
        parent_of = {row.name: row.parent for row in self._cohorts if row.parent and row.name not in (row.cycle or ())}
        together = self._together(parent_of)
        cohorts = {row.name: self._cohort(row, together.get(row.name, {})) for row in self._cohorts}
        tops: list[Node] = []
        for row in self._queues:
            node = self._queue(row)
            (cohorts[row.cohort].below if row.cohort in cohorts else tops).append(node)
            _raise(node.worst, row.cohort, cohorts, parent_of)
        for name, node in cohorts.items():
            parent = parent_of.get(name)
            (cohorts[parent].below if parent in cohorts else tops).append(node)
            _raise(node.worst, parent, cohorts, parent_of)
        return _sorted(tops)

    def _together(self, parent_of: dict[str, str]) -> dict[str, dict[tuple[str, str], _Sum]]:
        """What the members of each cohort have and hold together, by flavor and resource."""
        sums: dict[str, dict[tuple[str, str], _Sum]] = {}
        members = [(row.name, row.cohort, "ClusterQueue") for row in self._queues]
        members += [(row.name, row.name, "Cohort") for row in self._cohorts]
        for name, cohort, kind in members:
            above = cohort
            for _ in range(_DEPTH):
                if not above:
                    break
                for one in self._by_owner.get((kind, name), []):
                    key = (one.row.flavor, one.row.resource)
                    sums.setdefault(above, {}).setdefault(key, _Sum()).add(one)
                above = parent_of.get(above)
        return sums

    def _cohort(self, row: Row, together: dict[tuple[str, str], _Sum]) -> Node:
        finding = self._marks.of(GROUP, "Cohort", "", row.name)
        own = self._by_owner.get(("Cohort", row.name), [])
        note = sentences(
            f"its parents turn in a circle: {cut(', '.join(row.cycle))}" if row.cycle else "",
            listed((f"{flavor} · {resource}: {one.words(resource)}" for (flavor, resource), one in together.items()), _TOLD),
            "" if row.object_id is not None else "no object of its own",
        )
        below = plural(row.queues, "queue") if row.queues else "no queue of its own"
        head = Line((machine(row.name, f"cohort, {below}"), *(Cell(),) * 4, words(note)), finding)
        return Node("Cohort", row.name, head, [self._line(one, "", first=False) for one in own], self._marks.rank(finding))

    def _queue(self, row: Row) -> Node:
        finding = self._marks.of(GROUP, "ClusterQueue", "", row.name)
        own = self._by_owner.get(("ClusterQueue", row.name), [])
        state = "" if row.state in (None, "Active") else f"{row.state}: figures may be stale"
        if not own:
            head = Line((machine(row.name), *(Cell(),) * 4, words(sentences(state, "no quota"))), finding)
            return Node("ClusterQueue", row.name, head, [], self._marks.rank(finding))
        first, *rest = [self._line(one, state, first=index == 0) for index, one in enumerate(own)]
        head = replace(first, finding=finding or first.finding)
        ranks = [self._marks.rank(line.finding) for line in (head, *rest)]
        return Node("ClusterQueue", row.name, head, rest, min(ranks))

    def _line(self, one: Amounts, state: str, *, first: bool) -> Line:
        """A quota; the first of a queue stands in the line of the queue itself."""
        row = one.row
        finding = self._marks.of(GROUP, "ResourceFlavor", "", row.flavor)
        counted = row.kind == "ClusterQueue"
        what = f"{row.flavor} · {row.resource}"
        return Line(
            (
                machine(row.name, what) if first else machine(what),
                _figure(row.nominal, known=True),
                _figure(row.reserved, known=counted),
                _figure(row.borrowed, known=counted),
                _figure(row.used, known=counted),
                Cell(below=sentences(state if first else "", *_notes(one)), drawing=_bar(self._scales[row.resource], one)),
            ),
            finding,
        )

    def flavors(self) -> Table | None:
        """What queues promise of each flavor, beside what its nodes offer."""
        by_flavor = grouped(self._amounts, lambda one: (one.row.flavor, one.row.resource))
        lines = [self._flavor(flavor, resource, found) for (flavor, resource), found in by_flavor.items()]
        if not lines:
            return None
        columns = ("Flavor, resource", "Promised", "Reserved", "Nodes offer", "Nodes", "What to note")
        return table("Flavors: quota promised, beside what the nodes offer", columns, self._marks.ranked(lines), "flavors")

    def _flavor(self, flavor: str, resource: str, found: list[Amounts]) -> Line:
        row = found[0].row
        promised = [one.nominal for one in found]
        offered = found[0].offered
        total = _sum(promised)
        over = total is not None and offered is not None and total > offered
        note = sentences(
            f"quota promises {float(total / offered):.1f} times what the nodes have" if over and total and offered else "",
            "quota promises it, and no node has it" if over and not offered else "",
            f"no new pods on {plural(row.closed_nodes, 'node')} of them" if row.closed_nodes else "",
        )
        offers = unknown("cannot tell", row.why or "") if row.offered is None else number(row.offered)
        cells = (
            machine(flavor, resource),
            _total(resource, promised),
            _total(resource, [one.reserved for one in found if one.row.kind == "ClusterQueue"]),
            offers,
            unknown("cannot tell") if row.nodes is None else number(row.nodes),
            words(note),
        )
        return Line(cells, self._marks.of(GROUP, "ResourceFlavor", "", flavor))


def _sorted(nodes: list[Node]) -> list[Node]:
    """What has the worst finding first, cohorts before queues, then by name."""
    return sorted(nodes, key=lambda node: (node.worst, node.kind != "Cohort", node.name))


def _figure(text: str | None, *, known: bool) -> Cell:
    """An amount; `known` says that nothing means "not said", else it does not apply."""
    if text is None:
        return unknown("not said") if known else Cell()
    return number(text)


def _raise(worst: int, name: str | None, cohorts: dict[str, Node], parent_of: dict[str, str]) -> None:
    """A finding deep in a tree brings all that it lies in to the top."""
    for _ in range(_DEPTH):
        node = cohorts.get(name or "")
        if node is None or node.worst <= worst:
            return
        node.worst = worst
        name = parent_of.get(node.name)


def _sum(values: list[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) if len(known) == len(values) else None


def _total(resource: str, values: list[Fraction | None]) -> Cell:
    total = _sum(values)
    return unknown("not said") if total is None else number(show(resource, total))


def _notes(one: Amounts) -> Iterator[str]:
    """What the numbers of a line mean."""
    row = one.row
    if row.borrowed not in (None, "0"):
        yield f"{row.borrowed} borrowed, {row.share} % of its quota" if row.share else f"{row.borrowed} borrowed"
    if one.reserved is not None and one.used is not None and one.reserved > one.used:
        yield "part of it waits for checks"
    elif one.nominal and one.reserved is not None and row.share is not None and row.share >= 100 and row.borrowed in (None, "0"):
        yield "all reserved"
    if row.borrowing_limit is not None:
        yield f"may borrow {row.borrowing_limit}" if row.borrowing_limit != "0" else "may not borrow"
    if row.lending_limit is not None:
        yield f"lends {row.lending_limit}" if row.lending_limit != "0" else "lends nothing"
    if row.offered is not None and one.nominal is not None and one.offered is not None and one.nominal > one.offered:
        yield f"nodes offer {row.offered}"
    if row.offered is None and row.flavor_id is None and row.why:
        yield row.why
