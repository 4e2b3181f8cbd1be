"""Objects that findings are about, read from the database by id, each once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from analyzer.engine.model import ObjectRef


@dataclass(frozen=True, slots=True)
class Known:
    """An object with the place of its text. `object_id` is None for an object that the bundle does not hold."""

    object_id: int | None
    ref: ObjectRef
    input: int | None = None
    file_id: int | None = None
    line: int | None = None
    offset: int | None = None
    length: int | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from others without its uid."""
        return (self.ref.group, self.ref.kind, self.ref.namespace, self.ref.name)


class Objects:
    """A look-up of objects by id, with what was read already at hand."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._known: dict[int, Known] = {}
        self._platform: dict[str, str] | None = None

    def fetch(self, ids: Iterable[int]) -> None:
        """Reads these objects, so that `get` has them."""
        missing = sorted({number for number in ids if number not in self._known})
        if not missing:
            return
        rows = self._con.execute(
            "SELECT object_id, input, api_group, kind, namespace, name, uid, file_id, line, byte_offset, byte_length "
            "FROM objects WHERE object_id IN (SELECT unnest(?::BIGINT[]))",
            [missing],
        ).fetchall()
        for number, source, group, kind, namespace, name, uid, file_id, line, offset, length in rows:
            ref = ObjectRef(group or "", kind or "", namespace or "", name or "", uid or None)
            self._known[number] = Known(number, ref, source, file_id, line, offset, length)

    def platform_owner(self, ref: ObjectRef) -> str | None:
        """Who acts in the namespace of an object that belongs to the platform (platform or cluster), None elsewhere."""
        if self._platform is None:
            self._platform = dict(self._con.execute("SELECT namespace, owner FROM platform_namespaces").fetchall())
        return self._platform.get(ref.name if ref.kind == "Namespace" else ref.namespace)

    def get(self, number: int) -> Known | None:
        """The object of that id, None where there is none."""
        if number not in self._known:
            self.fetch([number])
        return self._known.get(number)
