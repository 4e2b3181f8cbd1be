"""GPUs: what a Node has of them, how it shares or cuts them, and what the MIG manager says."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.dra.gpus import ALL_NODES
from analyzer.render import words as report_words
from analyzer.render.escape import short_path
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, one, rows, whole

_WORDS = 5
_RESOURCES = 40
_HOLDERS = 12


def block(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What labels of the GPU Operator and of GPU feature discovery say of the Node; where none do, what DRA drivers publish."""
    row = one(con, f"SELECT * FROM ({ALL_NODES}) WHERE object_id = ?", it.id)  # noqa: S608 - a constant
    if row is None:
        return Section("GPUs")
    facts: list[Item] = [Fact("GPUs", _what(row))]
    if row["driver"] or row["cuda"]:
        said = [f"{name} {words.short(row[key], 60)}" for key, name in (("driver", "driver"), ("cuda", "CUDA up to")) if row[key]]
        facts.append(Fact("Software", ", ".join(said)))
    if row["drivers"]:
        drivers = words.some([words.short(name, 100) for name in row["drivers"]])
        told = ", by whose devices the model is told: the node is not labelled" if row["product"] and not row["labelled"] else ""
        facts.append(Fact("Published by", f"DRA driver {drivers}{told}"))
    for silent in rows(con, "SELECT driver, namespace, pod FROM dra_silent_plugins WHERE node_id = ? LIMIT 5", it.id):
        plugin = words.thing("", "Pod", silent["namespace"], silent["pod"])
        facts.append(
            Fact("Not published", f"{plugin} of DRA driver {words.short(silent['driver'], 100)} runs here, no slice", "warning")
        )
    if row["sharing"] and row["sharing"] != "none":
        facts.append(Fact("Shared by", f"{words.short(row['sharing'])}, {row['replicas'] or 'an unknown number of'} pods a GPU"))
    facts += _mig(con, row, it)
    if row["upgrade_state"]:
        facts.append(
            Fact("Driver upgrade", f"{words.quoted(row['upgrade_state'], 80)}, {words.since(row['upgrade_since'], it.as_of)}")
        )
    if row["workload_config"]:
        facts.append(Fact("For", words.quoted(row["workload_config"], 60)))
    if row["opt_outs"]:
        facts.append(Fact("Switched off", words.some([words.short(name, 80) for name in row["opt_outs"]], 10)))
    paused = [*(row["mig_paused"] or []), *(row["driver_paused"] or [])]
    if paused:
        facts.append(Fact("Paused", words.some([words.short(name, 80) for name in paused], 10), "warning"))
    if row["own_plugin"] is False and not row["drivers"]:
        facts.append(Fact("Offered by", "another than the GPU Operator's device plugin (a DRA driver, or it is switched off)"))
    return Section("GPUs", tuple(facts))


def _what(row: dict[str, Any]) -> str:
    """How many GPUs of which model; the label before what devices tell, since these may not all be in the bundle."""
    count = "an unknown number of" if row["count"] is None else report_words.number(row["count"])
    least = "at least " if row["count"] is not None and row["count"] == row["published"] and not row["complete"] else ""
    memory = f", {report_words.number(row['memory_mib'])} MiB each" if row["memory_mib"] is not None else ""
    return f"{least}{count} {words.short(row['product']) or 'GPUs of an unknown model'}{memory}"


def _mig(con: duckdb.DuckDBPyConnection, row: dict[str, Any], it: Subject) -> list[Item]:
    if not row["mig_capable"] and not row["mig_config"]:
        return []
    facts: list[Item] = [Fact("MIG strategy", words.short(row["mig_strategy"]) or "not set")]
    if row["mig_config"]:
        facts.append(Fact("MIG layout", words.quoted(row["mig_config"], 80)))
    if row["mig_state"]:
        tone: Tone = "error" if row["mig_state"] == "failed" else "" if row["mig_state"] == "success" else "warning"
        facts.append(Fact("MIG state", f"{words.quoted(row['mig_state'], 60)}, {words.since(row['mig_since'], it.as_of)}", tone))
        facts += _mig_manager(con, it)
    return facts


def _mig_manager(con: duckdb.DuckDBPyConnection, it: Subject) -> list[Item]:
    """Who changes the layout, and when it last said something: the label itself seldom has a time."""
    found = one(con, "SELECT pod, log_last_at FROM mig_managers WHERE object_id = ? AND pod IS NOT NULL", it.id)
    if found is None:
        return []
    namespace, _, name = found["pod"].partition("/")
    last = f", last line of its log {words.ago(found['log_last_at'], it.as_of)}" if found["log_last_at"] else ""
    return [Fact("MIG manager", f"{words.thing('', 'Pod', namespace, name)}{last}")]


