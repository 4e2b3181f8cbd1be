"""Which claims a Pod needs: named, made from a template, or made by the scheduler for an extended resource.

A claim made from a template has a name that only the Pod's status tells (kube-controller-manager's resource claim controller). An
entry there without a name says that on purpose none is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, text
from analyzer.facts.whole import Whole

_PODS = """
SELECT p.object_id, p.input, p.namespace, p.uid, o.json -> '$.spec.resourceClaims', o.json -> '$.status'
FROM pods p JOIN objects o USING (object_id)
WHERE p.claims OR contains(o.json::VARCHAR, '"extendedResourceClaimStatus"')
ORDER BY p.object_id
"""
_OWNED = """
SELECT c.input, c.namespace, c.name, c.object_id, list(w.owner_uid) FILTER (w.controller)
FROM claims c LEFT JOIN owners w USING (object_id) GROUP BY ALL
"""

_Claims = dict[tuple[int, str, str], tuple[int, list[str]]]


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `pod_claims`; needs `claims`, `owners`, `pods` and `coverage`."""
    claims: _Claims = {(row[0], row[1], row[2]): (row[3], row[4] or []) for row in con.execute(_OWNED).fetchall()}
    whole = Whole.read(con)
    pods = con.execute(_PODS).fetchall()
    insert_rows(con, "pod_claims", (row for pod in pods for row in _rows(pod, claims, whole)))


def _rows(pod: tuple[Any, ...], claims: _Claims, whole: Whole) -> Iterator[dict[str, Any]]:
    object_id, number, namespace, uid, spec, status_text = pod
    status = mapping(orjson.loads(status_text) if status_text else None)
    made = {text(item.get("name")): item for item in mappings(status.get("resourceClaimStatuses"))}
    for idx, item in enumerate(mappings(orjson.loads(spec) if spec else None)):
        # Releases before 1.31 wrote the names one level deeper.
        source = item["source"] if isinstance(item.get("source"), dict) else item
        direct, template = text(source.get("resourceClaimName")), text(source.get("resourceClaimTemplateName"))
        ref = text(item.get("name")) or str(idx)
        row = {"object_id": object_id, "ref": ref, "template": template, "path": f"spec.resourceClaims[{idx}].name"}
        if direct:
            claim_id, status_ = _look(claims, whole, (number, namespace, direct))
            yield row | {"how": "direct", "claim": direct, "claim_id": claim_id, "status": status_}
        elif template:
            yield row | {"how": "template"} | _templated(made.get(ref), (number, namespace, uid), claims, whole)
        else:
            yield row | {"how": "unknown", "status": "unknown"}
    extended = text(mapping(status.get("extendedResourceClaimStatus")).get("resourceClaimName"))
    if extended:
        claim_id, status_ = _look(claims, whole, (number, namespace, extended))
        yield {
            "object_id": object_id,
            "ref": extended,
            "how": "extended",
            "claim": extended,
            "claim_id": claim_id,
            "status": status_,
            "path": "status.extendedResourceClaimStatus.resourceClaimName",
        }


def _look(claims: _Claims, whole: Whole, key: tuple[int, str, str]) -> tuple[int | None, str]:
    if key in claims:
        return claims[key][0], "found"
    return None, "missing" if whole.has("resource.k8s.io", "ResourceClaim", key[1]) else "unknown"


def _templated(entry: dict[str, Any] | None, pod: tuple[int, str, str], claims: _Claims, whole: Whole) -> dict[str, Any]:
    """What became of a claim that is made from a template."""
    number, namespace, uid = pod
    if entry is None:
        return {"claim": None, "claim_id": None, "status": "not-created"}
    name = text(entry.get("resourceClaimName"))
    if name is None:
        return {"claim": None, "claim_id": None, "status": "not-needed"}
    claim_id, status = _look(claims, whole, (number, namespace, name))
    owners = claims[(number, namespace, name)][1] if claim_id is not None else []
    if claim_id is not None and uid and uid not in owners:
        status = "not-owned"
    return {"claim": name, "claim_id": claim_id, "status": status}
