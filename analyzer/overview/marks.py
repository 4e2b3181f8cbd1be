"""Which findings are about which object: for rows that show their object's worst finding, and to put those first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzer.engine.model import Finding
from analyzer.engine.sections import FOLDED, SHOWN, Row, Table
from analyzer.render.words import RANK


class Marks:
    """The worst finding of each object, those that a folded finding lists among them."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._worst: dict[tuple[str, str, str, str], str] = {}
        self._rank: dict[str, int] = {}
        for finding in findings:
            rank = self._rank[finding.id] = RANK[finding.severity]
            for ref in (finding.object, *finding.objects):
                key = (ref.group, ref.kind, ref.namespace, ref.name)
                old = self._worst.get(key)
                if old is None or rank < self._rank[old]:
                    self._worst[key] = finding.id

    def of(self, group: str, kind: str, namespace: str | None, name: str | None) -> str | None:
        """The id of the worst finding about that object, None where there is none."""
        return self._worst.get((group, kind, namespace or "", name or ""))

    def rank(self, finding: str | None) -> int:
        """How bad a finding is, the worst being 0; without one the greatest of all."""
        return len(RANK) if finding is None else self._rank[finding]

    def ranked(self, rows: Iterable[Row]) -> list[Row]:
        """Rows with a finding first, the worst first; else in their own order. Not for rows that stand below one another."""
        return sorted(rows, key=lambda row: self.rank(row.finding))

    def in_blocks(self, blocks: Iterable[Sequence[Row]]) -> list[Row]:
        """The rows of blocks, none empty, whose rows stand below one another: the block with the worst finding first."""
        ordered = sorted(blocks, key=lambda block: min(self.rank(row.finding) for row in block))
        return [row for block in ordered for row in block]


def table(
    caption: str,
    columns: tuple[str, ...],
    rows: Iterable[Row],
    noun: str,
    shown: int = SHOWN,
    total: int | None = None,
) -> Table:
    """A table within the limits: so many rows open, so many folded, the rest a count (`1,200 more pods`).

    Args:
        caption: what the rows are.
        columns: the headings.
        rows: in the order wanted.
        noun: what the rows are called when they are counted, in the plural.
        shown: rows that stand open.
        total: how many there are, where `rows` are only the first of them.
    """
    all_rows = tuple(rows)
    rest = max(len(all_rows), total or 0) - shown - FOLDED
    return Table(
        caption, columns, all_rows[:shown], all_rows[shown : shown + FOLDED], f"{rest:,} more {noun}" if rest > 0 else ""
    )
