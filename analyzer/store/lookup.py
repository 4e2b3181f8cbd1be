"""Which object of a database `KIND/NAME` means, and where there is none, why.

KIND is a kind, plural, singular or short name in any case, alone, with `.GROUP` or with `.VERSION.GROUP` as kubectl has it. What
words a kind has comes from the well-known resources, from the CRDs of the bundle, and from the kinds that tables hold.
Things that are no objects but have a state (a DRA device) are found too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import duckdb

from analyzer.bundle import kinds
from analyzer.bundle.errors import UsageError
from analyzer.store import absent
from analyzer.store.absent import Kind, NotInBundleError
from analyzer.store.shortnames import SHORT_NAMES

__all__ = ["AmbiguousError", "Asked", "NotInBundleError", "Target", "asked", "lookup"]

STATE_GROUPS = frozenset(
    {
        "kueue.x-k8s.io",
        "jobset.x-k8s.io",
        "ray.io",
        "serving.kserve.io",
        "ai.deckhouse.io",
        "ome.io",
        "nvidia.com",
        "resource.k8s.io",
    }
)
"""API groups, beside core, whose kinds have named states (the catalogue's table of states)."""

_VERSION = re.compile(r"v\d+(?:(?:alpha|beta)\d+)?", re.ASCII)
_MAX_LISTED = 1_000
"""Most matches that are read; more are of no use to a reader."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user asked for.

    Attributes:
        word: kind, plural, singular or short name, in small letters.
        group: API group (or how it begins), empty for core, None where none was given.
        name: the object's name, as given.
    """

    word: str
    group: str | None
    name: str

    def __str__(self) -> str:
        return f"{self.word}{f'.{self.group}' if self.group else ''}/{self.name}"


@dataclass(frozen=True, slots=True)
class Target:
    """What was found.

    Attributes:
        object_id: its id in `objects` (or `gone_objects`); of a thing that is no object the nearest object's, or None.
        group: API group, empty for core.
        kind: kind.
        namespace: namespace, empty for cluster-scoped ones.
        name: name.
        uid: metadata.uid, empty where there is none.
        source: `objects`; `gone_objects` (a newer input no longer has it); `states` (no object, only a state is known).
    """

    object_id: int | None
    group: str
    kind: str
    namespace: str
    name: str
    uid: str
    source: str = "objects"

    @property
    def gone(self) -> bool:
        """A newer input of the case no longer has it."""
        return self.source == "gone_objects"

    @property
    def is_object(self) -> bool:
        """It is an object of the cluster, not only a thing that has a state."""
        return self.source != "states"

    def __str__(self) -> str:
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind}/{self.name}" + (f" -n {self.namespace}" if self.namespace else "")


class AmbiguousError(Exception):
    """Several objects are meant; `matches` are all of them, best first. The caller lists them and exits 2."""

    def __init__(self, what: Asked, matches: Sequence[Target]) -> None:
        super().__init__(f"{len(matches)} objects are called {what}")
        self.matches = tuple(matches)


def asked(text: str) -> Asked:
    """Reads `KIND/NAME`; only the first slash counts, since names of devices have slashes.

    Raises:
        UsageError: it is not of that form.
    """
    head, slash, name = text.strip().partition("/")
    word, dot, group = head.strip().lower().partition(".")
    name = name.strip()
    if not slash or not word or not name:
        raise UsageError(f"KIND/NAME is needed, such as pod/app-0 or deployments.apps/web, not {text!r}")
    version, _, rest = group.partition(".")
    if _VERSION.fullmatch(version):
        # kubectl's RESOURCE.VERSION.GROUP; the object is the same in every version.
        group = rest
    return Asked(word, group if dot else None, name)


def lookup(con: duckdb.DuckDBPyConnection, what: Asked, namespace: str | None = None) -> Target:
    """The one object (or thing with a state) that is meant.

    Core and the groups of the catalogue's states win over other groups of Kubernetes itself, these over the rest; an object
    that is there wins over one that is gone.

    Args:
        con: a database of ours.
        what: see `asked`.
        namespace: only this one, for namespaced kinds; None for any.

    Raises:
        AmbiguousError: there are several; the caller lists them and exits 2.
        NotInBundleError: there is none; its `word` says why. The caller exits 1.
    """
    meant = kinds_meant(con, what)
    wanted = namespace or None
    for source in ("objects", "states", "gone_objects"):
        matches = _matches(con, what, meant, source)
        here = [one for one in matches if wanted is None or one.namespace in (wanted, "")]
        best = _best(here, wanted)
        if len(best) == 1:
            return best[0]
        if best:
            raise AmbiguousError(what, best)
    raise absent.explained(con, str(what), what.name, meant, wanted)


