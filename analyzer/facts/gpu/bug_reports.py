"""What reports of `nvidia-bug-report.sh`, and `nvidia-smi -q` in any log, say about a host and its GPUs.

Taken is only what one line says by itself: names and versions. Serial numbers are left where they are.
"""

from __future__ import annotations

from bisect import bisect_right
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
_COLUMNS = {"Product Name": "product", "GPU UUID": "uuid", "GSP Firmware Version": "firmware"}
_RECOVERY = "GPU Recovery Action"
_NOTHING = "N/A"
_NO_RECOVERY = "None"

MOST_LINES = 1000
"""What stands farther behind the line where a GPU begins is not about it: nvidia-smi prints a third of that."""


@dataclass(slots=True)
class Reports:
    """The GPUs that logs tell, by log, in the order of their lines."""

    gpus: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
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
            (log_id, one["pci"]): one["uuid"]
            for log_id, found in self.gpus.items()
            for one in found
            if one["uuid"] and one["pci"]
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
    reports = Reports(_gpus(con), frozenset(row["log_id"] for row in rows))
    insert_rows(con, "bug_report_gpus", (one for found in reports.gpus.values() for one in found))
    return reports


def _gpus(con: duckdb.DuckDBPyConnection) -> dict[int, list[dict[str, Any]]]:
    gpus: dict[int, list[dict[str, Any]]] = {}
    for log_id, line, begins, (address, key, value) in con.execute(_GPUS).fetchall():
        found = gpus.setdefault(log_id, [])
        if begins:
            empty: dict[str, Any] = dict.fromkeys([*_COLUMNS.values(), "recovery", "recovery_line"])
            found.append({"log_id": log_id, "line": line, "pci": pci(address)} | empty)
        elif found and key == _RECOVERY and value != _NOTHING and found[-1]["recovery"] is None:
            found[-1] |= {"recovery": value, "recovery_line": line}
        elif found and key in _COLUMNS and value != _NOTHING and found[-1][_COLUMNS[key]] is None:
            found[-1][_COLUMNS[key]] = value
    return gpus
