"""How fast `triage collect` is, and how much memory it takes, beside `kubectl get --raw` of the same pages from the same server.

    python bench/collector.py [--pods 20000] [--events 5000] [--workloads 2000] [--keep FILE]

The server is one of recorded pages: a process of its own, that does nothing but send bytes. kubectl asks for the pages one after
the other, once a page, as the collector does; what it prints goes nowhere.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

NAMESPACES = 40
LISTS = {
    "/api/v1/namespaces": ("v1", "Namespace"),
    "/api/v1/nodes": ("v1", "Node"),
    "/api/v1/pods": ("v1", "Pod"),
    "/api/v1/events": ("v1", "Event"),
    "/apis/kueue.x-k8s.io/v1beta1/workloads": ("kueue.x-k8s.io/v1beta1", "Workload"),
}
_PLURAL = re.compile(r"[a-z]+\Z")


def pod(number: int) -> dict[str, Any]:
    """A pod of about 8 KB, a third of it managedFields, as real ones are."""
    names = ("env", "image", "ports", "resources", "volumeMounts")
    owned: dict[str, Any] = {f'k:{{"name":"c{i}"}}': {f"f:{name}": {} for name in names} for i in range(12)}
    container = {
        "name": "main",
        "image": "registry.example/team/service:1.4.2",
        "env": [{"name": f"SETTING_{i}", "value": f"value-{i}"} for i in range(20)],
        "resources": {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "1", "memory": "2Gi"}},
        "volumeMounts": [{"name": f"v{i}", "mountPath": f"/data/{i}"} for i in range(8)],
    }
    state = {
        "name": "main", "ready": True, "restartCount": 0, "containerID": f"containerd://{number:064x}", "image": container["image"],
        "state": {"running": {"startedAt": "2026-11-01T09:00:00Z"}}, "lastState": {},
    }  # fmt: skip
    return {
        "metadata": {
            "name": f"service-{number:06d}", "namespace": f"team-{number * NAMESPACES // 20000 % NAMESPACES:02d}", "uid": f"{number:032x}",
            "resourceVersion": str(number), "creationTimestamp": "2026-11-01T08:59:00Z",
            "labels": {f"example.com/label-{i}": f"value-{i}" for i in range(6)},
            "managedFields": [
                {"manager": name, "operation": "Update", "time": "2026-11-01T09:00:00Z", "fieldsType": "FieldsV1",
                 "fieldsV1": {"f:spec": {"f:containers": owned}}}
                for name in ("kube-controller-manager", "kubelet")
            ],
        },
        "spec": {
            "nodeName": f"node-{number % 200}", "containers": [container],
            "volumes": [{"name": f"v{i}", "emptyDir": {}} for i in range(8)],
            "tolerations": [{"key": f"node.kubernetes.io/{i}", "operator": "Exists", "effect": "NoExecute"} for i in range(4)],
        },
        "status": {
            "phase": "Running", "containerStatuses": [state],
            "conditions": [{"type": name, "status": "True", "lastTransitionTime": "2026-11-01T09:00:00Z"}
                           for name in ("Initialized", "Ready", "ContainersReady", "PodScheduled")],
        },
    }  # fmt: skip


def event(number: int) -> dict[str, Any]:
    """An event of about 1 KB."""
    return {
        "metadata": {"name": f"service-{number:06d}.17b", "namespace": f"team-{number % NAMESPACES:02d}", "uid": f"e{number:031x}"},
        "involvedObject": {"kind": "Pod", "name": f"service-{number:06d}", "namespace": f"team-{number % NAMESPACES:02d}"},
        "reason": "Scheduled", "message": "Successfully assigned " + "x" * 300, "type": "Normal", "count": 1,
        "lastTimestamp": "2026-11-01T09:00:00Z",
    }  # fmt: skip


def workload(number: int) -> dict[str, Any]:
    """A custom resource of about 4 KB."""
    return {
        "metadata": {"name": f"job-{number:06d}", "namespace": f"team-{number % NAMESPACES:02d}", "uid": f"w{number:031x}",
                     "managedFields": [{"manager": "kueue", "operation": "Update", "time": "2026-11-01T09:00:00Z", "fieldsV1": {}}]},
        "spec": {"queueName": "main", "podSets": [{"name": f"set-{i}", "count": 1, "template": {"spec": {"containers": [{"name": "x" * 50}]}}}
                                                  for i in range(20)]},
        "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": "waits " + "y" * 200}]},
    }  # fmt: skip


def pages(objects: list[dict[str, Any]], path: str, limit: int) -> list[bytes]:
    """The recorded pages of a list."""
    version, kind = LISTS[path]
    objects.sort(key=lambda value: (value["metadata"].get("namespace", ""), value["metadata"]["name"]))
    found = []
    for start in range(0, max(1, len(objects)), limit):
        metadata = {"resourceVersion": "1000"}
        if start + limit < len(objects):
            metadata["continue"] = str(start // limit + 1)
        value = {"kind": f"{kind}List", "apiVersion": version, "metadata": metadata, "items": objects[start : start + limit]}
        found.append(json.dumps(value, separators=(",", ":")).encode())
    return found


class Handler(BaseHTTPRequestHandler):
    """Sends recorded pages."""

    protocol_version = "HTTP/1.1"
    recorded: ClassVar[dict[str, list[bytes]]] = {}
    fixed: ClassVar[dict[str, bytes]] = {}

    def do_GET(self) -> None:
        """Answers from memory."""
        parts = urlsplit(self.path)
        if parts.path in self.recorded:
            body = self.recorded[parts.path][int(parse_qs(parts.query).get("continue", ["0"])[0])]
        elif parts.path in self.fixed:
            body = self.fixed[parts.path]
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def serve(counts: dict[str, int], limit: int, out: Connection) -> None:
    """The server's process."""
    made: dict[str, list[dict[str, Any]]] = {
        "/api/v1/namespaces": [{"metadata": {"name": f"team-{i:02d}", "uid": f"n{i}"}} for i in range(NAMESPACES)],
        "/api/v1/nodes": [{"metadata": {"name": f"node-{i}", "uid": f"k{i}"}} for i in range(200)],
        "/api/v1/pods": [pod(i) for i in range(counts["pods"])],
        "/api/v1/events": [event(i) for i in range(counts["events"])],
        "/apis/kueue.x-k8s.io/v1beta1/workloads": [workload(i) for i in range(counts["workloads"])],
    }
    Handler.recorded = {path: pages(objects, path, limit) for path, objects in made.items()}
    del made
    resources: dict[str, list[dict[str, Any]]] = {}
    for path, (version, kind) in LISTS.items():
        plural = path.rsplit("/", 1)[-1]
        resources.setdefault(version, []).append(
            {"name": plural, "kind": kind, "namespaced": plural not in {"namespaces", "nodes"}, "verbs": ["list"]}
        )
    group = {"groupVersion": "kueue.x-k8s.io/v1beta1", "version": "v1beta1"}
    fixed: dict[str, Any] = {
        "/version": {"gitVersion": "v1.33.0", "platform": "linux/amd64"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "groups": [{"name": "kueue.x-k8s.io", "versions": [group], "preferredVersion": group}]},
        "/api/v1/namespaces/kube-system": {"metadata": {"uid": "bench"}},
        **{
            f"/api/{version}" if "/" not in version else f"/apis/{version}": {"resources": found}
            for version, found in resources.items()
        },
    }
    Handler.fixed = {path: json.dumps(value).encode() for path, value in fixed.items()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    out.send((server.server_address[1], {path: [len(page) for page in found] for path, found in Handler.recorded.items()}))
    server.serve_forever()


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MB of a command."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed: {status}")
    return time.perf_counter() - begin, usage.ru_maxrss / 1024