def offered(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Devices per resource: registered, healthy, asked for by pods on the node."""
    found = list(rows(con, "SELECT * FROM gpu_resources WHERE object_id = ? ORDER BY resource", it.id))
    least = "" if whole(con, "", "Pod") else "at least "
    lines = tuple(
        (
            words.short(row["resource"], 80),
            _number(row["capacity"]),
            _number(row["allocatable"]),
            f"{least}{_number(row['requested'])}"
            if row["requested"] or not least
            else "cannot tell: pods were not collected whole",
        )
        for row in found[:_RESOURCES]
    )
    tones: tuple[Tone, ...] = tuple(
        "warning" if None not in (row["capacity"], row["allocatable"]) and row["allocatable"] < row["capacity"] else ""
        for row in found[:_RESOURCES]
    )
    return Section("GPU resources", (Table(("resource", "capacity", "allocatable", "asked for"), lines, tones),) if lines else ())


def _number(value: int | None) -> str:
    return "unknown" if value is None else report_words.number(value)


def differences(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What the node offers held against its MIG layout."""
    row = one(con, "SELECT * FROM mig_layouts WHERE object_id = ?", it.id)
    if row is None:
        return Section("MIG layout")
    if row["unknown"]:
        return Section(
            "MIG layout", (Text(f"Cannot tell whether it is as asked for: {words.short(row['unknown'], words.QUOTE)}"),)
        )
    items: list[Item] = [
        Text(f"Deduced: {words.short(one_of, words.QUOTE)}", tone="warning") for one_of in row["differences"] or []
    ]
    return Section("MIG layout", tuple(items))


def manager(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The lines of the MIG manager's log that tell most of the newest change."""
    query = (
        "SELECT w.*, f.path FROM mig_words w JOIN logs l USING (log_id) JOIN files f USING (file_id) "
        "WHERE w.object_id = ? ORDER BY w.rank LIMIT ?"
    )
    items: list[Item] = []
    for row in rows(con, query, it.id, _WORDS):
        where = report_words.place(short_path(words.short(row["path"], 600)), row["line"])
        items.append(Text(f"{words.quoted(row['text'])} ({where})"))
        told = [words.short(row[name], words.QUOTE) for name in ("cause", "remedy") if row[name]]
        if told:
            items.append(Text(f"Deduced: {'. '.join(told)}", 1))
    return Section("The MIG manager says", tuple(items))


def holders(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Which processes had GPUs of the node open when the bundle was collected, and of which pods they are."""
    title = "GPUs held by"
    told = one(con, "SELECT u.*, f.path FROM gpu_usages u JOIN files f USING (file_id) WHERE u.node_id = ?", it.id)
    if told is None:
        return Section(title)
    path = short_path(words.short(told["path"], 600))
    found = list(rows(con, "SELECT * FROM gpu_holders WHERE node_id = ? ORDER BY rank LIMIT ?", it.id, _HOLDERS))
    items: list[Item] = []
    for row in found:
        opened = words.some([words.short(name, 80) for name in [*(row["devices"] or []), *_only_smi(row)]], 10)
        tone: Tone = "warning" if row["stuck"] else ""
        items.append(Text(f"{words.short(row['words'], words.QUOTE)} ({report_words.place(path, row['line'])})", tone=tone))
        items.append(Text(f"opened: {opened or 'not told'}; runs for {words.short(row['elapsed'], 40) or 'an unknown time'}", 1))
        if row["args"]:
            items.append(Text(f"command line: {words.quoted(row['args'])}", 1))
        said = words.short(row["how"], words.QUOTE)
        pod = f"pod {words.short(row['pod'], words.QUOTE)}, since " if row["pod"] else ""
        items.append(Text(f"Deduced: {pod}{said}" if pod or row["part"] == "driver" else f"Cannot tell its pod: {said}", 1))
    if told["holders"] > len(found):
        items.append(Text(f"and {report_words.number(told['holders'] - len(found))} more (triage sql, table gpu_holders)"))
    if told["unknown"]:
        items.append(
            Text(f"Cannot tell whether there are {'others' if found else 'any'}: {words.short(told['unknown'], words.QUOTE)}")
        )
    elif not found:
        items.append(Text(f"no process, when the bundle was collected ({report_words.place(path, told['line'])})"))
    if told["mig_pending"]:
        where = report_words.place(path, told["mig_line"])
        text = (
            f"nvidia-smi shows a change of the MIG mode that has not taken effect on {told['mig_pending']} of {told['gpus']} GPUs"
        )
        items.append(Text(f"{text} ({where})", tone="warning"))
    return Section(title, tuple(items))


def _only_smi(row: dict[str, Any]) -> list[str]:
    """GPUs that a process uses by nvidia-smi, where no device file of it is known."""
    return [] if row["devices"] else [f"GPU {number} by nvidia-smi" for number in row["gpus"] or []]


def asks(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a Pod asks for of NVIDIA's resources."""
    found = list(rows(con, "SELECT * FROM gpu_requests WHERE object_id = ? ORDER BY resource", it.id))
    named = [f"{words.short(row['resource'], 80)} {_number(row['request'])}" for row in found]
    return Section("GPUs", (Text(f"asks for {words.some(named, 10)}"),) if named else ())


DETAILS: DetailsTable = {("", "Node"): (block, offered, differences, manager, holders), ("", "Pod"): (asks,)}
