"""A small API server for the real kubectl: discovery, lists in pages, one object, logs, refusals. It holds invented objects."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml


@dataclass
class Cluster:
    """What the server holds: (group, version, plural, kind, namespaced) → objects."""

    resources: dict[tuple[str, str, str, str, bool], list[dict[str, Any]]] = field(default_factory=dict)
    logs: dict[tuple[str, str, str, bool], str] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)
    break_after: dict[str, int] = field(default_factory=dict)
    """Resource → pages after which its continue token has expired."""
    slow: dict[str, threading.Event] = field(default_factory=dict)
    """Resource → its list is not answered before this is set."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    rules: list[dict[str, Any]] | None = None
    """RBAC rules; None: everything may be read."""
    stale: set[str] = field(default_factory=set)
    """API groups whose discovery fails."""
    instead: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Resource → what is answered to every request for it, with 200."""
    used: set[tuple[str, str, str]] = field(default_factory=set)
    """Group, resource and verb of what was asked for, where there are rules."""
    page: int = 0
    """Objects a page whatever the client asks for; 0: as it asks."""

    def add(
        self, kind: str, plural: str, *objects: dict[str, Any], group: str = "", version: str = "v1", spaced: bool = True
    ) -> None:
        key = (group, version, plural, kind, spaced)
        api = f"{group}/{version}" if group else version
        for one in objects:
            one.setdefault("metadata", {}).setdefault("resourceVersion", "7")
            one["metadata"].setdefault("uid", f"uid-{one['metadata'].get('namespace', '')}-{one['metadata']['name']}")
            one["metadata"].setdefault("creationTimestamp", "2026-08-01T00:00:00Z")
        self.resources.setdefault(key, []).extend({"apiVersion": api, "kind": kind} | one for one in objects)

    @contextlib.contextmanager
    def serving(self, folder: Path) -> Iterator[Path]:
        """Serves on a free port; gives a kubeconfig."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"cluster": self}))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_address[1]}"}}],
            "users": [{"name": "u", "user": {"token": "not-a-real-token"}}],
            "contexts": [{"name": "kitchen/a", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "kitchen/a",
        }
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        try:
            yield path
        finally:
            for event in self.slow.values():
                event.set()
            server.shutdown()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    cluster: Cluster
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        return

    def _refuse(self) -> None:
        self.cluster.asked.append((self.command, self.path))
        self._send(405, {"kind": "Status", "status": "Failure", "message": "read only", "code": 405})

    do_POST = do_PUT = do_PATCH = do_DELETE = _refuse  # noqa: N815 - names of the standard library

    def do_GET(self) -> None:
        self.cluster.asked.append(("GET", self.path))
        url = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(url.query).items()}
        parts = url.path.strip("/").split("/")
        found = self._discovery(parts)
        if found is not None:
            self._send(200, found)
            return
        if parts[0] == "apis" and len(parts) == 3:
            self._fail(503, "ServiceUnavailable", "service unavailable")
            return
        if parts[0] == "api":
            group, version, rest = "", parts[1], parts[2:]
        else:
            group, version, rest = parts[1], parts[2], parts[3:]
        space = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            space, rest = rest[1], rest[2:]
        resource = f"{rest[0]}/{rest[2]}" if len(rest) > 2 else rest[0]
        if not self._allowed(group, resource, "list" if len(rest) == 1 else "get"):
            self._fail(403, "Forbidden", f'{resource} is forbidden: User "scout" cannot read it in API group "{group}"')
            return
        if rest[-1] == "log":
            self._log(space, rest[1], query)
            return
        self._objects(group, version, space, rest, query)

    def _allowed(self, group: str, resource: str, verb: str) -> bool:
        if self.cluster.rules is None:
            return True
        self.cluster.used.add((group, resource, verb))
        return any(
            group in rule["apiGroups"] and verb in rule["verbs"] and {"*", resource} & set(rule["resources"])
            for rule in self.cluster.rules
        )

    def _discovery(self, parts: list[str]) -> dict[str, Any] | None:
        keys = list(self.cluster.resources)
        if parts == ["version"]:
            return {"major": "1", "minor": "33", "gitVersion": "v1.33.1", "platform": "linux/amd64"}
        if parts == ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"]}
        if parts == ["apis"]:
            groups = {key[0]: key[1] for key in keys if key[0]}
            rows = []
            for group, version in sorted(groups.items()):
                one = {"groupVersion": f"{group}/{version}", "version": version}
                rows.append({"name": group, "versions": [one], "preferredVersion": one})
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": rows}
        if (parts[0] == "api" and len(parts) == 2) or (parts[0] == "apis" and len(parts) == 3):
            group, version = ("", parts[1]) if parts[0] == "api" else (parts[1], parts[2])
            if group in self.cluster.stale:
                return None
            listed = [
                {"name": key[2], "singularName": "", "kind": key[3], "namespaced": key[4], "verbs": ["get", "list", "create"]}
                for key in keys
                if key[:2] == (group, version)
            ]
            api = f"{group}/{version}" if group else version
            return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api, "resources": listed}
        return None

    def _objects(self, group: str, version: str, space: str, rest: list[str], query: dict[str, str]) -> None:
        key = next((key for key in self.cluster.resources if key[:3] == (group, version, rest[0])), None)
        if key is None:
            self._fail(404, "NotFound", "the server could not find the requested resource")
            return
        name = f"{rest[0]}.{group}" if group else rest[0]
        if name in self.cluster.forbidden or (not space and f"{name}@*" in self.cluster.forbidden):
            where = f' in the namespace "{space}"' if space else " at the cluster scope"
            said = f'{name} is forbidden: User "scout" cannot list resource "{rest[0]}" in API group "{group}"{where}'
            self._fail(403, "Forbidden", said)
            return
        if name in self.cluster.instead:
            self._send(200, self.cluster.instead[name])
            return
        if name in self.cluster.slow:
            self.cluster.slow[name].wait(30)
        items = [one for one in self.cluster.resources[key] if not space or one["metadata"].get("namespace") == space]
        if len(rest) == 2:
            one = next((one for one in items if one["metadata"]["name"] == rest[1]), None)
            if one is None:
                self._fail(404, "NotFound", f'{name} "{rest[1]}" not found')
            else:
                self._send(200, one)
            return
        self._page(key, name, [one for one in items if _fits(one, query)], query)

    def _page(self, key: tuple[str, str, str, str, bool], name: str, items: list[dict[str, Any]], query: dict[str, str]) -> None:
        limit = self.cluster.page or int(query.get("limit", "0")) or len(items) or 1
        start = int(query.get("continue", "0"))
        if start and start // limit >= self.cluster.break_after.get(name, 10**9):
            self._fail(410, "Expired", "The provided continue parameter is too old to display a consistent list result.")
            return
        left = len(items) - start - limit
        meta = {"resourceVersion": "99"} | ({"continue": str(start + limit), "remainingItemCount": left} if left > 0 else {})
        rows = [{part: value for part, value in one.items() if part not in ("apiVersion", "kind")} for one in items]
        api = f"{key[0]}/{key[1]}" if key[0] else key[1]
        self._send(200, {"apiVersion": api, "kind": f"{key[3]}List", "metadata": meta, "items": rows[start : start + limit]})

    def _log(self, space: str, pod: str, query: dict[str, str]) -> None:
        previous = query.get("previous") == "true"
        text = self.cluster.logs.get((space, pod, query.get("container", ""), previous))
        if text is None:
            container = query.get("container", "")
            self._fail(400, "BadRequest", f'previous terminated container "{container}" in pod "{pod}" not found')
            return
        lines = text.splitlines(keepends=True)[-int(query.get("tailLines", "1000000")) :]
        self._bytes(200, "".join(lines).encode(), "text/plain")

    def _fail(self, code: int, reason: str, message: str) -> None:
        body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
        self._send(code, body | {"reason": reason, "code": code})

    def _send(self, code: int, value: dict[str, Any]) -> None:
        self._bytes(code, json.dumps(value).encode(), "application/json")

    def _bytes(self, code: int, body: bytes, kind: str) -> None:
        with contextlib.suppress(OSError):
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


def _fits(one: dict[str, Any], query: dict[str, str]) -> bool:
    wanted = query.get("fieldSelector", "").removeprefix("metadata.name=")
    label, equals, value = query.get("labelSelector", "").partition("=")
    labels = one["metadata"].get("labels") or {}
    return (not wanted or one["metadata"]["name"] == wanted) and (
        not label or (label in labels and (not equals or labels[label] == value))
    )
