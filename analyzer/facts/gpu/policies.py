"""What the GPU Operator says of its ClusterPolicy, NVIDIADriver and GPUCluster objects.

The operator writes the words of a failure into condition `Error`; condition `Ready` is then False with reason "Error" and no
message. Releases before 23.6 have no conditions, only `status.state`. Of several ClusterPolicies the oldest counts. A
GPUCluster (since 26.7) sets up GPUs for Dynamic Resource Allocation; the operator takes none beside a ClusterPolicy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.gpu.components import Release
from analyzer.facts.gpu.releases import of_must_gather
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, flag, mapping, mappings, moment, one_line, stored, strings, text

GROUP = "nvidia.com"
POLICY, DRIVER, CLUSTER = "ClusterPolicy", "NVIDIADriver", "GPUCluster"
STATES = {"ready": "Ready", "notready": "Not ready", "disabled": "Disabled", "ignored": "Ignored"}
"""status.state in small letters → how the state is called here."""
MAX_STATES = 64
"""States that are read of one message; the operator has about twenty."""

_NOT_READY = re.compile(r"states not ready: \[([^\]\n]{0,4000})\]")
_SWITCHED_OFF = "useNvidiaDriverCRD is not enabled"
_VERSION = re.compile(r"\bv?(\d{1,3})\.(\d{1,3})\.\d{1,3}", re.ASCII)

_IMAGES = """
SELECT namespace, image,
    json_extract_string(json, ['$.metadata.labels."app.kubernetes.io/version"', '$.metadata.labels."helm.sh/chart"'])
FROM (
    SELECT o.namespace, o.json, unnest(json_extract_string(o.json, '$.spec.template.spec.containers[*].image')) AS image
    FROM objects o WHERE o.api_group = 'apps' AND o.kind = 'Deployment' AND o.name = 'gpu-operator'
    UNION ALL
    SELECT p.namespace, o.json, c.image FROM pods p JOIN containers c USING (object_id) JOIN objects o USING (object_id)
    WHERE c.type = 'main' AND json_extract_string(o.json, '$.metadata.labels.app') = 'gpu-operator'
)
ORDER BY namespace, image
"""


@dataclass(frozen=True, slots=True)
class Said:
    """The state of one object, in the operator's words."""

    state: str
    reason: str | None = None
    message: str | None = None
    since: datetime | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """One ClusterPolicy, NVIDIADriver or GPUCluster with its state."""

    item: Stored
    said: Said
    active: bool
    not_ready: tuple[str, ...] = ()

    @property
    def spec(self) -> dict[str, Any]:
        """Its spec."""
        return mapping(self.item.value.get("spec"))

    @property
    def uses_drivers(self) -> bool:
        """It leaves the driver to NVIDIADriver objects."""
        return flag(mapping(self.spec.get("driver")).get("useNvidiaDriverCRD")) is True


@dataclass(frozen=True, slots=True)
class Operator:
    """The objects of the operator, where it runs and which release it is."""

    policies: tuple[Policy, ...]
    drivers: tuple[Policy, ...]
    clusters: tuple[Policy, ...]
    namespace: str | None
    release: Release | None

    @property
    def active(self) -> Policy | None:
        """The ClusterPolicy that counts."""
        return next((policy for policy in self.policies if policy.active), None)


def read(con: duckdb.DuckDBPyConnection) -> Operator:
    """The operator's objects of a bundle. Needs `pods` and `containers`."""
    items = list(stored(con, [(GROUP, POLICY)]))
    oldest = min(items, key=lambda item: (item.created_at or datetime.max, item.name), default=None)  # noqa: DTZ901 - naive UTC
    policies = tuple(_policy(item, active=item is oldest, oldest=oldest) for item in items)
    drivers = tuple(_driver(item, policies) for item in stored(con, [(GROUP, DRIVER)]))
    clusters = tuple(_cluster(item) for item in stored(con, [(GROUP, CLUSTER)]))
    seen = con.execute(_IMAGES).fetchall()
    telling = [*([oldest] if oldest else []), *(cluster.item for cluster in clusters)]
    named = next((name for item in telling if (name := text(mapping(item.value.get("status")).get("namespace")))), None)
    own = next((namespace for namespace, _, _ in seen), None)
    return Operator(policies, drivers, clusters, named or own, _release(seen) or of_must_gather(con))


def _release(seen: list[tuple[str, str | None, list[str | None]]]) -> Release | None:
    for _, image, labels in seen:
        tag = (image or "").rpartition("/")[2].partition("@")[0].partition(":")[2]
        for words in (tag, *labels):
            if found := _VERSION.search(words or ""):
                return int(found[1]), int(found[2])
    return None


