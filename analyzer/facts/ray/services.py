"""RayServices: the state in KubeRay's order, both clusters, and what the Serve applications say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from analyzer.facts.ray.clusters import Cluster, lacking, trouble
from analyzer.facts.told import Condition, Conditions, conditions
from analyzer.facts.values import Stored, flag, mapping, mappings, moment, number, text

_FOR_GOOD = frozenset({"ValidationFailed", "InitializingTimeout"})
_SUSPENDS = frozenset({"SuspendInProgress", "SuspendComplete"})
_UNHEALTHY = frozenset({"UNHEALTHY", "DEPLOY_FAILED"})
MAX_APPLICATIONS = 2_000
"""Applications and deployments of one RayService that are read."""


@dataclass(frozen=True, slots=True)
class Application:
    """A Serve application, or a deployment of one."""

    role: str
    cluster: str | None
    app: str
    deployment: str | None
    status: str
    message: str | None
    path: str
    since: datetime | None

    @property
    def unhealthy(self) -> bool:
        """Ray says that it does not work."""
        return self.status in _UNHEALTHY


@dataclass(slots=True)
class Service:
    """A RayService."""

    object_id: int
    input: int
    namespace: str
    name: str
    created_at: datetime | None
    deleted: bool
    suspend: bool
    conditions: Conditions
    legacy: str | None
    updated: datetime | None
    has_status: bool
    clusters: dict[str, str | None]
    traffic: str | None
    endpoints: int | None
    applications: list[Application]
    state: str = "Not ready"
    told: Condition | None = None
    ready: bool | None = None
    at_once: bool = False
    blame: list[str] = field(default_factory=list)

    @property
    def upgrading(self) -> bool:
        """An upgrade is under way: by condition, for old operators where both clusters are named."""
        if "UpgradeInProgress" in self.conditions:
            return self.conditions.true("UpgradeInProgress") is not None
        return bool(self.clusters["active"] and self.clusters["pending"])

    @property
    def ready_since(self) -> datetime | None:
        """When it last turned ready or not; of old operators as far as the status says."""
        told = self.conditions.get("Ready")
        return told.since if told else (self.updated or self.created_at if self.has_status else None)


def read(item: Stored) -> Service:
    """Reads one RayService, with its state."""
    spec, status = mapping(item.value.get("spec")), mapping(item.value.get("status"))
    active, pending = mapping(status.get("activeServiceStatus")), mapping(status.get("pendingServiceStatus"))
    applications = [*_applications("active", active), *_applications("pending", pending)][:MAX_APPLICATIONS]
    one = Service(
        item.object_id,
        item.input,
        item.namespace,
        item.name,
        item.created_at,
        item.deleted_at is not None,
        flag(spec.get("suspend")) or False,
        conditions(status),
        text(status.get("serviceStatus")),
        moment(status.get("lastUpdateTime")),
        bool(status),
        {"active": text(active.get("rayClusterName")), "pending": text(pending.get("rayClusterName"))},
        _traffic(active, pending),
        number(status.get("numServeEndpoints")),
        applications,
    )
    _decide(one)
    return one


def _traffic(active: dict[str, Any], pending: dict[str, Any]) -> str | None:
    told = []
    for role, status in (("active", active), ("pending", pending)):
        capacity, traffic = number(status.get("targetCapacity")), number(status.get("trafficRoutedPercent"))
        said = [f"{traffic} % of the traffic"] if traffic is not None else []
        said += [f"capacity {capacity} %"] if capacity is not None else []
        told += [f"{role} cluster: {', '.join(said)}"] if said else []
    return "; ".join(told) or None


def _applications(role: str, status: dict[str, Any]) -> Iterator[Application]:
    cluster = text(status.get("rayClusterName"))
    place = f"status.{role}ServiceStatus"
    for app, told in mapping(status.get("applicationStatuses")).items():
        path = f"{place}.applicationStatuses{_key(app)}"
        found = mapping(told)
        whole = _application(role, cluster, app, None, found, path)
        yield whole
        for deployment, one in mapping(found.get("serveDeploymentStatuses")).items():
            part = _application(role, cluster, app, deployment, mapping(one), f"{path}.serveDeploymentStatuses{_key(deployment)}")
            yield part if part.since else replace(part, since=whole.since)
    # Before 1.0 there was one application without a name.
    for index, one in enumerate(mappings(status.get("serveDeploymentStatuses"))):
        yield _application(role, cluster, "", text(one.get("name")), one, f"{place}.serveDeploymentStatuses[{index}]")


def _key(name: str) -> str:
    return f".{name}" if name.replace("_", "").replace("-", "").isalnum() else f'["{name}"]'


def _application(
    role: str, cluster: str | None, app: str, deployment: str | None, told: Mapping[str, Any], path: str
) -> Application:
    since = moment(told.get("healthLastUpdateTime")) or moment(told.get("lastUpdateTime"))
    return Application(role, cluster, app, deployment, text(told.get("status")) or "", text(told.get("message")), path, since)


def _decide(one: Service) -> None:
    ready = one.conditions.get("Ready")
    one.ready = ready.status == "True" if ready else one.legacy == "Running" if one.legacy else False if one.has_status else None
    reason = ready.reason if ready and ready.status != "True" else None
    suspended = one.conditions.true("Suspended") or one.conditions.true("Suspending")
    rollback = one.conditions.true("RollbackInProgress")
    if one.deleted:
        one.state = "Deleting"
    elif suspended or one.suspend or reason in _SUSPENDS:
        one.state, one.told = "Suspended", suspended or ready
    elif reason in _FOR_GOOD:
        one.state, one.told, one.at_once = "Failed", ready, True
    elif rollback:
        one.state, one.told = "Rollback in progress", rollback
    elif one.upgrading:
        one.state, one.told = "Upgrading", one.conditions.true("UpgradeInProgress")
    elif one.ready:
        one.state, one.told = "Ready", ready
    else:
        one.state, one.told = "Not ready", ready


def blame(one: Service, clusters: Mapping[str, Cluster], *, whole: bool) -> None:
    """Says what keeps a service from being ready: during an upgrade its pending cluster, else the one that it has.

    Args:
        one: the service, changed in place.
        clusters: the RayClusters of its namespace by name.
        whole: all RayClusters of the namespace are in the bundle.
    """
    for role in ("pending", "active"):
        name = one.clusters[role]
        if not name or (role == "active" and one.clusters["pending"] and one.ready):
            continue
        cluster = clusters.get(name)
        if cluster is None:
            one.blame.append(f"its {role} RayCluster {name} {lacking(whole=whole)}")
        else:
            one.blame += trouble(cluster, f"its {role} RayCluster {name}")
    if not any(one.clusters.values()) and one.has_status:
        one.blame.append("its status names no RayCluster")
    for app in [app for app in one.applications if app.unhealthy][:5]:
        what = f"deployment {app.deployment} of application {app.app}" if app.deployment else f"application {app.app}"
        one.blame.append(f"{what} ({app.role}) is {app.status}" + (f': "{app.message[:300]}"' if app.message else ""))
    if one.endpoints == 0 and not one.blame:
        one.blame.append(
            "no pod serves (numServeEndpoints is 0) though nothing is wrong with its cluster: see the probes of its pods"
        )


def rows(one: Service, ids: Mapping[str, int]) -> dict[str, Any]:
    """The row of `ray_services`.

    Args:
        one: the service.
        ids: the RayClusters of its namespace by name.
    """
    told = one.told
    legacy = one.legacy if not one.conditions and one.state in ("Ready", "Not ready") else None
    return {
        "object_id": one.object_id,
        "input": one.input,
        "namespace": one.namespace,
        "name": one.name,
        "state": one.state,
        "reason": told.reason if told else legacy,
        "message": (told.message or None) if told else None,
        "message_path": told.path if told else "status.serviceStatus" if legacy else None,
        "since": told.since if told else one.ready_since,
        "created_at": one.created_at,
        "deleted": one.deleted,
        "ready": one.ready,
        "ready_since": one.ready_since,
        "at_once": one.at_once,
        "active_cluster": one.clusters["active"],
        "active_id": ids.get(one.clusters["active"] or ""),
        "pending_cluster": one.clusters["pending"],
        "pending_id": ids.get(one.clusters["pending"] or ""),
        "upgrading": one.upgrading,
        "rolling_back": one.conditions.true("RollbackInProgress") is not None,
        "traffic": one.traffic,
        "endpoints": one.endpoints,
        "blame": "; ".join(one.blame[:8]) or None,
        "serve_service": f"{one.name}-serve-svc",
    }


def application_rows(one: Service) -> Iterator[dict[str, Any]]:
    """The rows of `ray_applications`."""
    for app in one.applications:
        yield {
            "object_id": one.object_id,
            "role": app.role,
            "cluster": app.cluster,
            "app": app.app,
            "deployment": app.deployment,
            "status": app.status or None,
            "unhealthy": app.unhealthy,
            "message": app.message,
            "path": f"{app.path}.status",
            "since": app.since or one.ready_since,
        }
