"""Claims, slices and devices as they are written in v1alpha3, v1beta1, v1beta2 and v1 of `resource.k8s.io`.

Each is read by the fields that it has, never by its version: requests are flat or nested under `exactly`, a device's fields stand
under `basic` or on the device, a capacity is a quantity or a mapping with one (Kubernetes API types of 1.31 to 1.37).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analyzer.facts.values import mapping, mappings, number, strings, text

_VALUES = ("string", "int", "bool", "version", "strings", "ints", "bools", "versions")


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a claim, or one alternative of it; `path` is the field that names the class, below `spec.`."""

    name: str
    device_class: str | None
    mode: str
    count: int | None
    admin: bool
    selectors: tuple[str, ...]
    path: str
    tolerates: tuple[str, ...] = ()
    capacity: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The request in words."""
        amount = "all devices" if self.mode == "All" else f"{self.count} {'device' if self.count == 1 else 'devices'}"
        admin = " with admin access" if self.admin else ""
        return f"{self.name}: {amount} of class {self.device_class or '(not named)'}{admin}"


def requests(spec: dict[str, Any], prefix: str = "spec.") -> Iterator[Request]:
    """The requests of a claim's spec, alternatives one by one in their order."""
    for idx, item in enumerate(mappings(mapping(spec.get("devices")).get("requests"))):
        name, path = text(item.get("name")) or str(idx), f"{prefix}devices.requests[{idx}]"
        if isinstance(item.get("firstAvailable"), list) and item["firstAvailable"]:
            for sub, choice in enumerate(mappings(item["firstAvailable"])):
                yield _request(f"{name}/{text(choice.get('name')) or sub}", choice, f"{path}.firstAvailable[{sub}]")
        elif isinstance(item.get("exactly"), dict):
            yield _request(name, item["exactly"], f"{path}.exactly")
        else:
            yield _request(name, item, path)


def _request(name: str, item: dict[str, Any], path: str) -> Request:
    mode = text(item.get("allocationMode")) or "ExactCount"
    count = number(item.get("count"))
    selectors = [text(mapping(one.get("cel")).get("expression")) for one in mappings(item.get("selectors"))]
    return Request(
        name=name,
        device_class=text(item.get("deviceClassName")),
        mode=mode,
        count=None if mode == "All" else (1 if count is None else count),
        admin=item.get("adminAccess") is True,
        selectors=tuple(one for one in selectors if one),
        path=f"{path}.deviceClassName",
        tolerates=tuple(_toleration(one) for one in mappings(item.get("tolerations"))),
        capacity=tuple(f"{name} {amount}" for name, amount in mapping(mapping(item.get("capacity")).get("requests")).items()),
    )


def _toleration(item: dict[str, Any]) -> str:
    """A toleration as people write it: KEY=VALUE:EFFECT, what it leaves open as "any"."""
    key, value, effect = text(item.get("key")), text(item.get("value")), text(item.get("effect"))
    return f"{key or 'any key'}{f'={value}' if value else ''}:{effect or 'any effect'}"


def in_words(spec: dict[str, Any]) -> list[str]:
    """The requests as written: alternatives of one request joined by "else"."""
    found: dict[str, list[str]] = {}
    for request in requests(spec):
        found.setdefault(request.name.split("/")[0], []).append(request.words)
    return [", else ".join(words) for words in found.values()]


def allocation(status: dict[str, Any]) -> dict[str, Any] | None:
    """The allocation, also an empty one; None where the claim is not allocated."""
    found = status.get("allocation")
    return found if isinstance(found, dict) else None


def is_classic(claim: dict[str, Any]) -> bool:
    """Whether it is of v1alpha2 (Kubernetes 1.30 and before), which is another model and is not read."""
    spec, status = mapping(claim.get("spec")), mapping(claim.get("status"))
    return "resourceClassName" in spec or "driverName" in status or "resourceHandles" in mapping(status.get("allocation"))


def device(item: dict[str, Any]) -> dict[str, Any]:
    """The fields of a device, whether under `basic` or on the device itself."""
    basic = item.get("basic")
    return basic if isinstance(basic, dict) else item


def attributes(fields: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a device: name → value."""
    found = {}
    for name, value in mapping(fields.get("attributes")).items():
        typed = mapping(value)
        kind = next((kind for kind in _VALUES if kind in typed), None)
        if kind is not None:
            found[name] = typed[kind]
    return found


def capacity(fields: dict[str, Any]) -> dict[str, str]:
    """The capacity of a device: name → quantity as written."""
    found = {}
    for name, value in mapping(fields.get("capacity")).items():
        amount = value.get("value") if isinstance(value, dict) else value
        if isinstance(amount, (str, int)) and not isinstance(amount, bool):
            found[name] = str(amount)
    return found


def pinned(selector: Any) -> str | None:
    """The node that a node selector pins to: one term, with one requirement, that the node's name is one value."""
    terms = mappings(mapping(selector).get("nodeSelectorTerms"))
    if len(terms) != 1:
        return None
    fields, labels = mappings(terms[0].get("matchFields")), mappings(terms[0].get("matchExpressions"))
    if labels or len(fields) != 1:
        return None
    values = strings(fields[0].get("values"))
    named = fields[0].get("key") == "metadata.name" and fields[0].get("operator") == "In"
    return values[0] if named and len(values) == 1 else None


def hostname(selector: Any) -> str | None:
    """The host name that a node selector pins to by label `kubernetes.io/hostname`; which node that is, labels tell."""
    terms = mappings(mapping(selector).get("nodeSelectorTerms"))
    if len(terms) != 1 or mappings(terms[0].get("matchFields")):
        return None
    labels = mappings(terms[0].get("matchExpressions"))
    values = strings(labels[0].get("values")) if len(labels) == 1 else []
    named = bool(labels) and labels[0].get("key") == "kubernetes.io/hostname" and labels[0].get("operator") == "In"
    return values[0] if named and len(values) == 1 else None


def selector_words(selector: Any) -> str | None:
    """A node selector as text: requirements joined by "and", terms by "or"; None where it says nothing."""
    terms = []
    for term in mappings(mapping(selector).get("nodeSelectorTerms")):
        parts = []
        for item in (*mappings(term.get("matchFields")), *mappings(term.get("matchExpressions"))):
            values = strings(item.get("values"))
            parts.append(f"{item.get('key')} {item.get('operator')}" + (f" [{', '.join(values)}]" if values else ""))
        if parts:
            terms.append(" and ".join(parts))
    return " or ".join(terms) or None
