"""What logs say about the GPUs of a Node: errors of GPUs and switches by boot, driver, and the words of the layers above."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.render import gpu_health
from analyzer.render import words as report_words
from analyzer.render.escape import short_path
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Text, Tone
from analyzer.show.subject import DetailsTable, Subject, one, rows

_GPUS = 40
_LINES = 20
_WORDS = 8

_TONES: dict[str, Tone] = {"error": "error", "warning": "warning"}


def history(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Errors that logs tell of the Node's GPUs and switches, the newest boot first, with the lines of the graver ones."""
    found = list(
        rows(con, "SELECT * FROM xid_gpus WHERE node_id = ? ORDER BY boot DESC, severity, gpu LIMIT ?", it.id, _GPUS + 1)
    )
    if not found:
        return Section("GPU errors")
    table = Table(
        ("GPU", "boot", "errors", "what leads", "last", "driver asks for"),
        tuple(_line(row, it) for row in found[:_GPUS]),
        tuple(_TONES.get(row["severity"], "") for row in found[:_GPUS]),
    )
    items: list[Item] = [table]
    if len(found) > _GPUS:
        items.append(Text("More are in table xid_gpus."))
    query = (
        "SELECT e.line, f.path, any_value(h.text) AS text FROM xid_events e JOIN xid_gpus g USING (gpu_id) "
        "JOIN logs l ON l.log_id = e.log_id JOIN files f ON f.file_id = l.file_id "
        "JOIN log_hits h ON h.log_id = e.log_id AND h.line = e.line AND starts_with(h.signature, 'gpu/') "
        "WHERE g.node_id = ? AND g.verdict <> 'information' GROUP BY ALL ORDER BY f.path, e.line LIMIT ?"
    )
    items += [Text(f"{words.quoted(row['text'])} ({_place(row)})", 1) for row in rows(con, query, it.id, _LINES)]
    return Section("GPU errors", tuple(items))


def _line(row: dict[str, Any], it: Subject) -> tuple[str, ...]:
    boot = "newest" if row["boot"] == 0 else f"{-row['boot']} before"
    last = words.ago(row["last_at"], it.as_of) if row["last_at"] else words.short(row["stamp"]) or "at an unknown time"
    codes = words.some([words.short(code, 80) for code in row["codes"]], 6)
    return words.short(row["gpu"], 120), boot, codes, words.short(row["name"], 120), last, words.short(row["recovery"], 60)


def _place(row: dict[str, Any]) -> str:
    return report_words.place(short_path(words.short(row["path"], 600)), row["line"])


def report(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What a report of nvidia-bug-report.sh says of the Node's driver and GPUs."""
    row = one(con, "SELECT * FROM bug_reports WHERE node_id = ? ORDER BY log_id DESC LIMIT 1", it.id)
    if row is None:
        return Section("Report of nvidia-bug-report.sh")
    named = (("driver", "Driver (kernel module)"), ("client", "Driver (nvidia-smi)"), ("kernel", "Kernel"))
    facts: list[Item] = [Fact(name, words.short(row[key], 80)) for key, name in named if row[key]]
    gpus = list(rows(con, "SELECT * FROM bug_report_gpus WHERE log_id = ? ORDER BY line LIMIT ?", row["log_id"], _GPUS))
    if gpus:
        lines = tuple(tuple(words.short(gpu[key], 80) for key in ("pci", "uuid", "product", "firmware")) for gpu in gpus)
        facts.append(Table(("PCI", "UUID", "model", "firmware"), lines))
    return Section("Report of nvidia-bug-report.sh", tuple(facts))


def health(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What nvidia-smi -q and lspci say of the Node's GPUs: those of which there is something to say, with the lines."""
    items: list[Item] = []
    told = list(rows(con, "SELECT * FROM gpu_health WHERE node_id = ? ORDER BY log_id, pci LIMIT ?", it.id, _GPUS))
    for row in told:
        found = [(words_said, fields) for words_said, fields in gpu_health.told_of(row) if words_said]
        if not found:
            continue
        name = f"GPU {row['pci']}" + (f" ({words.short(row['uuid'], 80)})" if row["uuid"] else "")
        items.append(Text(f"{name}: {'; '.join(words.short(one, 160) for one, _ in found)}"))
        fields = [name for _, names in found for name in names]
        query = (
            "SELECT h.line, h.text, f.path FROM gpu_health_lines h "
            "JOIN logs l USING (log_id) JOIN files f ON f.file_id = l.file_id "
            "WHERE h.log_id = ? AND h.pci = ? AND list_contains(?, h.field) ORDER BY h.line LIMIT ?"
        )
        lines = rows(con, query, row["log_id"], row["pci"], fields, _WORDS)
        items += [Text(f"{words.quoted(line['text'])} ({_place(line)})", 1) for line in lines]
    return Section("GPU health (nvidia-smi -q, lspci)", tuple(items))


def stack(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Words about driver, runtime, fabric manager and plugins of the Node that still hold."""
    return _said(con, it, "w.node_id = ? AND w.topic NOT IN ('nccl', 'program')")


def of_pod(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Words of the Pod itself about GPUs that still hold."""
    return _said(con, it, "w.pod_id = ?")


def _said(con: duckdb.DuckDBPyConnection, it: Subject, which: str) -> Section:
    query = (
        "SELECT w.text, w.cause, w.line, f.path FROM gpu_words w "  # noqa: S608 - one of the two constants above
        "LEFT JOIN logs l USING (log_id) LEFT JOIN files f ON f.file_id = l.file_id "
        f"WHERE {which} AND w.fresh ORDER BY w.rank, w.log_id, w.line LIMIT ?"
    )
    items: list[Item] = []
    for row in rows(con, query, it.id, _WORDS):
        items.append(Text(words.quoted(row["text"]) + (f" ({_place(row)})" if row["path"] else "")))
        items.append(Text(f"Deduced: {words.short(row['cause'], words.QUOTE)}", 1))
    return Section("GPU software says", tuple(items))


DETAILS: DetailsTable = {("", "Node"): (history, health, report, stack), ("", "Pod"): (of_pod,)}
