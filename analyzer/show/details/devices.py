"""Devices that drivers publish: a ResourceSlice and its pool, one device, taint rules, and the devices of a Node."""

from __future__ import annotations

from typing import Any

import duckdb
import orjson

from analyzer.facts.values import mapping
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.details.dra import used_by_none
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, one, read_json, rows

GROUP = "resource.k8s.io"
_MANY = 40
_TONES: dict[str, Tone] = {"Cannot tell": "warning"}
_EFFECTS = {
    "NoSchedule": "no new claim gets it, unless it tolerates that",
    "NoExecute": "no new claim gets it, and pods that use it are deleted, unless their claims tolerate that",
    "None": "it only informs",
}


def pool(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pool that a slice belongs to, and whether all of it is there."""
    spec = it.spec
    named = mapping(spec.get("pool"))
    driver, name = words.short(spec.get("driver"), 120), words.short(named.get("name"), 120)
    facts: list[Item] = [Fact("Driver", driver or "not named"), Fact("Pool", name or "not named")]
    row = one(
        con,
        "SELECT * FROM device_pools WHERE input = ? AND driver = ? AND pool = ?",
        it.input,
        str(spec.get("driver")),
        str(named.get("name")),
    )
    if row is None:
        return Section("Pool", tuple(facts))
    generation = named.get("generation")
    old = isinstance(generation, int) and not isinstance(generation, bool) and generation < row["generation"]
    facts.append(
        Fact("Generation", f"{words.short(generation, 20)}: outdated, the pool is at {row['generation']}", "warning")
        if old
        else Fact("Generation", str(row["generation"]))
    )
    wanted = "an unknown number" if row["wanted"] is None else report_words.number(row["wanted"])
    facts.append(Fact("Slices", f"{report_words.number(row['slices'])} of {wanted}", "" if row["complete"] else "warning"))
    if row["invalid"]:
        facts.append(Fact("Contradiction", words.short(row["invalid"], words.QUOTE), "error"))
    if row["node"]:
        facts.append(Fact("Node", words.thing("", "Node", "", row["node"])))
    return Section("Pool", tuple(facts))


def of_slice(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The devices of a slice."""
    return _table(con, "d.slice_id = ?", it.id)


def of_node(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The devices that drivers publish for a Node."""
    query = "d.input = ? AND d.node = ?"
    return _table(con, query, it.input, it.name)


def _table(con: duckdb.DuckDBPyConnection, condition: str, *values: object) -> Section:
    found = list(
        rows(con, f"SELECT d.* FROM devices d WHERE {condition} ORDER BY d.driver, d.pool, d.idx, d.device", *values)  # noqa: S608
    )
    lines = tuple(
        (
            words.short(row["device"], 100),
            words.short(row["driver"], 100),
            row["state"],
            _held(row),
            words.some([words.short(taint, 120) for taint in row["taints"]], 2),
        )
        for row in found[:_MANY]
    )
    tones: tuple[Tone, ...] = tuple("warning" if row["taints"] else _TONES.get(row["state"], "") for row in found[:_MANY])
    items: list[Item] = [Table(("device", "driver", "state", "held by", "taints"), lines, tones)] if lines else []
    items += words.more(len(found), _MANY, "device")
    return Section("Devices", tuple(items))


def _held(row: dict[str, Any]) -> str:
    return words.short(row["message"], words.QUOTE)


def device(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """One device: what it is, who holds it, what it shares with others, its taints."""
    row = one(con, "SELECT * FROM devices WHERE name = ?", it.name)
    if row is None:
        return Section("Device")
    facts: list[Item] = [
        Fact("State", f"{row['state']}{f': {_held(row)}' if row['message'] else ''}", _TONES.get(row["state"], ""))
    ]
    facts.append(Fact("Where", words.short(row["place"], words.QUOTE) or "not said"))
    if published := one(con, "SELECT name FROM objects WHERE object_id = ?", row["slice_id"]):
        facts.append(Fact("Published in", words.thing(GROUP, "ResourceSlice", "", published["name"])))
    for label, key in (("Admin access", "admin_claims"), ("Shared counters", "counters"), ("Taints", "taints")):
        if row[key]:
            facts.append(
                Fact(label, words.some([words.short(value, 160) for value in row[key]], 10), "warning" if key == "taints" else "")
            )
    if row["shared"]:
        facts.append(Fact("Sharing", "several claims may hold it at a time"))
    for label, key in (("attribute", "attributes"), ("capacity", "capacity")):
        told = mapping(orjson.loads(row[key]) if row[key] else None)
        lines = tuple((words.short(name, 120), _value(value)) for name, value in list(told.items())[:_MANY])
        if lines:
            facts.append(Table((label, "value"), lines))
    return Section("Device", tuple(facts))


def _value(value: Any) -> str:
    if isinstance(value, list):
        return words.some([words.short(one_of, 100) for one_of in value], 10)
    return ("true" if value else "false") if isinstance(value, bool) else words.short(value, 300)


def users(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The claims that hold a device, with the pods that use them."""
    row = one(con, "SELECT * FROM devices WHERE name = ?", it.name)
    if row is None:
        return Section("Held by")
    names = [*row["claims"], *row["taken_by"], *row["admin_claims"]]
    query = (
        "SELECT c.namespace, c.name, c.state, c.users, o.json FROM claims c JOIN objects o USING (object_id) "
        "WHERE c.input = ? AND list_contains(?, c.namespace || '/' || c.name) ORDER BY c.namespace, c.name LIMIT 50"
    )
    lines = tuple(
        (
            words.thing(GROUP, "ResourceClaim", claim["namespace"], claim["name"]),
            claim["state"],
            words.some([words.short(user, 120) for user in claim["users"] or ()]) or used_by_none(con, read_json(claim["json"])),
        )
        for claim in rows(con, query, row["input"], names)
    )
    return Section("Held by", (Table(("claim", "state", "used by"), lines),) if lines else ())


def taint(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """A DeviceTaintRule: its taint, what that does, and to which devices and claims."""
    row = one(con, "SELECT * FROM device_taints WHERE source_id = ?", it.id)
    if row is None:
        none = (
            ()
            if "deviceSelector" in it.spec
            else (Text("It is for no device: it has no deviceSelector (an empty one is for all)."),)
        )
        return Section("Taint", none)
    named = [f"{label} {words.short(row[label], 120)}" for label in ("driver", "pool", "device") if row[label]]
    value = f"={row['value']}" if row["value"] else ""
    facts: list[Item] = [
        Fact("Taint", words.short(f"{row['key']}{value}:{row['effect']}", 200), "" if row["effect"] == "None" else "warning"),
        Fact("Effect", _EFFECTS.get(row["effect"], "not known")),
        Fact("On devices of", ", ".join(named) or "any driver"),
    ]
    if row["narrowed"]:
        told = f"only those of {words.short(row['narrowed'], words.QUOTE)}; cannot tell which of these devices are meant"
        facts.append(Fact("Selected by", told))
    if row["since"]:
        facts.append(Fact("Since", words.since(row["since"], it.as_of)))
    if row["words"]:
        facts.append(Fact("Means", words.short(row["words"])))
    query = (
        "SELECT d.name, d.state, d.message FROM devices d WHERE d.input = ? AND (? IS NULL OR d.driver = ?) "
        "AND (? IS NULL OR d.pool = ?) AND (? IS NULL OR d.device = ?) ORDER BY d.state, d.name"
    )
    keys = [row[name] for name in ("driver", "driver", "pool", "pool", "device", "device")]
    found = list(rows(con, query, it.input, *keys))
    lines = tuple((words.short(one_of["name"], 300), one_of["state"], _held(one_of)) for one_of in found[:_MANY])
    if lines:
        facts.append(Table(("device", "state", "held by"), lines))
    facts += words.more(len(found), _MANY, "device")
    if not found:
        facts.append(Text("no device of the bundle's slices"))
    return Section("Taint", tuple(facts))


DETAILS: DetailsTable = {
    (GROUP, "ResourceSlice"): (pool, of_slice),
    (GROUP, "Device"): (device, users),
    (GROUP, "DeviceTaintRule"): (taint,),
    ("", "Node"): (of_node,),
}