def _policy(item: Stored, *, active: bool, oldest: Stored | None) -> Policy:
    said = read_status(item)
    if not active and oldest is not None:
        words = said.message if said.state == "Ignored" else None
        message = words or f"ClusterPolicy {oldest.name} is older, and the operator heeds one only"
        return Policy(item, Said("Ignored", said.reason, message, said.since, said.path), active=False)
    return Policy(item, said, active, _named(said))


def _named(said: Said) -> tuple[str, ...]:
    """The operator's states that a message calls not ready."""
    found = _NOT_READY.search(said.message or "")
    return tuple(re.split(r"[\s,]+", found[1].strip())[:MAX_STATES]) if found and found[1].strip() else ()


def _driver(item: Stored, policies: tuple[Policy, ...]) -> Policy:
    said = read_status(item)
    active = next((policy for policy in policies if policy.active), None)
    switched_off = said.state == "Not ready" and _SWITCHED_OFF in (said.message or "")
    if switched_off and not (active and active.uses_drivers):
        said = Said("Disabled", said.reason, said.message, said.since, said.path)
    return Policy(item, said, active=said.state in {"Ready", "Not ready"})


def _cluster(item: Stored) -> Policy:
    said = read_status(item)
    return Policy(item, said, said.state in {"Ready", "Not ready"}, _named(said))


def read_status(item: Stored) -> Said:
    """State, reason, message and time from the status of a ClusterPolicy, NVIDIADriver or GPUCluster."""
    status = mapping(item.value.get("status"))
    conditions = {text(one.get("type")): (idx, one) for idx, one in enumerate(mappings(status.get("conditions")))}
    ready, error = conditions.get("Ready"), conditions.get("Error")
    written = (text(status.get("state")) or "").lower()
    state = STATES.get(written)
    if state is None:
        is_ready = ready is not None and text(ready[1].get("status")) == "True"
        state = "Ready" if is_ready else "Not ready"
        if not written and ready is None:
            return Said(state, None, "the operator has not written a state yet")
    failed = error if error is not None and text(error[1].get("status")) == "True" else None
    told = ready if state == "Ready" else failed or ready
    if told is None:
        return Said(state)
    idx, condition = told
    turned = moment(mapping(ready[1] if ready else condition).get("lastTransitionTime"))
    since = turned or moment(condition.get("lastTransitionTime"))
    message = text(condition.get("message"))
    field = "message" if message else "reason"
    words = one_line(message) if message else None
    return Said(state, text(condition.get("reason")), words, since, f"status.conditions[{idx}].{field}")


def write(con: duckdb.DuckDBPyConnection, operator: Operator) -> None:
    """Fills `gpu_policies` and the rows of `states` for the objects of the operator."""
    rows = list(_rows(operator))
    insert_rows(con, "gpu_policies", rows)
    insert_rows(con, "states", ({"api_group": GROUP, "namespace": "", **_state(row)} for row in rows))


def _state(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("object_id", "kind", "name", "state", "reason", "message", "since")}


def _rows(operator: Operator) -> Iterator[dict[str, Any]]:
    for policy in (*operator.policies, *operator.drivers, *operator.clusters):
        status = mapping(policy.item.value.get("status"))
        is_policy, is_driver = policy.item.kind == POLICY, policy.item.kind == DRIVER
        yield {
            "object_id": policy.item.object_id,
            "input": policy.item.input,
            "kind": policy.item.kind,
            "name": policy.item.name,
            "state": policy.said.state,
            "reason": policy.said.reason,
            "message": policy.said.message,
            "since": policy.said.since,
            "path": policy.said.path or ("status.state" if text(status.get("state")) else None),
            "reported": bool(status),
            "active": policy.active,
            "not_ready": list(policy.not_ready),
            "namespace": operator.namespace if not is_driver else text(status.get("namespace")),
            "release": f"{operator.release[0]}.{operator.release[1]}" if operator.release else None,
            "uses_drivers": policy.uses_drivers if is_policy else None,
            "selector": _selector(policy) if is_driver else None,
        }


def _selector(policy: Policy) -> str | None:
    """Which nodes an NVIDIADriver is for."""
    wanted = mapping(policy.spec.get("nodeSelector"))
    pairs = [f"{key}={value}" for key, value in sorted(wanted.items()) if isinstance(value, str)]
    return ", ".join(strings(pairs)) or None