def kinds_meant(con: duckdb.DuckDBPyConnection, what: Asked) -> list[Kind]:
    """The kinds that the word of `what` may mean, as (API group, kind), the likeliest first; empty where none is known."""
    found = _known_by(con, what.word)
    if what.group is not None:
        # As kubectl, a group may be cut at a dot.
        exact = [kind for kind in found if kind[0] == what.group]
        found = exact or [kind for kind in found if what.group and kind[0].startswith(what.group + ".")]
    return sorted(dict.fromkeys(found), key=lambda kind: (_rank(kind[0]), kind))


def _known_by(con: duckdb.DuckDBPyConnection, word: str) -> list[Kind]:
    found: list[Kind] = [(one.group, one.kind) for one in kinds.RESOURCES if word in (one.kind.lower(), one.plural.lower())]
    found += SHORT_NAMES.get(word, ())
    found += _of_definitions(con, word)
    found += _of_tables(con, word)
    return found


def _of_definitions(con: duckdb.DuckDBPyConnection, word: str) -> list[Kind]:
    """Kinds that CustomResourceDefinitions of the bundle give this name."""
    rows = con.execute(
        """
        SELECT DISTINCT "group", kind FROM (
            SELECT json_extract_string(json, '$.spec.group') AS "group", json_extract_string(json, '$.spec.names.kind') AS kind,
                json_extract_string(json, ['$.spec.names.kind', '$.spec.names.plural', '$.spec.names.singular'])
                || json_extract_string(json, '$.spec.names.shortNames[*]') AS words
            FROM objects WHERE api_group = 'apiextensions.k8s.io' AND kind = 'CustomResourceDefinition'
        ) WHERE "group" IS NOT NULL AND kind IS NOT NULL AND list_contains(list_transform(words, lambda one: lower(one)), ?)
        """,
        [word],
    ).fetchall()
    return [(group, kind) for group, kind in rows]


def _of_tables(con: duckdb.DuckDBPyConnection, word: str) -> list[Kind]:
    """Kinds that the bundle has or was asked for, by their kind or the plural that Kubernetes would give it."""
    rows = con.execute(
        "SELECT api_group, kind FROM objects UNION SELECT api_group, kind FROM gone_objects "
        "UNION SELECT api_group, kind FROM states UNION SELECT api_group, kind FROM coverage"
    ).fetchall()
    return [(group, kind) for group, kind in rows if word in (kind.lower(), kinds.plural_of(kind))]


def _rank(group: str) -> int:
    if group == "" or group in STATE_GROUPS:
        return 0
    return 1 if group in kinds.BUILT_IN else 2


def _matches(con: duckdb.DuckDBPyConnection, what: Asked, meant: Iterable[Kind], source: str) -> list[Target]:
    """What of a table has the name and one of the kinds."""
    uid = "''" if source == "states" else "uid"
    rows = con.execute(
        f"SELECT object_id, api_group, kind, namespace, name, {uid} FROM {source} "  # noqa: S608 - one of three names
        "WHERE name = ? AND list_contains(?::VARCHAR[], kind || '.' || api_group) "
        f"ORDER BY namespace, object_id LIMIT {_MAX_LISTED}",
        [what.name, [f"{kind}.{group}" for group, kind in meant]],
    ).fetchall()
    return [Target(number, group, kind, space, name, found, source) for number, group, kind, space, name, found in rows]


def _best(matches: Sequence[Target], namespace: str | None) -> list[Target]:
    """Those of the group that wins, each object once."""
    if not matches:
        return []
    first = min(_rank(one.group) for one in matches)
    best = [one for one in matches if _rank(one.group) == first]
    if namespace and any(one.namespace for one in best):
        best = [one for one in best if one.namespace]
    seen: dict[object, Target] = {}
    for one in best:
        # One object may be served by two groups (events); things without a uid are told apart by their names.
        seen.setdefault(one.uid or (one.group, one.kind, one.namespace, one.name), one)
    return list(seen.values())
