"""Why an object is not in a database: there is none, or nobody looked.

Only a list that was read whole says that there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb

from analyzer.bundle import kinds

Kind = tuple[str, str]
"""API group (empty for core) and kind."""

Word = Literal["not found", "not collected", "forbidden", "removed", "partial"]

_NO_FILE = "the bundle has no file of it"
_HINTS = 5
_CLOSE = 200
"""How much of a name a hint may be longer or shorter than what was asked for, in characters."""


class NotInBundleError(Exception):
    """No such object is in the database.

    Attributes:
        word: `not found` (the kind was collected whole where it could be), `not collected`, `forbidden`, `removed` (by a
            sanitiser) or `partial` (some of the kind was collected).
        hints: what may be meant instead, as `KIND/NAME` and `-n NAMESPACE`.
    """

    def __init__(self, word: Word, message: str, hints: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.word = word
        self.hints = tuple(hints)


@dataclass(frozen=True, slots=True)
class _Covered:
    status: str
    scope: tuple[str, ...]
    reason: str


def explained(
    con: duckdb.DuckDBPyConnection, asked: str, name: str, meant: Sequence[Kind], namespace: str | None
) -> NotInBundleError:
    """Tells why nothing of the kinds `meant` has this name.

    Args:
        con: a database of ours.
        asked: what the user asked for, in words.
        name: the name that was asked for.
        meant: the kinds that may be meant, the likeliest first.
        namespace: the namespace that was asked for, None for any.
    """
    hints = _hints(con, name, meant, namespace)
    if not meant:
        kind = asked.partition("/")[0]
        return NotInBundleError("not collected", f"not collected: nothing in this bundle is of a kind {kind}")
    likely, covered = _best_covered(con, meant)
    where = _where(likely, namespace)
    thing = f"{likely[1]} {name}{where}"
    # What is no object has no list of its own; where others of the kind are known, somebody looked.
    covered = covered or _Covered("complete" if hints else "not-collected", ("*",), "")
    if covered.status == "not-collected":
        return NotInBundleError("not collected", f"not collected: {thing} ({covered.reason or _NO_FILE})", hints)
    if covered.status == "forbidden":
        return NotInBundleError(
            "forbidden", f"not collected: {thing} (forbidden: {covered.reason or 'the collector had no right'})", hints
        )
    if covered.status == "removed":
        return NotInBundleError(
            "removed", f"not collected: {thing} (removed: {covered.reason or 'a sanitiser took it out'})", hints
        )
    if covered.status == "partial":
        why = covered.reason or "not all of it was collected"
        return NotInBundleError(
            "partial", f"not found in what was collected: {thing}; its kind was collected in part (partial: {why})", hints
        )
    return _looked_for(con, likely, thing, namespace, covered, hints)


def _looked_for(
    con: duckdb.DuckDBPyConnection, likely: Kind, thing: str, namespace: str | None, covered: _Covered, hints: Sequence[str]
) -> NotInBundleError:
    """The kind was collected whole over a scope."""
    if "*" not in covered.scope:
        if namespace and namespace not in covered.scope:
            if _no_namespace(con, namespace):
                return NotInBundleError("not found", f"not found: {thing}; there is no namespace {namespace}", hints)
            return NotInBundleError("not collected", f"not collected: {thing} (this bundle has no list of that namespace)", hints)
        if not namespace:
            there = ", ".join(covered.scope[:_HINTS]) + (" and others" if len(covered.scope) > _HINTS else "")
            return NotInBundleError("not found", f"not found: {thing} in the namespaces that were collected: {there}", hints)
    why = f" ({covered.reason})" if covered.status == "absent" and covered.reason else ""
    if namespace and likely != ("", "Namespace") and _no_namespace(con, namespace):
        why = f"; there is no namespace {namespace}"
    return NotInBundleError("not found", f"not found: {thing}{why}", hints)


def _best_covered(con: duckdb.DuckDBPyConnection, meant: Sequence[Kind]) -> tuple[Kind, _Covered | None]:
    """The kind to speak of: the likeliest one that the bundle tells anything of, else the likeliest."""
    rows = con.execute("SELECT api_group, kind, status, scope, reason, objects FROM coverage").fetchall()
    known = {
        (group, kind): (_Covered(status, tuple(scope), reason or ""), objects)
        for group, kind, status, scope, reason, objects in rows
    }
    there = [kind for kind in meant if kind in known]
    for kind in there:
        if known[kind][1]:
            return kind, known[kind][0]
    first = there[0] if there else meant[0]
    return first, known[first][0] if there else None


def _where(kind: Kind, namespace: str | None) -> str:
    found = kinds.by_kind(kind[1], kind[0])
    return f" in namespace {namespace}" if namespace and (found is None or found.namespaced) else ""


def _no_namespace(con: duckdb.DuckDBPyConnection, namespace: str) -> bool:
    """Whether the whole list of namespaces lacks it, and nothing in the bundle lies in it."""
    row = con.execute(
        """
        SELECT EXISTS (FROM coverage WHERE api_group = '' AND kind = 'Namespace' AND status IN ('complete', 'absent')
                AND list_contains(scope, '*'))
            AND NOT EXISTS (FROM objects WHERE namespace = $1 OR (api_group = '' AND kind = 'Namespace' AND name = $1))
        """,
        [namespace],
    ).fetchone()
    return bool(row and row[0])


def _hints(con: duckdb.DuckDBPyConnection, name: str, meant: Sequence[Kind], namespace: str | None) -> list[str]:
    """Objects of these kinds that may be meant: of that name elsewhere, then those whose name begins so or is how it begins.

    What is no object has a name of several parts (a device: driver, pool, name); there the last part is asked for as well.
    """
    if not meant:
        return []
    rows = con.execute(
        """
        SELECT kind, name, namespace FROM objects
        WHERE list_contains($kinds::VARCHAR[], kind || '.' || api_group)
          AND (name = $name OR (($space = '' OR namespace = $space) AND abs(length(name) - length($name)) <= $close
               AND (starts_with(lower(name), lower($name)) OR starts_with(lower($name), lower(name) || '-'))))
        UNION
        SELECT kind, name, namespace FROM states
        WHERE list_contains($kinds::VARCHAR[], kind || '.' || api_group) AND ends_with(name, '/' || $name)
        ORDER BY name <> $name, length(name), name, namespace LIMIT $most
        """,
        {
            "kinds": [f"{kind}.{group}" for group, kind in meant],
            "name": name,
            "space": namespace or "",
            "close": _CLOSE,
            "most": _HINTS,
        },
    ).fetchall()
    return [f"{kind.lower()}/{found}" + (f" -n {space}" if space else "") for kind, found, space in rows]
