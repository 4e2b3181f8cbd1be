"""A cluster for tests: kmock as the API server, with pages, tokens that expire, refusals, slow and cut answers."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp.web
import kmock
import yaml

Answer = aiohttp.web.StreamResponse | None
Fault = Callable[["Asked"], Answer | Awaitable[Answer]]

_LIST = re.compile(r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>v[^/]+)(?:/namespaces/(?P<ns>[^/]+))?/(?P<plural>[a-z]+)")
_LOG = re.compile(r"/api/v1/namespaces/(?P<ns>[^/]+)/pods/(?P<pod>[^/]+)/log")
_ONE_NAMESPACE = re.compile(r"/api/v1/namespaces/(?P<name>[^/]+)")

KINDS = {
    "namespaces": "Namespace", "nodes": "Node", "pods": "Pod", "configmaps": "ConfigMap", "secrets": "Secret", "events": "Event",
    "services": "Service", "componentstatuses": "ComponentStatus", "deployments": "Deployment", "leases": "Lease",
    "controllerrevisions": "ControllerRevision", "customresourcedefinitions": "CustomResourceDefinition",
    "clusterpolicies": "ClusterPolicy", "workloads": "Workload", "nvidiadrivers": "NVIDIADriver", "widgets": "Widget",
}  # fmt: skip
CLUSTER_SCOPED = {"namespaces", "nodes", "componentstatuses", "customresourcedefinitions", "clusterpolicies", "nvidiadrivers"}


def obj(name: str, namespace: str = "", **rest: Any) -> dict[str, Any]:
    """An object as it stands in a list: without apiVersion and kind."""
    metadata = {"name": name, "uid": f"uid-{namespace}-{name}", "resourceVersion": "1", **rest.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    return {"metadata": metadata, **rest}


def status(code: int, message: str, headers: dict[str, str] | None = None, **rest: Any) -> aiohttp.web.Response:
    """A refusal as the API server words it."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code, **rest}
    return aiohttp.web.json_response(body, status=code, headers=headers)


@dataclass
class Asked:
    """A request that came in."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    raw: aiohttp.web.BaseRequest


class _Server(kmock.KubernetesScaffold):
    """kmock's API server, in which our cluster has the first word."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self.cluster = cluster

    async def __call__(self, raw_request: aiohttp.web.BaseRequest) -> aiohttp.web.StreamResponse:
        # Before kmock reads the path, since it cannot read that of the list of namespaces.
        asked = Asked(raw_request.method, raw_request.path, dict(raw_request.query), dict(raw_request.headers), raw_request)
        return await self.cluster.answer(asked) or await super().__call__(raw_request)


@dataclass
class Cluster:
    """What the server holds, and what goes wrong: `faults` by resource (or path), used up one by one; a last None repeats."""

    resources: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    logs: dict[tuple[str, str, str, bool], bytes] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    forbidden: set[str] = field(default_factory=set)
    version_of: dict[str, str] = field(default_factory=dict)
    requests: list[Asked] = field(default_factory=list)
    rendered: dict[str, list[bytes]] = field(default_factory=dict)
    url: str = ""

    def serve(self, resource: str, *objects: dict[str, Any], version: str = "v1") -> Cluster:
        """Serves a resource (PLURAL or PLURAL.GROUP) with these objects."""
        self.resources[resource].extend(objects)
        self.version_of[resource] = version
        return self

    def paths(self) -> list[str]:
        """The paths that were asked, with their queries."""
        return [str(request.raw.rel_url) for request in self.requests]

    async def answer(self, request: Asked) -> Answer:
        """Answers lists, single Namespaces and logs; None leaves the rest (discovery, version) to kmock."""
        self.requests.append(request)
        path = request.path
        log, one, listed = _LOG.fullmatch(path), _ONE_NAMESPACE.fullmatch(path), _LIST.fullmatch(path)
        name = path
        if log:
            name = "log"
        elif listed and not one:
            name = f"{listed['plural']}.{listed['group']}" if listed["group"] else listed["plural"]
        for key in (name, path):
            if self.faults[key]:
                fault = self.faults[key][0]
                if len(self.faults[key]) > 1 or not getattr(fault, "forever", False):
                    self.faults[key].pop(0)
                found = fault(request)
                found = await found if isinstance(found, Awaitable) else found
                if found is not None:
                    return found
        if log:
            return self._log(log, request)
        if one:
            found_one = next((entry for entry in self.resources["namespaces"] if entry["metadata"]["name"] == one["name"]), None)
            return aiohttp.web.json_response(found_one) if found_one else status(404, f'namespaces "{one["name"]}" not found')
        if listed is None or name not in self.version_of:
            return None
        if name in self.forbidden or (listed["ns"] is None and f"{name}@*" in self.forbidden):
            return status(403, f'{name} is forbidden: User "dev" cannot list resource "{listed["plural"]}"')
        return self._page(name, listed["ns"], request)

    def _log(self, found: re.Match[str], request: Asked) -> aiohttp.web.Response:
        previous = request.params.get("previous") == "true"
        text = self.logs.get((found["ns"], found["pod"], request.params["container"], previous))
        if text is None:
            return status(400, f'previous terminated container "{request.params["container"]}" in pod "{found["pod"]}" not found')
        tail = int(request.params.get("tailLines", "0"))
        return aiohttp.web.Response(body=b"".join(text.splitlines(keepends=True)[-tail:]) if tail else text)

    def _page(self, name: str, namespace: str | None, request: Asked) -> aiohttp.web.Response:
        items = self.rendered.get(name)
        if items is None:
            everything = self.resources[name]
            items = [
                json.dumps(item).encode()
                for item in everything
                if not namespace or item["metadata"].get("namespace") == namespace
            ]
            if not namespace:
                self.rendered[name] = items
        elif namespace:
            items = [item for item in items if json.loads(item)["metadata"].get("namespace") == namespace]
        limit = int(request.params.get("limit", "0")) or len(items)
        start = int(request.params.get("continue", "0"))
        rest = len(items) - start - limit
        metadata: dict[str, Any] = {"resourceVersion": "77"}
        if rest > 0:
            metadata |= {"continue": str(start + limit), "remainingItemCount": rest}
        plural, _, group = name.partition(".")
        version = f"{group}/{self.version_of[name]}" if group else "v1"
        head = json.dumps({"kind": f"{KINDS[plural]}List", "apiVersion": version, "metadata": metadata})[:-1].encode()
        body = head + b',"items":[' + b",".join(items[start : start + limit]) + b"]}"
        return aiohttp.web.Response(body=body, content_type="application/json")

    @contextmanager
    def running(self) -> Iterator[Cluster]:
        """Runs the server in a thread of its own."""
        started, loop = threading.Event(), asyncio.new_event_loop()
        ended = asyncio.Event()

        async def main() -> None:
            async with _Server(cluster=self) as mock, kmock.Server(mock) as server:
                for name, version in self.version_of.items():
                    plural, _, group = name.partition(".")
                    mock.resources[f"{group}/{version}/{plural}" if group else f"v1/{plural}"] = kmock.ResourceInfo(
                        namespaced=plural not in CLUSTER_SCOPED, kind=KINDS[plural], verbs={"get", "list", "watch"}
                    )
                self.url = str(server.url).rstrip("/")
                started.set()
                await ended.wait()

        thread = threading.Thread(target=loop.run_until_complete, args=(main(),), daemon=True)
        thread.start()
        assert started.wait(20)
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(ended.set)
            thread.join(20)

    def kubeconfig(self, folder: Path, **user: Any) -> Path:
        """A kubeconfig for this server."""
        return kubeconfig(folder, self.url, **user)


