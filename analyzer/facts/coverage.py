"""What was collected of each kind: the difference between "there are none" and "nobody looked".

Only lists that were read to their end say that there is nothing else. Must-gather and inspect write Nodes, Namespaces
and CRDs one file an object, from a list of all; their folders count as lists (OpenShift `oc adm inspect`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import duckdb

from analyzer.bundle import kinds
from analyzer.bundle.formats import gpu_operator
from analyzer.bundle.manifest import WHOLE_GROUP
from analyzer.facts.asked import Asked, Manifests, Request, asked, kinds_of, manifests
from analyzer.facts.kindnames import BUILT_IN, Kind, Names
from analyzer.facts.rows import insert_rows
from analyzer.facts.superseded import Newer

ALWAYS: tuple[Kind, ...] = (("", "Node"), ("", "Pod"), ("", "Event"))
_NAMESPACE: Kind = ("", "Namespace")
_CRD: Kind = ("apiextensions.k8s.io", "CustomResourceDefinition")
_FOLDERS: tuple[Kind, ...] = (("", "Node"), _NAMESPACE, _CRD)
_FOLDER_FORMATS = ("must-gather", "inspect")
_OURS = "triage"
_PRINTED = gpu_operator.FORMAT
"""Format in which nodes are printed text."""
_CLEANED = "clean-report"
_NAMED = 5
"""How many namespaces or files a reason names."""
ELSEWHERE: Final = "no list of it for"
"""How the reason of a partial kind begins that was listed whole in the namespaces of its scope, but not in all."""


@dataclass(slots=True)
class Seen:
    """What the bundle holds of one kind."""

    objects: int = 0
    namespaces: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    """Namespaces whose list was read whole; `*` for one list of all."""
    cut: list[str] = field(default_factory=list)
    """Why something of it is missing, in words."""
    folder: bool = False
    errors: dict[str, str] = field(default_factory=dict)
    """What the collection says it could not get of it: forbidden, failed, timeout or not-served → its words."""
    removed: bool = False
    unasked: str = ""
    """Why the collection did not ask for it, where its own record says that it did not."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row of `coverage` without the kind."""

    status: str
    scope: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Spaces:
    """The namespaces that a namespaced kind must have a list for."""

    needed: frozenset[str]
    mentioned: frozenset[str]
    """Namespaces of which the bundle only has some object: they were not asked for."""
    complete: bool
    """The Namespace list is complete."""
    limited: frozenset[str] | None = None
    """The namespaces that the collection was limited to; None where it was not."""


def derive(con: duckdb.DuckDBPyConnection, needed: Iterable[Kind] = ()) -> None:
    """Fills `coverage` for each kind found or needed, and always for Node, Pod and Event.

    Args:
        con: the database, loaded.
        needed: kinds that rules need, as (API group, kind).
    """
    seen = _objects(con)
    record, told = asked(con), manifests(con)
    newer = Newer(con)
    _lists(con, seen, record, newer)
    for kind in (*ALWAYS, *needed):
        seen.setdefault(kind, Seen())
    names = Names(seen)
    _asked(seen, names, record)
    _requested(seen, told, newer)
    _both_apis(seen)
    _damage(con, seen, names, newer)
    _folders(con, seen)
    _printed(con, seen)
    _gathered(con, seen)
    _errors(con, seen, names, newer)
    _removed(con, seen)
    spaces = _spaces(con, seen, told.limited)
    defined = _defined(con, seen, spaces)
    rows = []
    for kind, what in sorted(seen.items()):
        verdict = judge(what, spaces, undefined=_undefined(kind, defined))
        rows.append(
            {
                "api_group": kind[0],
                "kind": kind[1],
                "objects": what.objects,
                "scope": list(verdict.scope),
                "status": verdict.status,
                "reason": verdict.reason,
            }
        )
    insert_rows(con, "coverage", rows)


def judge(seen: Seen, spaces: Spaces, *, undefined: bool = False) -> Verdict:
    """The coverage of one kind.

    Args:
        seen: what the bundle holds of it.
        spaces: the namespaces that need a list.
        undefined: the complete list of CRDs lacks the kind.
    """
    if not (seen.objects or seen.listed or seen.folder):
        return _nothing(seen, undefined=undefined)
    everything = seen.folder or "*" in seen.listed
    listed = seen.listed - {"*"}
    missing = sorted(spaces.needed - listed)
    scope = _scope(seen, spaces, everything=everything)
    if seen.cut:
        return Verdict("partial", scope, _some(seen.cut))
    if not everything and not listed:
        return Verdict("partial", scope, "single objects, and no list that says that they are all")
    if not everything and missing:
        return Verdict("partial", scope, f"{ELSEWHERE} {_count(len(missing), 'namespace')}: {_some(missing)}")
    refused = [words for kind, words in seen.errors.items() if kind != "not-served"]
    if refused:
        return Verdict("partial", scope, _some(refused))
    limits = spaces.limited if scope != ("*",) and not seen.objects else None
    reason = None if limits is None else f"in {_limits(limits)}; others were not looked at"
    return Verdict("complete" if seen.objects else "absent", scope, reason)