def main() -> None:
    """Measures once, and prints it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--workloads", type=int, default=2_000)
    parser.add_argument("--qps", type=int, default=1000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    limit = 500
    here, there = multiprocessing.Pipe()
    counts = {"pods": options.pods, "events": options.events, "workloads": options.workloads}
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(counts, limit, there), daemon=True)
    server.start()
    port, sizes = here.recv()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config"
        names = {"clusters": [{"name": "c", "cluster": {"server": url}}], "users": [{"name": "u", "user": {}}]}
        contexts = [{"name": "x", "context": {"cluster": "c", "user": "u"}}]
        config.write_text(
            json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "x", "contexts": contexts, **names})
        )
        kubectl = shutil.which("kubectl") or sys.exit("no kubectl")
        total = sum(sum(found) for found in sizes.values())
        asked = [f"{path}?limit={limit}&continue={page}" for path, found in sizes.items() for page in range(len(found))]
        raw = sum(timed([kubectl, "--kubeconfig", str(config), "get", "--raw", path])[0] for path in asked)
        out = options.keep or Path(folder) / "out.tar.gz"
        command = [sys.executable, "-m", "analyzer", "collect", "--kubeconfig", str(config), "-o", str(out), "--force"]
        seconds, memory = timed([*command, "--qps", str(options.qps)])
        print(f"{len(asked)} pages, {total / 1e6:.0f} MB; kubectl get --raw {raw:.2f} s; triage collect {seconds:.2f} s", end=" ")
        print(f"({seconds / raw:.2f} x), peak {memory:.0f} MB, bundle {out.stat().st_size / 1e6:.1f} MB")
    server.terminate()


if __name__ == "__main__":
    main()
