"""What reports of `nvidia-bug-report.sh`, and `nvidia-smi -q` in any log, say about a host and its GPUs.

Taken is only what one line says by itself: names and versions. Serial numbers are left where they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from analyzer.facts.gpu.log_hosts import Hosts
from analyzer.facts.gpu.xid_lines import pci
from analyzer.facts.rows import insert_rows

_REPORTS = """
SELECT log_id,
    any_value(json_extract_string(fields, '$.kernel')) FILTER (signature = 'gpu/bug-report-host'),
    any_value(json_extract_string(fields, '$.version')) FILTER (signature = 'gpu/bug-report-driver'),
    any_value(json_extract_string(fields, '$.version')) FILTER (signature = 'gpu/bug-report-client'),
    any_value(json_extract_string(fields, '$.host')) FILTER (signature = 'gpu/bug-report-host')
FROM log_hits WHERE signature IN ('gpu/bug-report-host', 'gpu/bug-report-driver', 'gpu/bug-report-client')
GROUP BY log_id ORDER BY log_id
"""
_GPUS = """
SELECT log_id, line, signature = 'gpu/smi-gpu', json_extract_string(fields, ['$.pci', '$.key', '$.value']) FROM log_hits
WHERE signature IN ('gpu/smi-gpu', 'gpu/smi-field') ORDER BY log_id, line
"""
_PROC = """
SELECT log_id, line, json_extract_string(fields, '$.pci'), "after" FROM log_hits
WHERE signature = 'gpu/proc-gpu' ORDER BY log_id, line
"""
_IN_PROC = {"Model": "product", "GPU UUID": "uuid", "GPU Firmware": "firmware", "Device Minor": "minor"}
_COLUMNS = {"Product Name": "product", "GPU UUID": "uuid", "GSP Firmware Version": "firmware"}
_EMPTY: dict[str, Any] = dict.fromkeys(("product", "uuid", "firmware", "minor", "recovery", "recovery_line"))
_RECOVERY = "GPU Recovery Action"
_NOTHING = "N/A"
_NO_RECOVERY = "None"

MOST_LINES = 1000
"""What stands farther behind the line where a GPU begins is not about it: nvidia-smi prints a third of that."""


@dataclass(slots=True)
class Reports:
    """The GPUs that logs tell, by log, in the order of their lines: those of `nvidia-smi -q`, and all by their address.

    The kernel module (below /proc/driver/nvidia) knows those too that nvidia-smi does not reach any more.
    """

    gpus: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    known: dict[int, dict[str, dict[str, Any]]] = field(default_factory=dict)
    whole: frozenset[int] = frozenset()
    """The logs that are reports of nvidia-bug-report.sh: what nvidia-smi says there is newer than the kernel's lines there."""

    def cleared(self) -> set[tuple[int, str]]:
        """The GPUs (log of a report, PCI address) that need no recovery any more when the report was written."""
        last = {(log_id, one["pci"]): one["recovery"] for log_id in self.whole for one in self.gpus.get(log_id, ()) if one["pci"]}
        return {gpu for gpu, recovery in last.items() if recovery == _NO_RECOVERY}

    def gpu_above(self, log_id: int, line: int) -> str | None:
        """The PCI address of the GPU that a line of the output of `nvidia-smi -q` is about.

        None where it is too far below one to be about it.
        """
        found = self.gpus.get(log_id, [])
        at = bisect_right(found, line, key=lambda one: int(one["line"])) - 1
        return found[at]["pci"] if at >= 0 and line - found[at]["line"] <= MOST_LINES else None

    def uuids(self) -> dict[tuple[int, str], str]:
        """The UUIDs of PCI addresses, by the log that tells them."""
        return {
            (log_id, address): one["uuid"]
            for log_id, found in self.known.items()
            for address, one in found.items()
            if one["uuid"]
        }


def derive(con: duckdb.DuckDBPyConnection, hosts: Hosts) -> Reports:
    """Fills `bug_reports` and `bug_report_gpus` and gives the GPUs; needs `log_hits`."""
    rows = []
    for log_id, kernel, driver, client, host in con.execute(_REPORTS).fetchall():
        where = hosts.where(log_id, host)
        rows.append(
            {
                "log_id": log_id,
                "input": hosts.input(log_id),
                "node_id": where.node_id,
                "host": host,
                "kernel": kernel,
                "driver": driver,
                "client": client,
            }
        )
    insert_rows(con, "bug_reports", rows)
    gpus = _gpus(con)
    reports = Reports(gpus, _known(gpus, _of_module(con)), frozenset(row["log_id"] for row in rows))
    unnamed = (one for found in gpus.values() for one in found if not one["pci"])
    insert_rows(con, "bug_report_gpus", (*(one for found in reports.known.values() for one in found.values()), *unnamed))
    return reports


def _of_module(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """What the kernel module says of each GPU."""
    for log_id, line, address, below in con.execute(_PROC).fetchall():
        told: dict[str, Any] = {}
        for text in (below or "").split("\n"):
            name, colon, value = text.partition(":")
            if text.startswith("___") or (text.startswith("***") and not text.startswith("*** ls:")):
                break
            column = _IN_PROC.get(name)
            # Of a GPU that is lost the module may know no more than question marks.
            if colon and column and value.strip() not in ("", _NOTHING) and "?" not in value:
                told.setdefault(column, value.strip()[:80])
        minor = told.pop("minor", "")
        yield (
            _EMPTY
            | told
            | {
                "log_id": log_id,
                "line": line,
                "pci": pci(address),
                "minor": int(minor) if minor.isascii() and minor.isdigit() and len(minor) < 5 else None,
            }
        )


def _known(gpus: Mapping[int, list[dict[str, Any]]], module: Iterable[dict[str, Any]]) -> dict[int, dict[str, dict[str, Any]]]:
    """All GPUs by log and address, in the order of their addresses where the module tells them; nvidia-smi's words come first."""
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for one in module:
        if one["pci"]:
            found.setdefault(one["log_id"], {})[one["pci"]] = one
    for log_id, listed in gpus.items():
        known = found.setdefault(log_id, {})
        for one in listed:
            if one["pci"]:
                known[one["pci"]] = known.get(one["pci"], {}) | {name: value for name, value in one.items() if value is not None}
    return {log_id: {address: _EMPTY | one for address, one in known.items()} for log_id, known in found.items()}


def _gpus(con: duckdb.DuckDBPyConnection) -> dict[int, list[dict[str, Any]]]:
    gpus: dict[int, list[dict[str, Any]]] = {}
    for log_id, line, begins, (address, key, value) in con.execute(_GPUS).fetchall():
        found = gpus.setdefault(log_id, [])
        if begins:
            found.append(_EMPTY | {"log_id": log_id, "line": line, "pci": pci(address)})
        elif found and key == _RECOVERY and value != _NOTHING and found[-1]["recovery"] is None:
            found[-1] |= {"recovery": value, "recovery_line": line}
        elif found and key in _COLUMNS and value != _NOTHING and found[-1][_COLUMNS[key]] is None:
            found[-1][_COLUMNS[key]] = value
    return gpus