def _scope(seen: Seen, spaces: Spaces, *, everything: bool) -> tuple[str, ...]:
    """`*`, or the namespaces that were looked at whole."""
    listed = seen.listed - {"*"}
    if everything or (spaces.complete and listed and (spaces.needed | spaces.mentioned) <= listed):
        return ("*",)
    return tuple(sorted(listed or seen.namespaces))


def _nothing(seen: Seen, *, undefined: bool) -> Verdict:
    """The coverage of a kind of which there is no object and no list."""
    if "forbidden" in seen.errors:
        return Verdict("forbidden", (), seen.errors["forbidden"])
    if seen.removed:
        return Verdict("removed", (), "a sanitiser took it out of the bundle")
    if seen.cut:
        return Verdict("partial", (), _some(seen.cut))
    if undefined:
        return Verdict("absent", ("*",), "the cluster has no such kind: the complete list of CRDs lacks it")
    if "not-served" in seen.errors:
        return Verdict("absent", ("*",), "the cluster has no such kind: " + seen.errors["not-served"])
    failed = [seen.errors[kind] for kind in ("failed", "timeout") if kind in seen.errors]
    no_file = seen.unasked or "the bundle has no file of it"
    return Verdict("not-collected", (), failed[0] if failed else no_file)


def _objects(con: duckdb.DuckDBPyConnection) -> dict[Kind, Seen]:
    seen: dict[Kind, Seen] = {}
    rows = con.execute("SELECT api_group, kind, namespace, count(*) FROM objects GROUP BY ALL").fetchall()
    for group, kind, namespace, count in rows:
        entry = seen.setdefault((group, kind), Seen())
        entry.objects += count
        if namespace:
            entry.namespaces.add(namespace)
    return seen


def _lists(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen], record: Asked, newer: Newer) -> None:
    """A namespace is listed where at least one list of it is whole; a list that was cut or selected makes it partial."""
    rows = con.execute(
        "SELECT l.api_group, l.kind, l.namespace, l.complete, f.path, f.input, f.format "
        "FROM lists l JOIN files f USING (file_id) WHERE l.kind <> ''"
    ).fetchall()
    for group, kind, namespace, complete, path, number, form in rows:
        entry = seen.setdefault((group, kind), Seen())
        selector = record.selectors.get(number)
        if selector:
            entry.cut.append(f"the collection asked only for what the selector {selector} fits")
        if complete:
            entry.listed.add(namespace)
        elif not newer.listed((group, kind), number, namespace):
            why = "no record that this list was read to its end" if form == _OURS else "a list that was cut or lost items"
            entry.cut.append(f"{why}: {path}")


def _asked(seen: dict[Kind, Seen], names: Names, record: Asked) -> None:
    """What the collection asked for and got an answer to, also an empty one; and what it was not told to ask for."""
    there = frozenset(kind for kind, what in seen.items() if what.objects)
    for resource, namespace in sorted(record.answered):
        for kind in kinds_of(resource, names, there):
            found = kinds.by_kind(kind[1], kind[0])
            if found is None or found.namespaced == (namespace != "*"):
                seen[kind].listed.add(namespace)
    if record.resources is not None:
        told = {kind for resource in record.resources for kind in names.resource(resource)}
        for kind, what in seen.items():
            what.unasked = "" if kind in told else "the collection was not told to ask for it"


def _requested(seen: dict[Kind, Seen], told: Manifests, newer: Newer) -> None:
    """What the manifests of our own bundles say of requests that did not give a whole list, and of kinds not asked for.

    A kind that the cluster does not serve is told only where something wants to know of it: the plan names many.
    """
    for request, kind in [(one, kind) for one in told.requests for kind in _meant(one, seen)]:
        if newer.listed(kind, request.input) or (request.outcome == "not-served" and kind not in seen):
            continue
        entry = seen.setdefault(kind, Seen())
        if request.outcome in ("forbidden", "not-served"):
            entry.errors.setdefault(request.outcome, request.words)
        if request.outcome != "not-served":
            entry.cut.insert(0, request.words)
    if told.asked is None:
        return
    if told.interrupted:
        why = "the collection was interrupted before it asked for it"
    elif told.limited is not None:
        why = f"the collection was limited to {_limits(told.limited)}"
    else:
        why = "the collection did not ask for it"
    for kind, what in seen.items():
        if kind not in told.asked:
            what.unasked = why


