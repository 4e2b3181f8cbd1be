"""Which claims a Pod needs: named, made from a template, of its pod group, or made by the scheduler for an extended resource.

A claim made from a template has a name that only the Pod's status tells (kube-controller-manager's resource claim controller). An
entry there without a name says that on purpose none is made. What a Pod shares with its pod group is told by `groups`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import orjson

from analyzer.facts.dra import groups
from analyzer.facts.dra.groups import Group, Shared
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, text
from analyzer.facts.whole import Whole

_PODS = """
SELECT p.object_id, p.input, p.namespace, p.uid, o.json -> '$.spec.resourceClaims', o.json -> '$.status',
    coalesce(json_extract_string(o.json, '$.spec.schedulingGroup.podGroupName'),
        json_extract_string(o.json, '$.spec.workloadRef.podGroupName')),
    EXISTS (SELECT 1 FROM scheduling_causes s WHERE s.object_id = p.object_id AND s.cause = 'dra')
FROM pods p JOIN objects o USING (object_id)
WHERE p.claims OR contains(o.json::VARCHAR, '"extendedResourceClaimStatus"') OR contains(o.json::VARCHAR, '"podGroupName"')
ORDER BY p.object_id
"""
_OWNED = """
SELECT c.input, c.namespace, c.name, c.object_id,
    list(CASE WHEN w.owner_kind = 'PodGroup' AND w.owner_group = 'scheduling.k8s.io' THEN 'podgroup/' || w.owner_name
        ELSE w.owner_uid END) FILTER (w.controller OR w.owner_kind = 'PodGroup')
FROM claims c LEFT JOIN owners w USING (object_id) GROUP BY ALL
"""

_Claims = dict[tuple[int, str, str], tuple[int, list[str]]]


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `pod_claims`; needs `claims`, `owners`, `pods`, `scheduling_causes` and `coverage`."""
    claims: _Claims = {(row[0], row[1], row[2]): (row[3], row[4] or []) for row in con.execute(_OWNED).fetchall()}
    known = _Known(claims, Whole.read(con), groups.read(con))
    insert_rows(con, "pod_claims", (row for pod in con.execute(_PODS).fetchall() for row in _rows(pod, known)))


@dataclass(frozen=True, slots=True)
class _Known:
    """The claims with their owners (uids, a pod group as podgroup/NAME), what the bundle has whole, and the pod groups."""

    claims: _Claims
    whole: Whole
    groups: Mapping[tuple[int, str, str], Group]


def _rows(pod: tuple[Any, ...], known: _Known) -> Iterator[dict[str, Any]]:
    object_id, number, namespace, uid, spec, status_text, group_name, asks = pod
    status = mapping(orjson.loads(status_text) if status_text else None)
    made = {text(item.get("name")): item for item in mappings(status.get("resourceClaimStatuses"))}
    group = known.groups.get((number, namespace, group_name or ""))
    own = mappings(orjson.loads(spec) if spec else None)
    for idx, item in enumerate(own):
        # Releases before 1.31 wrote the names one level deeper.
        source = item["source"] if isinstance(item.get("source"), dict) else item
        direct, template = text(source.get("resourceClaimName")), text(source.get("resourceClaimTemplateName"))
        ref = text(item.get("name")) or str(idx)
        row = {"object_id": object_id, "ref": ref, "template": template, "path": f"spec.resourceClaims[{idx}].name"}
        shared = group.shared(item) if group else None
        if group and shared:
            entry = made.get(ref) or group.made.get(shared.name)
            yield row | _of_group(shared, entry, (number, namespace, uid, group_name), known)
        elif direct:
            claim_id, status_ = _look(known, (number, namespace, direct))
            yield row | {"how": "direct", "claim": direct, "claim_id": claim_id, "status": status_}
        elif template:
            owners = {uid, f"podgroup/{group_name}"} if group_name else {uid}
            yield row | {"how": "template"} | _templated(made.get(ref), (number, namespace), owners, known)
        else:
            yield row | {"how": "unknown", "status": "unknown"}
    if group and asks and not own:
        # The scheduler speaks of claims, and only the group has some.
        for shared in group.claims:
            row = {"object_id": object_id, "ref": shared.name, "path": "spec.schedulingGroup.podGroupName"}
            yield row | _of_group(shared, group.made.get(shared.name), (number, namespace, uid, group_name), known)
    extended = text(mapping(status.get("extendedResourceClaimStatus")).get("resourceClaimName"))
    if extended:
        claim_id, status_ = _look(known, (number, namespace, extended))
        yield {
            "object_id": object_id,
            "ref": extended,
            "how": "extended",
            "claim": extended,
            "claim_id": claim_id,
            "status": status_,
            "path": "status.extendedResourceClaimStatus.resourceClaimName",
        }


def _look(known: _Known, key: tuple[int, str, str]) -> tuple[int | None, str]:
    if key in known.claims:
        return known.claims[key][0], "found"
    return None, "missing" if known.whole.has("resource.k8s.io", "ResourceClaim", key[1]) else "unknown"


def _of_group(shared: Shared, entry: dict[str, Any] | None, pod: tuple[int, str, str, str], known: _Known) -> dict[str, Any]:
    """A claim that the Pod shares with its pod group."""
    number, namespace, uid, group = pod
    row: dict[str, Any] = {"how": "group", "template": shared.template}
    if shared.claim:
        claim_id, status = _look(known, (number, namespace, shared.claim))
        return row | {"claim": shared.claim, "claim_id": claim_id, "status": status}
    return row | _templated(entry, (number, namespace), {uid, f"podgroup/{group}"}, known)


def _templated(entry: dict[str, Any] | None, place: tuple[int, str], owners: set[str], known: _Known) -> dict[str, Any]:
    """What became of a claim that is made from a template, for one of these owners."""
    if entry is None:
        return {"claim": None, "claim_id": None, "status": "not-created"}
    name = text(entry.get("resourceClaimName"))
    if name is None:
        return {"claim": None, "claim_id": None, "status": "not-needed"}
    claim_id, status = _look(known, (*place, name))
    of = known.claims[(*place, name)][1] if claim_id is not None else []
    if claim_id is not None and any(owners) and owners.isdisjoint(of):
        status = "not-owned"
    return {"claim": name, "claim_id": claim_id, "status": status}
