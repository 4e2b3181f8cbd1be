"""Xid errors by GPU and boot, and below each GPU its codes: what they mean, and whether they are cause or consequence."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from analyzer.engine.coverage import aware
from analyzer.engine.sections import Cell, Section, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.facts.gpu.xid_gpus import NOTHING
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import Row, cut, grouped, measured, rows
from analyzer.render.words import listed, plural, when

if TYPE_CHECKING:
    import duckdb

QUERY: Final = (
    "SELECT g.node, g.gpu, g.boot, e.code, e.class, e.name, e.part, count(*) AS lines, min(e.at) AS first, max(e.at) AS last, "
    "any_value(g.recovery) AS recovery FROM xid_gpus g JOIN xid_events e USING (gpu_id) GROUP BY ALL ORDER BY ALL"
)
_GPUS: Final = """
SELECT * FROM xid_gpus ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
    boot DESC, last_at DESC NULLS LAST, node, gpu, gpu_id
"""
# Logs repeat one another: a code was seen as often as in the log that has most of it.
_CODES: Final = """
SELECT gpu_id, code, switch, name, action, cls, part, max(lines) AS lines, min(first_at) AS first_at, max(last_at) AS last_at,
    min(stamp) AS stamp, min(first_line) AS first_line, min(source) AS source
FROM (SELECT gpu_id, log_id, code, switch, name, action, class AS cls, part, count(*) AS lines,
        min(x.at) AS first_at, max(x.at) AS last_at,
        min(stamp) AS stamp, min(x.line) AS first_line, min(source) AS source FROM xid_events x GROUP BY ALL)
GROUP BY gpu_id, code, switch, name, action, cls, part
ORDER BY list_position(['cause', 'consequence', 'beside', 'verdict'], part), first_at, first_line, code
"""
_PARTS: Final = {
    "cause": "cause",
    "consequence": "consequence",
    "verdict": "the driver's verdict",
    "beside": "beside it; cannot tell",
}
_COLUMNS: Final = ("GPU and errors", "Times", "When", "Means", "What to do", "In the chain")
_GPUS_SHOWN: Final = 40
"""GPUs that are told; of more only the gravest."""


def section(con: duckdb.DuckDBPyConnection, marks: Marks) -> Section | None:
    """The section, None where no log tells an error of a GPU."""
    gpus = list(rows(con, _GPUS))
    if not gpus:
        return None
    codes = grouped(rows(con, _CODES), lambda row: row.gpu_id)
    as_of = measured(con)
    lines: list[Line] = []
    for gpu in gpus[:_GPUS_SHOWN]:
        own = codes.get(gpu.gpu_id, [])
        lines.append(_gpu(gpu, own, marks, as_of.get(gpu.input)))
        if len(own) > 1:
            lines += (_code(one, gpu, as_of.get(gpu.input)) for one in own)
    grave = sum(gpu.severity == "error" for gpu in gpus)
    small = f"{plural(sum(not gpu.switch for gpu in gpus), 'GPU')}" + (f", {grave} broken" if grave else "")
    notes = ["A code was seen as often as the log says that has most of it; logs repeat one another."]
    if any(gpu.node is None for gpu in gpus):
        notes.append("Where a log does not tell its node, the GPU stands without one.")
    if len(gpus) > _GPUS_SHOWN:
        notes.append(f"Not listed here: {plural(len(gpus) - _GPUS_SHOWN, 'more GPU')} with lesser errors.")
    if any(gpu.boot < 0 for gpu in gpus):
        notes.append(
            "Boots are counted as the logs show them: what came before the newest boot is past, but for what a boot cannot mend."
        )
    shown = table("Errors of each GPU, by boot of its node", _COLUMNS, lines, "rows")
    return Section("gpu-errors", "GPU errors in logs (Xid)", small, (shown,), tuple(notes), QUERY)


def _gpu(gpu: Row, codes: list[Row], marks: Marks, as_of: datetime | None) -> Line:
    place = gpu.node or gpu.host
    name = f"{place or 'node not told'}: {'GPU ' + str(gpu.slot) if gpu.slot is not None else gpu.gpu}"
    below = [
        gpu.gpu if gpu.slot is not None else "",
        "" if gpu.boot == 0 else plural(-gpu.boot, "boot") + " before the newest",
        f"{'held' if gpu.sure else 'the node is used'} by {listed(gpu.pods, 2)}" if gpu.pods else "",
    ]
    asks = f"the driver asks for: {gpu.recovery}" if gpu.recovery else ""
    if gpu.recovery == NOTHING:
        asks = "the driver asks for no recovery any more"
    cells = (
        machine(cut(name), ", ".join(part for part in below if part)),
        number(f"{'at least ' if gpu.least else ''}{gpu.events:,}"),
        _times(gpu, as_of),
        words(cut(gpu.name), gpu.verdict if gpu.verdict != "information" else ""),
        words(cut(gpu.action), asks),
        _chain(codes),
    )
    return Line(cells, marks.of("", "Node", None, place) if place else None)


def _chain(codes: list[Row]) -> Cell:
    """The only error of a GPU and what it is; of several, the one that leads."""
    if len(codes) == 1:
        return words(_PARTS.get(codes[0].part, ""), _label(codes[0]))
    return words(f"{len(codes)} codes", f"{_label(codes[0])} leads") if codes else words("")


def _label(one: Row) -> str:
    if one.code is None:
        return f"no code, from {one.source}"
    return f"{'SXid' if one.switch else 'Xid'} {one.code}"


def _code(one: Row, gpu: Row, as_of: datetime | None) -> Line:
    means = words(cut(one.name), one.cls)
    if one.cls == "unknown":
        means = unknown("cannot tell", cut(one.name))
    cells = (
        machine(_label(one)),
        number(f"{one.lines:,}"),
        _times(one, as_of),
        means,
        words(gpu.recovery or "" if one.part == "verdict" else cut(one.action) if one.part == "beside" else ""),
        words(_PARTS.get(one.part, "")),
    )
    return Line(cells, depth=1)


def _times(one: Row, as_of: datetime | None) -> Cell:
    """The first time and the last one; without a zone as the log has it."""
    if one.first_at is None:
        return machine(cut(one.stamp, 40), "as written") if one.stamp else unknown("no time")
    first, last = (when(aware(moment), aware(as_of)) for moment in (one.first_at, one.last_at))
    return words(first, f"last {last}" if last != first else "")