def kubeconfig(folder: Path, server: str, **user: Any) -> Path:
    """A kubeconfig with one context, `lab`, whose namespace is `team-a`."""
    path = folder / "kubeconfig"
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [{"name": "lab-cluster", "cluster": {"server": server}}],
        "users": [{"name": "dev", "user": user or {"token": "not-a-real-token-1234"}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab-cluster", "user": "dev", "namespace": "team-a"}}],
    }
    path.write_text(yaml.safe_dump(value))
    return path


def forever(fault: Fault) -> Fault:
    """A fault that does not go away."""

    def again(request: Asked) -> Answer | Awaitable[Answer]:
        return fault(request)

    again.forever = True  # type: ignore[attr-defined]
    return again


def small() -> Cluster:
    """A cluster with a bit of everything."""
    cluster = Cluster()
    cluster.serve("namespaces", obj("kube-system", metadata={"uid": "cluster-uid-1"}), obj("team-a"), obj("team-b"))
    cluster.serve("nodes", obj("node-1"), obj("node-2"))
    cluster.serve("pods", running("web-1", "team-a"), running("web-2", "team-a"), crashing("bad-1", "team-b"))
    cluster.serve("events")
    cluster.serve("deployments.apps", obj("web", "team-a"))
    cluster.logs["team-b", "bad-1", "app", False] = (
        b"2026-11-01T10:00:00Z starting\n2026-11-01T10:00:01Z password=hunter22secret\n"
    )
    cluster.logs["team-b", "bad-1", "app", True] = b"2026-11-01T09:00:00Z panic: out of luck\n"
    return cluster


_SPEC = {"nodeName": "node-1", "containers": [{"name": "app", "image": "registry.example/app:1"}]}


def running(name: str, namespace: str, **metadata: Any) -> dict[str, Any]:
    """A pod that is well."""
    state = {"running": {"startedAt": "2026-11-01T09:00:00Z"}}
    container = {
        "name": "app",
        "ready": True,
        "restartCount": 0,
        "containerID": "containerd://1",
        "state": state,
        "lastState": {},
    }
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"phase": "Running", "conditions": conditions, "containerStatuses": [container]}
    return obj(name, namespace, metadata=metadata, spec=_SPEC, status=status)


def crashing(name: str, namespace: str, **metadata: Any) -> dict[str, Any]:
    """A pod whose container crashes again and again."""
    container = {
        "name": "app",
        "ready": False,
        "restartCount": 4,
        "containerID": "containerd://2",
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-11-01T09:59:00Z"}},
    }
    conditions = [{"type": "Ready", "status": "False"}]
    status = {"phase": "Running", "conditions": conditions, "containerStatuses": [container]}
    return obj(name, namespace, metadata=metadata, spec=_SPEC, status=status)
