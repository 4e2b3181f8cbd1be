"""The health of each GPU as `nvidia-smi -q` and lspci tell it in logs and in reports of `nvidia-bug-report.sh`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from analyzer.facts.gpu.bug_reports import Reports
from analyzer.facts.gpu.log_hosts import Hosts
from analyzer.facts.gpu.smi_sections import NOT_TOLD, RESETS, Told, of_lspci, of_section
from analyzer.facts.gpu.xid_lines import pci
from analyzer.facts.rows import insert_rows

_SECTIONS = """
SELECT log_id, line, text, after, signature, json_extract_string(fields, ['$.section', '$.pci', '$.gone', '$.key', '$.value'])
FROM log_hits WHERE signature IN ('gpu/smi-section', 'gpu/smi-ecc', 'gpu/lspci-gpu')
    OR (signature = 'gpu/smi-field' AND json_extract_string(fields, '$.key') = 'GPU Recovery Action')
ORDER BY log_id, line
"""
_FIELDS = (
    "ecc_volatile",
    "ecc_aggregate",
    "sram_exceeded",
    "remapped_correctable",
    "remapped_uncorrectable",
    "remap_pending",
    "remap_failed",
    "retired_single",
    "retired_double",
    "retire_pending",
    "mig_current",
    "mig_pending",
    "slowdowns",
    "recovery",
    "fabric_state",
    "fabric_status",
    "link_width",
    "link_max",
    "lspci_width",
    "lspci_max",
)
_Gpu = tuple[int, str]


@dataclass(slots=True)
class Health:
    """What logs say of GPUs, by log and PCI address; of what is said several times the last."""

    gpus: dict[_Gpu, dict[str, Told]] = field(default_factory=dict)

    def newer(self, log_id: int, address: str | None, name: str, line: int) -> bool:
        """Whether the log says something else of the same GPU after the line."""
        told = self.gpus.get((log_id, address or ""), {}).get(name)
        return told is not None and told.line > line

    def pending(self, log_id: int, address: str | None, line: int) -> str | None:
        """What waits for a reset by a line of a GPU: rows that are to be remapped, or pages that are to be retired."""
        told = self.gpus.get((log_id, address or ""), {})
        return next((name for name in ("remap_pending", "retire_pending") if name in told and told[name].line == line), None)


def derive(con: duckdb.DuckDBPyConnection, hosts: Hosts, reports: Reports) -> Health:
    """Fills `gpu_health` and `gpu_health_lines` and gives what they hold; needs `log_hits`."""
    health = Health()
    for log_id, line, text, after, signature, (section, address, gone, key, value) in con.execute(_SECTIONS).fetchall():
        if signature == "gpu/lspci-gpu":
            named = pci(address)
            found = [] if gone else list(of_lspci(line, after or ""))
            _add(health, log_id, named, found)
        else:
            gpu = reports.gpu_above(log_id, line)
            told = _recovery(value, line, text) if key else of_section(section, line, text, after or "")
            _add(health, log_id, gpu, told)
    uuids = reports.uuids()
    insert_rows(con, "gpu_health", (_row(gpu, told, uuids, hosts) for gpu, told in health.gpus.items()))
    insert_rows(con, "gpu_health_lines", _lines(health))
    return health


def _recovery(value: str, line: int, text: str) -> list[Told]:
    return [] if value in NOT_TOLD else [Told("recovery", value, line, text)]


def _add(health: Health, log_id: int, address: str | None, found: Iterable[Told]) -> None:
    """What is said anew takes the place of what was said before."""
    if address:
        for told in found:
            health.gpus.setdefault((log_id, address), {})[told.field] = told


def _row(gpu: _Gpu, told: Mapping[str, Told], uuids: Mapping[_Gpu, str], hosts: Hosts) -> dict[str, Any]:
    log_id, address = gpu
    where = hosts.where(log_id, None)
    row: dict[str, Any] = {name: told[name].value if name in told else None for name in _FIELDS}
    asked = [name for field_name, name in RESETS.values() if field_name in told and told[field_name].value]
    row["recovery"] = row["recovery"] or (asked[-1] if asked else None)
    return row | {
        "log_id": log_id,
        "input": hosts.input(log_id),
        "node_id": where.node_id,
        "node": where.node or where.host,
        "pci": address,
        "uuid": uuids.get(gpu),
    }


def _lines(health: Health) -> Iterator[dict[str, Any]]:
    for (log_id, address), found in health.gpus.items():
        for told in found.values():
            yield {"log_id": log_id, "pci": address, "field": told.field, "line": told.line, "text": told.text.strip()}
