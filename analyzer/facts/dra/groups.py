"""Claims that the pods of a group share (PodGroup of scheduling.k8s.io, since Kubernetes 1.36).

A PodGroup lists claims as a Pod does, by name or from a template. A Pod of the group gets the group's claim where an entry of its
own says the same in every field, or (first drafts of the API) names the group's entry. The claim is owned by the PodGroup and
reserved for it, not for its pods (Kubernetes' API types, kube-controller-manager's resource claim controller).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb

from analyzer.facts.values import mapping, mappings, stored, text

KIND = ("scheduling.k8s.io", "PodGroup")


@dataclass(frozen=True, slots=True)
class Shared:
    """A claim of a group: the group's name for it, and the claim or the template that it names."""

    name: str
    claim: str | None
    template: str | None


@dataclass(frozen=True, slots=True)
class Group:
    """A PodGroup: its claims, and what its status tells of those made from templates."""

    claims: tuple[Shared, ...]
    made: dict[str, dict[str, Any]]

    def shared(self, item: dict[str, Any]) -> Shared | None:
        """The group's claim that an entry of a Pod's spec.resourceClaims means, None where it means one of the Pod's own."""
        named = text(item.get("podGroupResourceClaim"))
        if named:
            return next((one for one in self.claims if one.name == named), None)
        said = (text(item.get("name")), text(item.get("resourceClaimName")), text(item.get("resourceClaimTemplateName")))
        return next((one for one in self.claims if (one.name, one.claim, one.template) == said), None)


def read(con: duckdb.DuckDBPyConnection) -> dict[tuple[int, str, str], Group]:
    """The pod groups that have claims, by input, namespace and name."""
    found = {}
    for item in stored(con, [KIND]):
        claims = tuple(
            Shared(name, text(one.get("resourceClaimName")), text(one.get("resourceClaimTemplateName")))
            for one in mappings(mapping(item.value.get("spec")).get("resourceClaims"))
            if (name := text(one.get("name")))
        )
        statuses = mappings(mapping(item.value.get("status")).get("resourceClaimStatuses"))
        made = {name: one for one in statuses if (name := text(one.get("name")))}
        if claims:
            found[(item.input, item.namespace, item.name)] = Group(claims, made)
    return found
