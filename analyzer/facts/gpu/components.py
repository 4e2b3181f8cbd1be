"""The parts of the NVIDIA GPU Operator: which of them a ClusterPolicy asks for, and what a node needs.

What they are is data, `components.yaml`; its head names the sources.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analyzer.facts.data import beside
from analyzer.facts.values import flag, mapping, text

Release = tuple[int, int]

SANDBOX = "sandboxWorkloads"
DEFAULT_MODE = "kubevirt"
"""spec.sandboxWorkloads.mode where it is not set, in the releases that know the field."""
WORKLOADS = ("container", "vm-passthrough", "vm-vgpu")
"""What a GPU node may be for; without sandbox workloads all of them are for containers."""


@dataclass(frozen=True, slots=True)
class Component:
    """One part; see the head of components.yaml."""

    name: str
    state: str
    daemonset: str
    workloads: tuple[str, ...]
    setting: str | None = None
    default: bool = True
    suffixed: bool = False
    sandbox: bool = False
    mode: str | None = None
    mode_from: Release | None = None
    retired: Release | None = None
    crd: bool = False
    only: str | None = None

    @property
    def field(self) -> str | None:
        """The field that switches it on."""
        return f"spec.{self.setting}.enabled" if self.setting else None

    def owns(self, daemonset: str) -> bool:
        """Whether a DaemonSet of this name is its own."""
        return daemonset == self.daemonset or (self.suffixed and daemonset.startswith(f"{self.daemonset}-"))


@lru_cache(maxsize=1)
def components() -> tuple[Component, ...]:
    """All parts, in the order in which they depend on one another."""
    return tuple(beside(__file__, "components.yaml", list[Component]))


def off(component: Component, spec: dict[str, Any], release: Release | None) -> str | None:
    """Why a ClusterPolicy does not ask for a part; None where it does.

    Args:
        component: the part.
        spec: the spec of the ClusterPolicy.
        release: year and month of the operator's release, None where it is not known.
    """
    if component.retired and release and release >= component.retired:
        return f"release {release[0]}.{release[1]} of the operator deploys it no longer"
    sandbox = mapping(spec.get(SANDBOX))
    if component.sandbox and flag(sandbox.get("enabled")) is not True:
        return f"spec.{SANDBOX}.enabled is {_said(sandbox.get('enabled'))}"
    if component.setting:
        enabled = flag(mapping(spec.get(component.setting)).get("enabled"))
        if enabled is False:
            return f"{component.field} is false"
        if enabled is None and not component.default:
            return f"{component.field} is not set, which means false"
    if component.mode:
        mode = text(sandbox.get("mode"))
        known = component.mode_from is None or (release is not None and release >= component.mode_from)
        if mode is None and known:
            mode = DEFAULT_MODE
        elif not known and release is not None:
            mode = None
        if mode is not None and mode != component.mode:
            return f"spec.{SANDBOX}.mode is {mode}, not {component.mode}"
    return None


def _said(value: Any) -> str:
    return "false" if value is False else "not set"


def on(component: Component, spec: dict[str, Any]) -> str:
    """Why a ClusterPolicy asks for a part that is not off, in words."""
    if not component.setting:
        return "always on" if not component.sandbox else f"spec.{SANDBOX}.enabled is true"
    enabled = flag(mapping(spec.get(component.setting)).get("enabled"))
    return f"{component.field} is true" if enabled else f"{component.field} is not set, which means true"


def workload(spec: dict[str, Any], labelled: str | None) -> str:
    """What a node is for: its label where that counts and is valid, else the policy's default, else containers."""
    sandbox = mapping(spec.get(SANDBOX))
    if flag(sandbox.get("enabled")) is not True:
        return WORKLOADS[0]
    return next((one for one in (labelled, text(sandbox.get("defaultWorkload"))) if one in WORKLOADS), WORKLOADS[0])


def by_state(names: Collection[str]) -> list[str]:
    """The parts that the operator's messages name by their states; names that are no part stay as they are."""
    known = {component.state: component.name for component in components()}
    return [known.get(name, name) for name in names]
