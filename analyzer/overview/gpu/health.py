"""What nvidia-smi -q and lspci say of the health of GPUs: those of which there is something to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Row as Line
from analyzer.engine.sections import Section, machine, words
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import cut, rows
from analyzer.render.gpu_health import told_of
from analyzer.render.words import plural

if TYPE_CHECKING:
    import duckdb

QUERY: Final = (
    "SELECT h.*, f.path FROM gpu_health h JOIN logs l USING (log_id) JOIN files f ON f.file_id = l.file_id ORDER BY ALL"
)
_GPUS: Final = """
SELECT h.*, f.path FROM gpu_health h JOIN logs l ON l.log_id = h.log_id JOIN files f ON f.file_id = l.file_id
ORDER BY h.node NULLS LAST, f.path, h.pci
"""


def section(con: duckdb.DuckDBPyConnection, marks: Marks) -> Section | None:
    """The section, None where nothing is told that is not as it should be."""
    gpus = list(rows(con, _GPUS))
    lines = []
    for gpu in gpus:
        told = [said for said, _ in told_of(vars(gpu)) if said]
        if told:
            cells = (
                machine(cut(f"{gpu.node or 'node not told'}: {gpu.uuid or gpu.pci}"), gpu.pci if gpu.uuid else ""),
                words(cut(told[0]), cut("; ".join(told[1:]))),
                machine(cut(gpu.path)),
            )
            lines.append(Line(cells, marks.of("", "Node", None, gpu.node) if gpu.node else None))
    if not lines:
        return None
    rest = len(gpus) - len(lines)
    notes = ["The speed of a PCIe link says nothing and is not told: a GPU that idles lowers it."]
    if rest:
        notes.append(f"Of {plural(rest, 'more GPU')} these logs say nothing of the kind.")
    shown = table("GPUs of which nvidia-smi -q or lspci says something", ("GPU", "What they say", "Where"), lines, "rows")
    return Section("gpu-health", "GPU health (nvidia-smi -q, lspci)", plural(len(lines), "GPU"), (shown,), tuple(notes), QUERY)