def _both_apis(seen: dict[Kind, Seen]) -> None:
    """Events are served under two groups and are the same objects: a list of the newer group is one of the older."""
    newer = seen.get(("events.k8s.io", "Event"))
    if newer:
        core = seen[("", "Event")]
        core.listed |= newer.listed
        core.objects = core.objects or newer.objects


def _damage(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen], names: Names, newer: Newer) -> None:
    """Files that were not read in full, and inputs that end too early."""
    rows = con.execute(
        "SELECT file_id, input, path FROM files "
        "WHERE status IN ('partial', 'unread') AND role NOT IN ('log', 'skipped', 'document')"
    ).fetchall()
    inside: dict[int, set[Kind]] = {}
    known = con.execute(
        """
        SELECT s.file_id, o.api_group, o.kind
        FROM sources s JOIN objects o USING (object_id) JOIN files f ON f.file_id = s.file_id
        WHERE f.status IN ('partial', 'unread')
        UNION SELECT l.file_id, l.api_group, l.kind
        FROM lists l JOIN files f USING (file_id) WHERE f.status IN ('partial', 'unread')
        """
    ).fetchall()
    for file_id, group, kind in known:
        inside.setdefault(file_id, set()).add((group, kind))
    # One list of all that was read whole is not touched by what breaks off after it (a dump in one stream).
    whole = con.execute(
        "SELECT file_id, api_group, kind FROM lists WHERE namespace = '*' GROUP BY ALL HAVING bool_and(complete)"
    ).fetchall()
    spared = {(file_id, (group, kind)) for file_id, group, kind in whole}
    spaces: dict[tuple[int, Kind], list[str]] = {}
    for file_id, group, kind, namespace in con.execute("SELECT file_id, api_group, kind, namespace FROM lists").fetchall():
        spaces.setdefault((file_id, (group, kind)), []).append(namespace)
    for file_id, number, path in rows:
        for kind in inside.get(file_id) or names.path(path):
            listed = spaces.get((file_id, kind), [])
            if listed and all(newer.listed(kind, number, namespace) for namespace in listed):
                continue
            if kind in seen and (file_id, kind) not in spared:
                seen[kind].cut.append(f"a file that could not be read in full: {path}")
    for kind, entry in seen.items():
        if any("*" not in entry.listed and not newer.replaced(kind, number) for number in newer.cut):
            entry.cut.append("the input ends too early: more of it may have followed")


def _folders(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen]) -> None:
    rows = con.execute(
        "SELECT DISTINCT o.api_group, o.kind "
        "FROM objects o JOIN sources s USING (object_id) JOIN files f ON f.file_id = s.file_id "
        "WHERE f.format IN (SELECT unnest(?::VARCHAR[])) AND o.kind IN (SELECT unnest(?::VARCHAR[]))",
        [list(_FOLDER_FORMATS), [kind for _, kind in _FOLDERS]],
    ).fetchall()
    for group, kind in rows:
        if (group, kind) in _FOLDERS:
            seen[(group, kind)].folder = True


def _printed(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen]) -> None:
    """Nodes that were read of printed text alone are no objects that were collected."""
    query = (
        "SELECT count(*) FROM objects o JOIN files f ON f.file_id = o.file_id "
        "WHERE o.api_group = '' AND o.kind = 'Node' AND f.format = ?"
    )
    found = (con.execute(query, [_PRINTED]).fetchone() or (0,))[0]
    entry = seen.get(("", "Node"))
    if found and entry and not (entry.listed or entry.folder):
        entry.cut.append("no Node was collected as an object: GPU nodes are read from what kubectl describe and the labels say")


def _gathered(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen]) -> None:
    """Why the must-gather of NVIDIA's GPU Operator has nothing of a kind, where the bundle holds no other than such."""
    formats = con.execute("SELECT DISTINCT format FROM files WHERE format <> ''").fetchall()
    if formats != [(_PRINTED,)]:
        return
    fatal = con.execute(
        "SELECT e.message FROM collect_errors e JOIN files f USING (file_id) "
        "WHERE f.format = ? AND starts_with(e.message, 'FATAL') ORDER BY e.file_id, e.line",
        [_PRINTED],
    ).fetchone()
    empty = {
        path.rpartition("/")[2]: path
        for (path,) in con.execute("SELECT path FROM files WHERE role = 'objects' AND status = 'empty' ORDER BY path").fetchall()
    }
    of_kind = {(group, kind): name for name, (kind, group, _) in gpu_operator.OBJECTS.items() if name not in gpu_operator.PARTS}
    of_kind[("", "Node")] = gpu_operator.DESCRIPTION
    for found, what in seen.items():
        name = of_kind.get(found)
        if name is None:
            what.unasked = "the must-gather of the GPU Operator never asks for it"
        elif name in empty:
            what.unasked = f"{empty[name]} is empty: what was to print it failed" + (
                " (so it does where there are several)" if name in gpu_operator.BY_NAME else ""
            )
        elif name == gpu_operator.DRIVERS:
            what.unasked = f"the bundle has no {name}: there are none, or its release (before 26.3) does not ask for them"
        elif fatal and name not in gpu_operator.EARLY:
            what.unasked = f"the must-gather broke off before it: {fatal[0]}"


