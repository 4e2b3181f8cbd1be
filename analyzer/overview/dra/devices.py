"""Every device that drivers publish (ResourceSlices): what it is, who holds it, what keeps pods from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import orjson

from analyzer.engine.sections import Cell, Section, Table, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.facts.whole import Whole
from analyzer.overview.marks import Marks, table
from analyzer.overview.nodenames import Named, folded, natural
from analyzer.overview.read import Row, cut, grouped, rows, sentences, users
from analyzer.render.words import listed, plural

if TYPE_CHECKING:
    import duckdb

GROUP: Final = "resource.k8s.io"
UNFOLDED: Final = 24
"""Up to so many devices each have a row of their own."""
QUERY: Final = (
    "SELECT driver, pool, device, state, message, node, place, attributes, capacity, claims, taken_by, admin_claims, taints, "
    "counters, shared FROM devices ORDER BY driver, pool, device"
)
_DEVICES: Final = """
SELECT d.*, o.name AS slice, p.complete FROM devices d LEFT JOIN objects o ON o.object_id = d.slice_id
LEFT JOIN device_pools p ON p.input = d.input AND p.driver = d.driver AND p.pool = d.pool
"""
# A device that is allocated, and that no slice of its pool has any more.
_GONE: Final = """
SELECT h.driver, h.pool, h.device, list(c.namespace || '/' || c.name ORDER BY c.namespace, c.name) AS claims,
    bool_and(h.admin) AS admin
FROM claim_devices h JOIN claims c USING (object_id)
WHERE NOT EXISTS (
    SELECT 1 FROM devices d WHERE d.input = c.input AND d.driver = h.driver AND d.pool = h.pool AND d.device = h.device)
GROUP BY ALL ORDER BY ALL
"""
_POOLS: Final = "SELECT * FROM device_pools ORDER BY driver, pool"
_COLUMNS: Final = ("Device", "State", "Held by", "Where", "What it is", "Taints, sharing")
# Attributes that tell people what a device is, by the ending of their name; in this order.
_MATTER: Final[tuple[str, ...]] = (
    "type", "productName", "model", "family", "product", "profile", "architecture", "uuid", "memory", "driverVersion", "pciBusID",
    "pciAddress", "ifName", "rdma", "numaNode", "parentUUID",
)  # fmt: skip
_SHOWN: Final = 5
"""Attributes of a device that are shown."""
_OWN: Final = re.compile(r"uuid|serial|pci|ifName|\bmac\b|address|index|minor", re.IGNORECASE)
"""Attributes that are a device's own: alike devices differ in them."""
_POOLS_NAMED: Final = 5


def section(con: duckdb.DuckDBPyConnection, marks: Marks) -> Section | None:
    """The section, None where no driver publishes a pool."""
    pools = list(rows(con, _POOLS))
    if not pools:
        return None
    devices = sorted(rows(con, _DEVICES), key=lambda one: (one.driver, natural(one.pool), natural(one.device)))
    used = users(con)
    one_reason = bool(_why(devices))
    found = [_named(device, used, marks, said=not one_reason) for device in devices]
    # Those that are not plainly allocated or free are what a reader looks for.
    order = sorted(zip(devices, found, strict=True), key=lambda pair: (marks.rank(pair[1].row.finding), _interest(pair[0])))
    lines = [*_gone(con), *folded((one for _, one in order), UNFOLDED, "devices")]
    shown = [table("Devices", _COLUMNS, lines, "rows")] if lines else []
    notes = (*_why(devices), *_silent(con), *_notes(pools, {(one.input, one.driver, one.pool) for one in devices}))
    return Section(
        "devices", "Devices (Dynamic Resource Allocation)", _small(devices), (_drivers(pools, devices), *shown), notes, QUERY
    )


def _interest(device: Row) -> int:
    if device.taints:
        return 0
    return {"Cannot tell": 1, "Allocated": 2}.get(device.state, 3)


def _small(devices: list[Row]) -> str:
    states = [(sum(one.state == state for one in devices), word) for state, word in _STATES]
    return ", ".join([plural(len(devices), "device"), *(f"{count:,} {word}" for count, word in states if count)])


_STATES: Final = (("Allocated", "allocated"), ("Free", "free"), ("Cannot tell", "cannot be told"))


def _why(devices: list[Row]) -> list[str]:
    """Why it cannot be told what is free, where one reason holds for all."""
    reasons = {one.message for one in devices if one.state == "Cannot tell" and one.message}
    return [f"Which devices are free cannot be told: {cut(reason)}." for reason in reasons] if len(reasons) == 1 else []


def _silent(con: duckdb.DuckDBPyConnection) -> Iterable[str]:
    """Nodes whose plugin of a driver runs and publishes nothing."""
    found = grouped(rows(con, "SELECT driver, node FROM dra_silent_plugins ORDER BY driver, node"), lambda one: one.driver)
    for driver, own in found.items():
        nodes = [one.node for one in own]
        yield f"Not listed: the devices of {driver} on {listed(nodes, _POOLS_NAMED)}. Its plugin runs there and publishes none."


