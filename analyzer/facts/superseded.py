"""With several inputs: what the newer one got whole makes good what the older one could not get."""

from __future__ import annotations

from datetime import datetime

import duckdb

from analyzer.facts.kindnames import Kind

ALL = "*"


class Newer:
    """The complete lists of each input, by its time. With one input nothing is superseded."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        rows = con.execute("SELECT input, collected_at, complete FROM inputs").fetchall()
        self._times: dict[int, datetime | None] = {number: at for number, at, _ in rows}
        self._lists: dict[Kind, list[tuple[str, datetime]]] = {}
        self._spaces: dict[int, set[str]] = {number: set() for number in self._times}
        self.cut: frozenset[int] = frozenset(number for number, _, complete in rows if not complete)
        """Inputs that end too early."""
        self._whole: dict[Kind, list[tuple[str, datetime]]] = {}
        lists = con.execute(
            "SELECT DISTINCT f.input, l.api_group, l.kind, l.namespace, l.complete FROM lists l JOIN files f USING (file_id)"
        ).fetchall()
        for number, group, kind, namespace, complete in lists:
            self._spaces[number].add(namespace)
            at = self._times[number]
            if complete and at is not None:
                self._lists.setdefault((group, kind), []).append((namespace, at))
                if number not in self.cut:
                    self._whole.setdefault((group, kind), []).append((namespace, at))

    def listed(self, kind: Kind, number: int, namespace: str | None = None) -> bool:
        """Whether an input newer than this one lists the kind whole, in this namespace or (None) anywhere."""
        at = self._times.get(number)
        if at is None:
            return False
        return any(time > at and (namespace is None or space in (ALL, namespace)) for space, time in self._lists.get(kind, ()))

    def replaced(self, kind: Kind, number: int) -> bool:
        """Whether newer inputs that are whole list the kind wherever this input, which ends too early, looked at all."""
        at = self._times.get(number)
        if at is None:
            return False
        there = {space for space, time in self._whole.get(kind, ()) if time > at}
        return ALL in there or (bool(there) and self._spaces[number] - {ALL} <= there)