def _errors(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen], names: Names, newer: Newer) -> None:
    rows = con.execute(
        "SELECT f.input, e.kind, e.subject, e.message FROM collect_errors e JOIN files f USING (file_id) "
        "WHERE e.subject <> '' ORDER BY e.file_id, e.line"
    ).fetchall()
    for number, error, subject, message in rows:
        for kind in names.resource(subject):
            if newer.listed(kind, number):
                continue
            seen[kind].errors.setdefault(error, message or f"{error}: {subject}")


def _removed(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen]) -> None:
    """Files that a sanitiser says it took out (must-gather-clean's report: `omissions`), of any kind that has a name."""
    names = Names([*seen, *((known.group, known.kind) for known in kinds.RESOURCES)])
    rows = con.execute("SELECT json_extract_string(json, '$.omissions[*]') FROM documents WHERE role = ?", [_CLEANED])
    for (paths,) in rows.fetchall():
        for path in paths or []:
            for kind in names.path(path or ""):
                seen.setdefault(kind, Seen()).removed = True


def _meant(request: Request, seen: dict[Kind, Seen]) -> list[Kind]:
    """The kinds that a request is about; of one for a whole group those that were not had by another version of it."""
    if request.kind[1] != WHOLE_GROUP:
        return [request.kind]
    return [kind for kind, what in seen.items() if kind[0] == request.kind[0] and "*" not in what.listed]


def _spaces(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen], limited: frozenset[str] | None) -> Spaces:
    """The namespaces that count: those of the Namespace list, and those that have a list of anything.

    Where the Namespace list is not complete, a namespace of any object counts too. Where it is, one that only some
    object lies in (a Copied ClusterServiceVersion in a must-gather) was not asked for. A collection that was limited to some
    namespaces says so: then these count, and nothing proves that there are no others.
    """
    if limited is not None:
        return Spaces(limited, frozenset(), complete=False, limited=limited)
    listed = {namespace for what in seen.values() for namespace in what.listed} - {"*"}
    mentioned = {namespace for what in seen.values() for namespace in what.namespaces}
    own = seen.get(_NAMESPACE, Seen())
    complete = judge(own, Spaces(frozenset(), frozenset(), complete=False)).status == "complete"
    names = {name for (name,) in con.execute("SELECT name FROM objects WHERE api_group = '' AND kind = 'Namespace'").fetchall()}
    needed = names | listed | (set() if complete else mentioned)
    return Spaces(frozenset(needed), frozenset(mentioned), complete=complete)


def _defined(con: duckdb.DuckDBPyConnection, seen: dict[Kind, Seen], spaces: Spaces) -> set[Kind] | None:
    """The kinds that CRDs and aggregated API servers define; None where the list of CRDs is not complete."""
    if judge(seen.get(_CRD, Seen()), spaces).status not in ("complete", "absent"):
        return None
    rows = con.execute(
        "SELECT json_extract_string(json, '$.spec.group'), json_extract_string(json, '$.spec.names.kind') FROM objects "
        "WHERE api_group = 'apiextensions.k8s.io' AND kind = 'CustomResourceDefinition' "
        "UNION SELECT json_extract_string(json, '$.spec.group'), '*' FROM objects "
        "WHERE kind = 'APIService' AND json_type(json, '$.spec.service') = 'OBJECT'"
    ).fetchall()
    return {(group, kind) for group, kind in rows if group and kind}


def _undefined(kind: Kind, defined: set[Kind] | None) -> bool:
    """The complete list of CRDs lacks the kind, and no other API server can have it."""
    return defined is not None and kind[0] not in BUILT_IN and kind not in defined and (kind[0], "*") not in defined


def _limits(names: frozenset[str]) -> str:
    """The namespaces that a collection was limited to, in words."""
    word = "namespace" if len(names) == 1 else "namespaces"
    return f"{word} {_some(sorted(names))}" if names else "namespaces that its manifest does not name"


def _some(words: list[str]) -> str:
    unique = list(dict.fromkeys(words))
    more = len(unique) - _NAMED
    return ", ".join(unique[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