def _notes(pools: list[Row], filled: set[tuple[int, str, str]]) -> Iterable[str]:
    empty = [
        f"{pool.pool} of {pool.driver}" for pool in pools if pool.complete and (pool.input, pool.driver, pool.pool) not in filled
    ]
    if empty:
        yield f"No device is published in pool {listed(empty, _POOLS_NAMED)}: its driver says that it sees none."
    broken = [pool for pool in pools if not pool.complete]
    for pool in broken[:_POOLS_NAMED]:
        if pool.invalid:
            yield f"Pool {pool.pool} of {pool.driver} contradicts itself: {cut(pool.invalid)}. The scheduler does not use it."
        elif pool.wanted is None:
            yield f"Pool {pool.pool} of {pool.driver} does not say how many slices it has."
        else:
            yield (
                f"Pool {pool.pool} of {pool.driver} is not complete: {pool.slices} of {plural(pool.wanted, 'slice')} are there, "
                "so it cannot be told what in it is free."
            )
    if len(broken) > _POOLS_NAMED:
        yield f"{plural(len(broken) - _POOLS_NAMED, 'more pool')} of which not all is there or that contradict themselves."
    yield "Which devices a selector (CEL) would match only the scheduler can say; nothing here evaluates it."


def _drivers(pools: list[Row], devices: list[Row]) -> Table:
    """A row a driver: ten seconds' look at what there is."""
    lines = []
    for driver in dict.fromkeys(pool.driver for pool in pools):
        own, had = [one for one in devices if one.driver == driver], [one for one in pools if one.driver == driver]
        partial = sum(not pool.complete for pool in had)
        counts = [sum(one.state == state for one in own) for state, _ in _STATES]
        cells = (
            machine(driver),
            number(f"{len(had):,}", f"{partial:,} not complete" if partial else ""),
            number(f"{len(own):,}"),
            *(number(f"{count:,}") if count else words("") for count in counts),
            number(f"{sum(bool(one.taints) for one in own):,}") if any(one.taints for one in own) else words(""),
        )
        lines.append(Line(cells))
    columns = ("Driver", "Pools", "Devices", "Allocated", "Free", "Cannot tell", "Tainted")
    return table("Drivers", columns, lines, "drivers")


def _named(device: Row, used: dict[str, list[str]], marks: Marks, *, said: bool) -> Named:
    attributes = _json(device.attributes) | _json(device.capacity)
    finding = marks.of(GROUP, "ResourceSlice", None, device.slice) if device.taints else None
    behind = (_state(device, said=said), _held(device, used), machine(device.node or device.place or ""))
    last = _marks(device)
    what, alike = _what(attributes), _what({key: value for key, value in attributes.items() if not _OWN.search(key)})
    row = Line((machine(device.device, f"{device.driver}, pool {device.pool}"), *behind, what, last), finding)
    # Alike devices stand as one row, those of many nodes too.
    plain = _held(device, {}) if not device.claims else words("one claim each" if len(device.claims) == 1 else "several claims")
    where = words("each on its node") if device.node else behind[2]
    same = (device.driver, behind[0], plain, where, alike, last)
    folded_row = Line((machine("", device.driver), behind[0], plain, where, alike, last))
    return Named(device.device, row, same, folded_row)


def _state(device: Row, *, said: bool) -> Cell:
    """The state; why it cannot be told stands below where it is `said` here and not in a note."""
    if device.state == "Cannot tell":
        return unknown("cannot tell", cut(device.message or "", 160) if said else "")
    return words("allocated" if device.state == "Allocated" else "free")


def _held(device: Row, used: dict[str, list[str]]) -> Cell:
    admin = f"admin access: {listed(device.admin_claims, 2)}" if device.admin_claims else ""
    if device.claims:
        pods = list(dict.fromkeys(pod for claim in device.claims for pod in used.get(claim) or ()))
        return machine(listed(device.claims, 2), sentences(f"used by {listed(pods, 2)}" if pods else "", admin))
    if device.taken_by:
        return words(f"what it shares with others is taken by {listed(device.taken_by, 2)}", admin)
    return words("nobody" if device.state == "Free" else "", admin)


def _what(attributes: dict[str, Any]) -> Cell:
    """The attributes that matter; where none is known to, the first."""
    named = {key.rpartition("/")[2]: value for key, value in sorted(attributes.items())}
    wanted = [key for key in _MATTER if key in named] or sorted(named)
    told = [f"{key} {cut(_plain(named[key]), 80)}" for key in wanted[:_SHOWN]]
    return machine(", ".join(told))


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value[:_SHOWN])) if isinstance(value, list) else str(value)


def _json(text: str | None) -> dict[str, Any]:
    value = orjson.loads(text) if text else {}
    return value if isinstance(value, dict) else {}


def _marks(device: Row) -> Cell:
    shared = "several claims may hold it" if device.shared else ""
    counters = f"takes {listed(device.counters, 2)}" if device.counters else ""
    return machine(listed(device.taints, 3), sentences(shared, counters)) if device.taints else words(sentences(shared, counters))


def _gone(con: duckdb.DuckDBPyConnection) -> list[Line]:
    """Devices that claims hold and that no slice has."""
    listed_whole = Whole.read(con).has(GROUP, "ResourceSlice")
    return [
        Line(
            (
                machine(row.device, f"{row.driver}, pool {row.pool}"),
                words("published no more") if listed_whole else unknown("no slice of it in the bundle"),
                machine(listed(row.claims, 2), "admin access" if row.admin else ""),
                unknown("cannot tell"),
                words(""),
                words(""),
            )
        )
        for row in rows(con, _GONE)
    ]
