"""What a rule cannot do without, held against what was collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import duckdb

from analyzer.bundle import kinds
from analyzer.engine.domains import is_absent
from analyzer.engine.model import NotEvaluated
from analyzer.engine.pack import Pack
from analyzer.engine.rule import Need, Rule
from analyzer.facts.kindnames import BUILT_IN

_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
_MISSING = frozenset({"not-collected", "forbidden", "removed"})
_WORDS = {
    "not-collected": "not collected",
    "forbidden": "forbidden to the collector",
    "removed": "removed before it was sent",
    "partial": "collected in part, and none of it read",
}
"""Why a rule cannot do with a kind of which no object was read; of one that is absent there are none, which is an answer."""
_ASK_CUSTOM = "kubectl get $(kubectl get crds -o name | cut -d/ -f2 | paste -sd,) -A -o yaml > custom.yaml"
_ASK_SECRETS = (
    "kubectl get secrets -A -o json | jq 'del(.items[].metadata.annotations) "
    """| .items[].data |= ((. // {}) | with_entries(select(.key | endswith(".crt"))))' > secrets.json"""
)
"""Nobody is to send the values of Secrets: only certificates, which are public, are left in it."""
NAMED = 5
"""Objects that one entry names."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What was collected: (group, kind) → (status, objects); whether there are container logs; roles of documents; `filled` are
    the tables with rows, of those that needs name.
    """

    kinds: dict[tuple[str, str], tuple[str, int]]
    logs: bool
    documents: frozenset[str]
    openshift: bool
    filled: frozenset[str] = frozenset()


def resolved(need: Need) -> tuple[str, str]:
    """The (group, kind) of a need; a kind written without its group is looked up."""
    if need.group:
        return need.group, need.kind
    known = kinds.by_kind(need.kind, "") or next((one for one in kinds.RESOURCES if one.kind == need.kind), None)
    return (known.group, known.kind) if known else ("", need.kind)


def needed_kinds(packs: Iterable[Pack], here: frozenset[str] | None = None) -> set[tuple[str, str]]:
    """The kinds, as (group, kind), that the rules of these packs need; those of the domains `here` only, where given."""
    return {
        resolved(need)
        for pack in packs
        for rule in pack.rules
        if here is None or not is_absent(rule.domains, here)
        for need in rule.needs
        if need.kind not in ("logs", "document", "custom-resources")
    }


def needed_tables(packs: Iterable[Pack]) -> set[str]:
    """The tables of facts whose rows will do instead of a kind, by the needs of all rules."""
    return {need.table for pack in packs for rule in pack.rules for need in rule.needs if need.table}


def collected(con: duckdb.DuckDBPyConnection, *, openshift: bool, tables: Iterable[str] = ()) -> Collected:
    """Reads what was collected from the database.

    Args:
        con: the database.
        openshift: commands are given for `oc`.
        tables: tables of facts of which it matters whether they have rows.
    """
    filled = [name for name in sorted(tables) if con.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()]  # noqa: S608 - of the schema
    rows = con.execute("SELECT api_group, kind, status, objects FROM coverage").fetchall()
    logs = con.execute("SELECT count(*) FROM (SELECT 1 FROM logs WHERE pod <> '' LIMIT 1)").fetchone()
    roles = con.execute("SELECT DISTINCT role FROM documents").fetchall()
    return Collected(
        {(group or "", kind): (status, objects or 0) for group, kind, status, objects in rows},
        bool(logs and logs[0]),
        frozenset(role for (role,) in roles),
        openshift,
        frozenset(filled),
    )


def unmet(rule: Rule, have: Collected) -> NotEvaluated | None:
    """Why the rule cannot be evaluated for want of input; None where it can be."""
    missing = [(need, why) for need in rule.needs if (why := _missing(need, have))]
    if not missing or (rule.any_of and len(missing) < len(rule.needs)):
        return None
    joint = "none of what this rule reads is here" if rule.any_of and len(missing) > 1 else "this rule needs more than was sent"
    texts = tuple(f"{_words(need)}: {why}" for need, why in missing)
    reason = f"{joint}: {', '.join(f'{_words(need)} ({why})' for need, why in missing)}"
    asks = rule.ask or tuple(dict.fromkeys(ask(need, have) for need, _ in missing))
    return NotEvaluated(rule.code, reason, texts, asks)


def is_missing(need: Need, have: Collected) -> bool:
    """Whether nothing of what is needed was collected."""
    return _missing(need, have) is not None


def bare_objects(con: duckdb.DuckDBPyConnection, kind: tuple[str, str]) -> list[str]:
    """The objects of a kind, as (group, kind), that have no status (plain manifests), in words."""
    rows = con.execute(
        "SELECT kind || ' ' || CASE WHEN namespace = '' THEN name ELSE namespace || '/' || name END FROM objects "
        "WHERE api_group = ? AND kind = ? AND coalesce(json_type(json, '$.status'), 'NULL') = 'NULL' ORDER BY namespace, name",
        list(kind),
    ).fetchall()
    return [name for (name,) in rows]


def without_status(rule: Rule, bare: Callable[[tuple[str, str]], list[str]], have: Collected) -> NotEvaluated | None:
    """The objects that the rule passes over because they have no status.

    Args:
        rule: the rule.
        bare: such objects of a kind, see `bare_objects`.
        have: what was collected.
    """
    wanted = [need for need in rule.needs if need.status]
    found = [name for need in wanted for name in bare(resolved(need))]
    if not found:
        return None
    shown, more = found[:NAMED], len(found) - NAMED
    words = (
        "without a status, what it does cannot be told" if len(found) == 1 else "without a status, what they do cannot be told"
    )
    reason = f"{', '.join(shown)}{f' and {more} more' if more > 0 else ''}: {words}"
    needs = [f"{name}: status" for name in shown] + ([f"{more} more: status"] if more > 0 else [])
    asks = dict.fromkeys(ask(need, have) for need in wanted)
    return NotEvaluated(rule.code, reason, tuple(needs), tuple(asks))


def ask(need: Need, have: Collected) -> str:
    """The command that collects what is needed, for the platform of the bundle."""
    cli = "oc" if have.openshift else "kubectl"
    if need.kind == "logs":
        return f"{cli} logs POD -n NAMESPACE --all-containers --prefix --timestamps > POD.log"
    if need.kind == "custom-resources":
        return "oc adm must-gather" if have.openshift else _ASK_CUSTOM
    if need.kind == "document":
        return "oc adm must-gather" if have.openshift else f"send the file that holds {need.name}"
    group, kind = resolved(need)
    known = kinds.by_kind(kind, group)
    plural = known.plural if known else kinds.plural_of(kind)
    resource = f"{plural}.{group}" if group else plural
    namespaced = known.namespaced if known else True
    if have.openshift:
        return f"oc adm inspect {resource}{' --all-namespaces' if namespaced else ''}"
    if (group, kind) == ("", "Secret"):
        return _ASK_SECRETS
    return f"kubectl get {resource}{' -A' if namespaced else ''} -o yaml > {plural}.yaml"


def _missing(need: Need, have: Collected) -> str | None:
    if need.table in have.filled:
        return None
    if need.kind == "logs":
        return None if have.logs else "not collected"
    if need.kind == "document":
        return None if need.name in have.documents else "not collected"
    if need.kind == "custom-resources":
        asked = have.kinds.get(_CRD, ("not-collected", 0))[0] not in _MISSING
        there = asked or any(some and group not in BUILT_IN for (group, _), (_, some) in have.kinds.items())
        return None if there else "not collected"
    status, objects = have.kinds.get(resolved(need), ("not-collected", 0))
    return _WORDS.get(status) if not objects else None


def _words(need: Need) -> str:
    if need.kind == "logs":
        return "logs of containers"
    if need.kind == "custom-resources":
        return "custom resources"
    if need.kind == "document":
        return need.name
    group, kind = resolved(need)
    return f"{kind}.{group}" if group else kind
