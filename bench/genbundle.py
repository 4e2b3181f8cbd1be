#!/usr/bin/env python3
"""Generate synthetic Kubernetes diagnostics bundles for tests and benchmarks.

Everything is plain standard-library Python, seeded (same arguments, same bytes)
and invented: no name, address or message comes from a real cluster.

    genbundle.py OUT --layout must-gather --size medium          # directory, YAML
    genbundle.py OUT --layout cluster-info --size medium         # directory, JSON Lists
    genbundle.py OUT --layout must-gather --size small --tar     # also OUT.tar.gz
    genbundle.py OUT --objects 500 --logs 5MB --seed 7

Layouts
  must-gather   what `oc adm must-gather` / `oc adm inspect` leave behind: one YAML
                file per object for cluster-scoped resources, nodes, pods and custom
                resources; one `*List` YAML per (namespace, resource) for the others;
                container logs beside each pod.  Text is what Go's sigs.k8s.io/yaml
                (goyaml.v2) prints: sorted keys, "- " not indented under its key,
                ambiguous strings double-quoted, `|`/`|-` for multi-line strings and
                plain/single-quoted scalars folded at 80 columns.
  cluster-info  what `kubectl cluster-info dump --output-directory` leaves behind:
                nodes.json, NAMESPACE/{pods,events,...}.json (indented Lists) and
                NAMESPACE/POD/logs.txt.

Sizes (objects, YAML, logs):  small ~2k, ~8 MB, 2 MB;  medium ~30k, ~150 MB, 50 MB;
large ~150k, ~700 MB, 1 GB.  Known problems are planted at fixed rates and counted in
the returned/printed manifest, so an analyzer's findings can be checked against it.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import io
import json
import os
import random
import re
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# --------------------------------------------------------------------------- YAML
# A small emitter for JSON-shaped values that prints what goyaml.v2 prints.

_INT = re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BASE60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_TIME = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)?)?\Z")
_WORDS = {
    *"y Y yes Yes YES n N no No NO true True TRUE false False FALSE on On ON off Off OFF".split(),  # noqa: SIM905
    *"~ null Null NULL .nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF".split(),  # noqa: SIM905
    "",
}
_ESCAPES = {
    "\0": "\\0", "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f",
    "\r": "\\r", "\x1b": "\\e", '"': '\\"', "\\": "\\\\", "\x85": "\\N", "\xa0": "\\_",
    "\u2028": "\\L", "\u2029": "\\P",
}  # fmt: skip
_WIDTH = 80


def _ambiguous(text: str) -> bool:
    """Would goyaml.v2 read the plain text back as something other than a string?"""
    if text in _WORDS:
        return True
    if text[0] not in "+-.0123456789":
        return False
    if _FLOAT.match(text):  # past the range goyaml.v2 keeps a string, as in "82e386269"
        return abs(float(text)) != float("inf")
    return bool(_INT.match(text) or _BASE60.match(text) or _TIME.match(text))


def _printable(ch: str) -> bool:
    return ch == "\n" or " " <= ch <= "~" or ("\xa0" <= ch <= "\ufffd" and ch != "\ufeff")


@functools.lru_cache(maxsize=1 << 16)
def _analyse(text: str) -> tuple[bool, bool, bool]:
    """(plain allowed, single-quoted allowed, literal block allowed) in block context."""
    special = any(not _printable(ch) for ch in text)
    leading_space, trailing_space = text[:1] == " ", text[-1:] == " "
    leading_break, trailing_break = text[:1] == "\n", text[-1:] == "\n"
    break_space, space_break = "\n " in text, " \n" in text
    indicators = text.startswith(("---", "...")) or text[:1] in "#,[]{}&*!|>'\"%@`"
    indicators |= text[:1] in ("-", "?", ":") and (len(text) == 1 or text[1] in " \t\n")
    indicators |= ": " in text or text[-1:] == ":" or " #" in text or ":\n" in text or "\n#" in text
    multiline = "\n" in text
    plain = single = block = True
    if leading_space or leading_break or trailing_space or trailing_break:
        plain = False
    if trailing_space:
        block = False
    if break_space:
        plain = single = False
    if space_break or special:
        plain = single = block = False
    if multiline or indicators:
        plain = False
    return plain, single, block


def _fold(text: str, column: int, pad: str, quote: str) -> str:
    """Break at single spaces once the column passes 80, as goyaml.v2 does."""
    if column + len(text) <= _WIDTH:
        return quote + text + quote
    out: list[str] = [quote]
    column += len(quote)
    previous_space = False
    last = len(text) - 1
    for i, ch in enumerate(text):
        if ch == " ":
            breakable = not previous_space and column > _WIDTH and text[i + 1 : i + 2] != " "
            if quote:
                breakable = breakable and 0 < i < last
            if breakable:
                out.append("\n" + pad)
                column = len(pad)
            else:
                out.append(ch)
                column += 1
            previous_space = True
        else:
            out.append(ch)
            column += 1
            previous_space = False
    out.append(quote)
    return "".join(out)


def _double(text: str, column: int, pad: str) -> str:
    out = ['"']
    column += 1
    previous_space = False
    last = len(text) - 1
    for i, ch in enumerate(text):
        if ch in _ESCAPES or not _printable(ch):
            code = ord(ch)
            esc = _ESCAPES.get(ch) or (
                f"\\x{code:02X}" if code <= 0xFF else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
            )
            out.append(esc)
            column += len(esc)
            previous_space = False
        elif ch == " ":
            if not previous_space and column > _WIDTH and 0 < i < last:
                more = text[i + 1] == " "
                out.append("\n" + pad + ("\\" if more else ""))
                column = len(pad) + more
            else:
                out.append(ch)
                column += 1
            previous_space = True
        else:
            out.append(ch)
            column += 1
            previous_space = False
    out.append('"')
    return "".join(out)


def _literal(text: str, pad: str) -> str:
    hint = "2" if text[0] in " \n" else ""
    chomp = "" if text.endswith("\n") else "-"
    if text.endswith("\n") and (len(text) == 1 or text[-2] == "\n"):
        chomp = "+"
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return "|" + hint + chomp + "\n" + "\n".join(pad + line if line else "" for line in lines)


@functools.lru_cache(maxsize=1 << 17)
def _scalar(text: str, column: int, pad: str, simple_key: bool = False) -> str:
    plain, single, block = _analyse(text) if text else (False, True, False)
    if "\n" in text and block and not simple_key:
        return _literal(text, pad)
    if "\n" not in text and plain and not _ambiguous(text):
        return text if simple_key else _fold(text, column, pad, "")
    if not _ambiguous(text) and single and not ("\n" in text and not block) and "\n" not in text:
        if simple_key:
            return "'" + text.replace("'", "''") + "'"
        return _fold(text.replace("'", "''"), column, pad, "'")
    return _double(text, column if not simple_key else -(10**9), pad)


def _key_less(a: str, b: str) -> int:
    """goyaml.v2's "natural" key order: letters after the rest, digit runs by value."""
    for i in range(min(len(a), len(b))):
        if a[i] == b[i]:
            continue
        al, bl = a[i].isalpha(), b[i].isalpha()
        if al and bl:
            return -1 if a[i] < b[i] else 1
        if al or bl:
            return -1 if bl else 1
        an = bn = 0
        if a[i] == "0" or b[i] == "0":
            j = i - 1
            while j >= 0 and a[j].isdigit():
                if a[j] != "0":
                    an = bn = 1
                    break
                j -= 1
        ai = bi = i
        while ai < len(a) and a[ai].isdigit():
            an, ai = an * 10 + int(a[ai]), ai + 1
        while bi < len(b) and b[bi].isdigit():
            bn, bi = bn * 10 + int(b[bi]), bi + 1
        if an != bn:
            return -1 if an < bn else 1
        if ai != bi:
            return -1 if ai < bi else 1
        return -1 if a[i] < b[i] else 1
    return len(a) - len(b)


@functools.lru_cache(maxsize=1 << 14)
def _sorted_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(keys, key=functools.cmp_to_key(_key_less)))


def _number(value: float) -> str:
    return repr(value)


def _emit(value: Any, indent: int, out: list[str], column: int) -> None:
    """Append VALUE after a "key:" or "-" already written (no newline at the end)."""
    if isinstance(value, str):
        out.append(" " + _scalar(value, column + 1, "  " * (indent + 1)))
    elif value is None:
        out.append(" null")
    elif value is True:
        out.append(" true")
    elif value is False:
        out.append(" false")
    elif isinstance(value, (int, float)):
        out.append(" " + _number(value))
    elif isinstance(value, dict):
        if not value:
            out.append(" {}")
            return
        _emit_map(value, indent + 1, out, first_inline=False)
    else:
        if not value:
            out.append(" []")
            return
        _emit_list(value, indent, out, first_inline=False)


def _emit_map(value: dict[str, Any], indent: int, out: list[str], first_inline: bool) -> None:
    pad = "  " * indent
    for n, key in enumerate(_sorted_keys(tuple(value))):
        if n or not first_inline:
            out.append("\n" + pad)
        name = _scalar(key, 0, pad, True)
        out.append(name + ":")
        _emit(value[key], indent, out, 2 * indent + len(name) + 1)


def _emit_list(value: list[Any], indent: int, out: list[str], first_inline: bool) -> None:
    pad = "  " * indent
    for n, item in enumerate(value):
        if n or not first_inline:
            out.append("\n" + pad)
        out.append("-")
        if isinstance(item, dict) and item:
            out.append(" ")
            _emit_map(item, indent + 1, out, first_inline=True)
        elif isinstance(item, list) and item:
            out.append(" ")
            _emit_list(item, indent + 1, out, first_inline=True)
        else:
            _emit(item, indent, out, 2 * indent + 1)


def to_yaml(value: dict[str, Any]) -> str:
    """VALUE as goyaml.v2 prints it, with the closing newline."""
    if not value:
        return "{}\n"
    out: list[str] = []
    _emit_map(value, 0, out, first_inline=True)
    out.append("\n")
    return "".join(out)


# ------------------------------------------------------------------------ objects

SIZES = {  # objects, log bytes
    "small": (2_000, 2_000_000),
    "medium": (30_000, 50_000_000),
    "large": (150_000, 1_000_000_000),
}
APPS = [
    "api",
    "web",
    "worker",
    "cache",
    "queue",
    "index",
    "gateway",
    "ledger",
    "search",
    "mailer",
    "batch",
    "trainer",
    "router",
    "vault",
    "proxy",
]
TEAMS = [
    "atlas",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "haven",
    "iris",
    "juno",
    "kite",
    "lotus",
    "maple",
    "north",
    "opal",
]
GPUS = ["NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S"]
EVENTS = [
    ("Normal", "Scheduled", "Successfully assigned {ns}/{pod} to {node}"),
    ("Normal", "Pulled", 'Container image "{image}" already present on machine'),
    ("Normal", "Created", "Created container {ctr}"),
    ("Normal", "Started", "Started container {ctr}"),
    ("Warning", "BackOff", "Back-off restarting failed container {ctr} in pod {pod}_{ns}({uid})"),
    ("Warning", "Unhealthy", ('Readiness probe failed: Get "http://10.128.{a}.{b}:8080/healthz": dial tcp '
     "10.128.{a}.{b}:8080: connect: connection refused")),
    ("Warning", "FailedScheduling", ("0/{n} nodes are available: 3 Insufficient nvidia.com/gpu, {n} node(s) had "
     "untolerated taint {{node-role.kubernetes.io/master: }}. preemption: 0/{n} nodes are available: {n} "
     "Preemption is not helpful for scheduling.")),
    ("Warning", "FailedMount", 'MountVolume.SetUp failed for volume "config" : configmap "{app}-config" not found'),
    ("Warning", "Failed", ('Failed to pull image "{image}": rpc error: code = Unknown desc = reading manifest '
     "latest in {image}: manifest unknown\nplease check the registry\n")),
]  # fmt: skip
LOG_LINES = [
    "I{md} {t} 1 reconciler.go:{a}] Reconciling object namespace={ns} name={pod} generation={b}",
    'level=info ts={iso} caller=handler.go:{a} msg="request served" method=GET path=/api/v1/items/{b} status=200 duration={a}ms',
    '{{"level":"info","ts":"{iso}","logger":"controller","msg":"Synced","namespace":"{ns}","name":"{pod}","took":0.{a}}}',
    "{iso} stderr F W{md} {t} 1 reflector.go:{a}] watch of *v1.ConfigMap ended with: too old resource version: {b} ({c})",
    '10.128.{x}.{y} - - [{iso}] "GET /healthz HTTP/1.1" 200 {b} "-" "kube-probe/1.29"',
]
LOG_ERRORS = [  # (share in 1e6 lines, signature, text)
    (200, "oom", "fatal error: runtime: out of memory"),
    (200, "x509", "x509: certificate has expired or is not yet valid: current time {iso} is after 2024-01-01T00:00:00Z"),
    (300, "refused", "dial tcp 10.128.{x}.{y}:6443: connect: connection refused"),
    (100, "panic", "panic: runtime error: invalid memory address or nil pointer dereference"),
    (100, "etcd", "etcdserver: request timed out, possibly due to previous leader failure"),
    (50, "cuda", "CUDA error: out of memory; NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."),
]  # fmt: skip
EPOCH = 1_717_200_000  # 2024-06-01T00:00:00Z


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH + seconds))


class Cluster:
    """Makes objects; every draw comes from one seeded generator, so output is stable."""

    def __init__(self, objects: int, seed: int = 1) -> None:
        self.rng = random.Random(seed)
        self.objects = objects
        self.planted: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.nodes_n = max(3, objects // 300)
        self.ns_n = max(3, objects // 400)
        self.namespaces = [f"{TEAMS[i % len(TEAMS)]}-{APPS[i % len(APPS)]}-{i:04d}" for i in range(self.ns_n)]
        self.nodes = [f"node-{i:04d}.lab.example" for i in range(self.nodes_n)]
        self._serial = 0

    # -- helpers
    def uid(self) -> str:
        h = f"{self.rng.getrandbits(128):032x}"
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def suffix(self, n: int = 5) -> str:
        return "".join(self.rng.choices("bcdfghjklmnpqrstvwxz2456789", k=n))

    def when(self) -> str:
        return _iso(self.rng.randrange(0, 30 * 86400))

    def meta(self, name: str, ns: str | None = None, labels: dict[str, str] | None = None,
             annotations: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:  # fmt: skip
        self._serial += 1
        meta: dict[str, Any] = {"name": name, "uid": self.uid(), "creationTimestamp": self.when(),
                                "resourceVersion": str(1_000_000 + self._serial)}  # fmt: skip
        if ns:
            meta["namespace"] = ns
        if labels:
            meta["labels"] = labels
        if annotations:
            meta["annotations"] = annotations
        meta.update(more)
        return meta

    def _plant(self, what: str, rate: float) -> bool:
        if self.rng.random() < rate:
            self.planted[what] += 1
            return True
        return False

    # -- cluster scoped
    def node(self, i: int) -> dict[str, Any]:
        rng, name = self.rng, self.nodes[i]
        gpu = i % 4 == 1
        labels = {
            "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "node.openshift.io/os_id": "rhcos",
            "topology.kubernetes.io/region": "lab-1", "topology.kubernetes.io/zone": f"lab-1{'abc'[i % 3]}",
            "node-role.kubernetes.io/" + ("control-plane" if i < 3 else "worker"): "",
        }  # fmt: skip
        cap = {"cpu": "64", "ephemeral-storage": "936140780Ki", "hugepages-1Gi": "0", "hugepages-2Mi": "0",
               "memory": "527982908Ki", "pods": "250"}  # fmt: skip
        if gpu:
            labels |= {
                "nvidia.com/cuda.driver.major": "550", "nvidia.com/cuda.driver.minor": "54", "nvidia.com/gpu.count": "8",
                "nvidia.com/gpu.deploy.driver": "true", "nvidia.com/gpu.family": "hopper", "nvidia.com/gpu.memory": "81559",
                "nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": GPUS[i % 3], "nvidia.com/mig.capable": "true",
                "nvidia.com/gpu.replicas": "1", "feature.node.kubernetes.io/pci-10de.present": "true",
            }  # fmt: skip
            cap["nvidia.com/gpu"] = "8"
        alloc = dict(cap, cpu="63500m", memory="526832572Ki")
        if gpu and self._plant("node-gpu-missing", 0.05):
            alloc["nvidia.com/gpu"] = "7"
        notready = self._plant("node-notready", 0.02)
        pressure = self._plant("node-memory-pressure", 0.02)
        beat = self.when()

        def cond(kind: str, status: str, reason: str, message: str) -> dict[str, Any]:
            return {"type": kind, "status": status, "reason": reason, "message": message,
                    "lastHeartbeatTime": beat, "lastTransitionTime": beat}  # fmt: skip

        conditions = [
            cond("MemoryPressure", "True" if pressure else "False",
                 "KubeletHasInsufficientMemory" if pressure else "KubeletHasSufficientMemory",
                 "kubelet has insufficient memory available" if pressure else "kubelet has sufficient memory available"),
            cond("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            cond("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            cond("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.") if notready
            else cond("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ]  # fmt: skip
        images = [{"names": [f"registry.example/{rng.choice(APPS)}@sha256:{rng.getrandbits(256):064x}",
                             f"registry.example/{rng.choice(APPS)}:v{j}"], "sizeBytes": rng.randrange(10**7, 10**9)}
                  for j in range(25)]  # fmt: skip
        spec: dict[str, Any] = {"podCIDR": f"10.{128 + i // 256}.{i % 256}.0/24", "providerID": f"lab:///{name}"}
        if i < 3:
            spec["taints"] = [{"effect": "NoSchedule", "key": "node-role.kubernetes.io/master"}]
        if notready:
            spec.setdefault("taints", []).append({"effect": "NoExecute", "key": "node.kubernetes.io/unreachable",
                                                  "timeAdded": beat})  # fmt: skip
        return {
            "apiVersion": "v1", "kind": "Node",
            "metadata": self.meta(name, labels=labels, annotations={
                "machineconfiguration.openshift.io/currentConfig": f"rendered-worker-{rng.getrandbits(128):032x}",
                "machineconfiguration.openshift.io/state": "Done",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true"}),
            "spec": spec,
            "status": {
                "addresses": [{"address": f"192.0.2.{i % 250 + 1}", "type": "InternalIP"}, {"address": name, "type": "Hostname"}],
                "allocatable": alloc, "capacity": cap, "conditions": conditions,
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}, "images": images,
                "nodeInfo": {"architecture": "amd64", "bootID": self.uid(), "containerRuntimeVersion": "cri-o://1.29.5",
                             "kernelVersion": "5.14.0-427.22.1.el9_4.x86_64", "kubeProxyVersion": "v1.29.6",
                             "kubeletVersion": "v1.29.6", "machineID": f"{rng.getrandbits(128):032x}",
                             "operatingSystem": "linux", "osImage": "Red Hat Enterprise Linux CoreOS 416",
                             "systemUUID": self.uid()},
            },
        }  # fmt: skip

    def resource_slice(self, i: int) -> dict[str, Any]:
        node = self.nodes[i]
        devices = [{"name": f"gpu-{d}", "basic": {
            "attributes": {"architecture": {"string": "Hopper"}, "cudaComputeCapability": {"version": "9.0.0"},
                           "driverVersion": {"version": "550.54.15"}, "index": {"int": d},
                           "productName": {"string": GPUS[i % 3]}, "type": {"string": "gpu"},
                           "uuid": {"string": "GPU-" + self.uid()}},
            "capacity": {"memory": {"value": "81559Mi"}}}} for d in range(8)]  # fmt: skip
        return {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice",
                "metadata": self.meta(f"{node}-gpu.example.com-{self.suffix()}", generateName=f"{node}-gpu.example.com-",
                                      generation=1),
                "spec": {"devices": devices, "driver": "gpu.example.com", "nodeName": node,
                         "pool": {"generation": 1, "name": node, "resourceSliceCount": 1}}}  # fmt: skip

    def cluster_operator(self, name: str) -> dict[str, Any]:
        degraded = self._plant("clusteroperator-degraded", 0.05)
        now = self.when()
        return {"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": self.meta(name, generation=1),
                "spec": {}, "status": {"conditions": [
                    {"type": "Degraded", "status": "True" if degraded else "False", "lastTransitionTime": now,
                     "reason": "AsExpected" if not degraded else "RolloutStuck",
                     "message": "All is well" if not degraded else f"{name}Degraded: deployment is stuck: 1 of 3 replicas ready"},
                    {"type": "Progressing", "status": "False", "reason": "AsExpected", "lastTransitionTime": now},
                    {"type": "Available", "status": "True", "reason": "AsExpected", "lastTransitionTime": now}],
                    "extension": None, "versions": [{"name": "operator", "version": "4.16.3"}]}}  # fmt: skip

    # -- namespaced
    def container(self, app: str, n: int) -> dict[str, Any]:
        rng = self.rng
        c: dict[str, Any] = {
            "name": app if n == 0 else f"{app}-sidecar-{n}",
            "image": f"registry.example/{app}:v{rng.randrange(40)}.{rng.randrange(20)}",
            "imagePullPolicy": "IfNotPresent",
            "args": ["--config=/etc/app/config.yaml", f"--v={rng.randrange(6)}"],
            "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
                    {"name": "LOG_LEVEL", "value": rng.choice(["info", "debug", "3", "on", "yes"])},
                    {"name": "FILE_MODE", "value": "0644"},
                    {"name": "FEATURE_GATE", "value": rng.choice(["true", "false", "1e3", "null", "~"])},
                    {"name": "BUILD", "value": f"{rng.randrange(10**7):07d}"},
                    {"name": "START_AT", "value": "12:30"}],
            "ports": [{"containerPort": 8080 + n, "name": "http" if n == 0 else f"aux-{n}", "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "250m", "memory": "512Mi"}},
            "readinessProbe": {"failureThreshold": 3, "httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"},
                               "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1},
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
                                "runAsNonRoot": True, "runAsUser": 1000680000 + n},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "volumeMounts": [{"mountPath": "/etc/app", "name": "config"},
                             {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access",
                              "readOnly": True}],
        }  # fmt: skip
        if app in ("trainer", "batch"):
            c["resources"]["limits"]["nvidia.com/gpu"] = c["resources"]["requests"]["nvidia.com/gpu"] = "1"
        if rng.random() < 0.3:
            c["command"] = ["/bin/sh", "-c", 'set -eu\nif [ -f /etc/app/init ]; then\n  . /etc/app/init\nfi\nexec /app "$@"\n']
        return c

    def pod(self, ns: str, app: str) -> dict[str, Any]:
        rng = self.rng
        rs = f"{app}-{rng.getrandbits(36):09x}"
        name = f"{rs}-{self.suffix()}"
        node = rng.choice(self.nodes)
        containers = [self.container(app, n) for n in range(rng.choice([1, 1, 1, 2, 2, 3]))]
        crash = self._plant("pod-crashloop", 0.02)
        pull = not crash and self._plant("pod-imagepull", 0.01)
        pending = not crash and not pull and self._plant("pod-pending", 0.01)
        oom = not pending and not pull and not crash and self._plant("pod-oomkilled", 0.01)
        t = self.when()
        statuses = []
        for n, c in enumerate(containers):
            bad = n == 0 and (crash or pull)
            state: dict[str, Any] = {"running": {"startedAt": t}}
            last: dict[str, Any] = {}
            if bad:
                state = {"waiting": {"reason": "CrashLoopBackOff",
                                     "message": f"back-off 5m0s restarting failed container={c['name']} pod={name}_{ns}({self.uid()})"}
                         if crash else {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{c["image"]}"'}}  # fmt: skip
            if crash and n == 0:
                last = {"terminated": {"containerID": f"cri-o://{rng.getrandbits(256):064x}", "exitCode": 1, "finishedAt": t,
                                       "message": "panic: configuration is not valid\n\ngoroutine 1 [running]:\nmain.main()\n"
                                                  "\t/src/main.go:42 +0x1d\n", "reason": "Error", "startedAt": t}}  # fmt: skip
            if oom and n == 0:
                last = {"terminated": {"containerID": f"cri-o://{rng.getrandbits(256):064x}", "exitCode": 137,
                                       "finishedAt": t, "reason": "OOMKilled", "startedAt": t}}  # fmt: skip
            statuses.append({
                "containerID": "" if pull and n == 0 else f"cri-o://{rng.getrandbits(256):064x}", "image": c["image"],
                "imageID": f"registry.example/{app}@sha256:{rng.getrandbits(256):064x}", "lastState": last, "name": c["name"],
                "ready": not bad, "restartCount": rng.randrange(20, 400) if crash and n == 0 else int(oom and n == 0),
                "started": not bad, "state": state})  # fmt: skip
        bad = crash or pull

        def cond(kind: str, ok: bool, reason: str = "", message: str = "") -> dict[str, Any]:
            c: dict[str, Any] = {
                "type": kind,
                "status": "True" if ok else "False",
                "lastProbeTime": None,
                "lastTransitionTime": t,
            }
            if reason:
                c |= {"reason": reason, "message": message}
            return c

        if pending:
            conditions = [cond("PodScheduled", False, "Unschedulable",
                               f"0/{self.nodes_n} nodes are available: 3 Insufficient nvidia.com/gpu, {self.nodes_n} node(s) had "
                               "untolerated taint {node-role.kubernetes.io/master: }.")]  # fmt: skip
        else:
            why = ("ContainersNotReady", f"containers with unready status: [{containers[0]['name']}]") if bad else ("", "")
            conditions = [cond("Initialized", True), cond("Ready", not bad, *why), cond("ContainersReady", not bad, *why),
                          cond("PodScheduled", True)]  # fmt: skip
        spec: dict[str, Any] = {
            "containers": containers, "dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority",
            "imagePullSecrets": [{"name": f"default-dockercfg-{self.suffix()}"}], "priority": 0, "restartPolicy": "Always",
            "schedulerName": "default-scheduler", "serviceAccount": app, "serviceAccountName": app,
            "securityContext": {"fsGroup": 1000680000, "seLinuxOptions": {"level": "s0:c26,c15"},
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "terminationGracePeriodSeconds": 30,
            "tolerations": [{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300},
                            {"effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}],
            "volumes": [{"configMap": {"defaultMode": 420, "name": f"{app}-config"}, "name": "config"},
                        {"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [
                            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                            {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
                            {"downwardAPI": {"items": [{"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                                                        "path": "namespace"}]}}]}}],
        }  # fmt: skip
        status: dict[str, Any] = {
            "conditions": conditions,
            "phase": "Pending" if pending or pull else "Running",
            "qosClass": "Burstable",
        }
        if not pending:
            spec["nodeName"] = node
            ip = f"10.128.{rng.randrange(256)}.{rng.randrange(1, 255)}"
            status |= {"containerStatuses": statuses, "hostIP": "192.0.2.7", "podIP": ip, "podIPs": [{"ip": ip}], "startTime": t}
        networks = json.dumps([{"name": "ovn-kubernetes", "interface": "eth0", "ips": [f"10.128.{rng.randrange(256)}.7"],
                                "mac": "0a:58:0a:80:02:1b", "default": True, "dns": {}}], indent=4)  # fmt: skip
        return {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": self.meta(
                name, ns, labels={"app": app, "app.kubernetes.io/name": app, "app.kubernetes.io/version": f"1.{rng.randrange(30)}",
                                  "pod-template-hash": rs[-9:], "team": ns.split("-", maxsplit=1)[0]},
                annotations={"k8s.v1.cni.cncf.io/network-status": networks, "openshift.io/scc": "restricted-v2",
                             "checksum/config": f"{rng.getrandbits(256):064x}"},
                generateName=rs + "-",
                ownerReferences=[{"apiVersion": "apps/v1", "blockOwnerDeletion": True, "controller": True, "kind": "ReplicaSet",
                                  "name": rs, "uid": self.uid()}]),
            "spec": spec, "status": status,
        }  # fmt: skip

    def event(self, ns: str, pod: dict[str, Any]) -> dict[str, Any]:
        rng = self.rng
        kind, reason, text = rng.choices(EVENTS, weights=[20, 20, 20, 20, 4, 6, 4, 2, 2])[0]
        meta = pod["metadata"]
        ctr = pod["spec"]["containers"][0]
        message = text.format(ns=ns, pod=meta["name"], node=rng.choice(self.nodes), image=ctr["image"], ctr=ctr["name"],
                              uid=meta["uid"], app=ctr["name"], n=self.nodes_n, a=rng.randrange(256), b=rng.randrange(256))  # fmt: skip
        t = self.when()
        return {"apiVersion": "v1", "kind": "Event",
                "metadata": self.meta(f"{meta['name']}.{rng.getrandbits(64):016x}", ns), "type": kind, "reason": reason,
                "message": message, "count": rng.randrange(1, 500), "eventTime": None, "firstTimestamp": t, "lastTimestamp": t,
                "involvedObject": {"apiVersion": "v1", "fieldPath": f"spec.containers{{{ctr['name']}}}", "kind": "Pod",
                                   "name": meta["name"], "namespace": ns, "resourceVersion": meta["resourceVersion"], "uid": meta["uid"]},
                "reportingComponent": "kubelet", "reportingInstance": "", "source": {"component": "kubelet"}}  # fmt: skip

    def configmap(self, ns: str, app: str) -> dict[str, Any]:
        rng = self.rng
        body = "".join(f"key_{i}: value-{rng.randrange(10**6)}\n" for i in range(rng.randrange(5, 60)))
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": self.meta(f"{app}-config-{self.suffix()}", ns),
                "data": {"config.yaml": "server:\n  port: 8080\n" + body, "mode": "0644", "enabled": "yes",
                         "motd": f"Grüße – {app} ✅"}}  # fmt: skip

    def workload(self, ns: str, app: str) -> dict[str, Any]:
        stuck = self._plant("kueue-inadmissible", 0.05)
        t, gpus = self.when(), self.rng.choice([1, 2, 4, 8, 16])
        condition = ({"type": "QuotaReserved", "status": "False", "reason": "Pending", "lastTransitionTime": t,
                      "message": f"couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
                                 f"flavor h100, {gpus} more needed"}
                     if stuck else {"type": "Admitted", "status": "True", "reason": "Admitted", "lastTransitionTime": t,
                                    "message": "The workload is admitted"})  # fmt: skip
        spec = {"active": True, "podSets": [{"count": gpus, "name": "main", "template": {"metadata": {}, "spec": {
            "containers": [self.container(app, 0)], "restartPolicy": "Never"}}}], "priority": 0,
            "priorityClassSource": "", "queueName": f"{ns}-queue"}  # fmt: skip
        return {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
                "metadata": self.meta(f"job-{app}-{self.suffix(8)}", ns, finalizers=["kueue.x-k8s.io/resource-in-use"], generation=1),
                "spec": spec, "status": {"conditions": [condition]}}  # fmt: skip

    def deployment(self, ns: str, app: str) -> dict[str, Any]:
        short = self._plant("deployment-unavailable", 0.03)
        t = self.when()
        labels = {"app": app}
        spec = {"progressDeadlineSeconds": 600, "replicas": 3, "revisionHistoryLimit": 10, "selector": {"matchLabels": labels},
                "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}, "type": "RollingUpdate"},
                "template": {"metadata": {"creationTimestamp": None, "labels": labels}, "spec": {
                    "containers": [self.container(app, 0)], "restartPolicy": "Always", "securityContext": {}}}}  # fmt: skip
        return {"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": self.meta(f"{app}-{self.suffix()}", ns, labels=labels, generation=4,
                                      annotations={"deployment.kubernetes.io/revision": "4"}),
                "spec": spec,
                "status": {"availableReplicas": 1 if short else 3, "observedGeneration": 4, "replicas": 3,
                           "conditions": [{"type": "Available", "status": "False" if short else "True", "lastUpdateTime": t,
                                           "lastTransitionTime": t, "reason": "MinimumReplicasUnavailable" if short else
                                           "MinimumReplicasAvailable", "message": "Deployment has minimum availability."}]}}  # fmt: skip

    def service(self, ns: str, app: str) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": "Service", "metadata": self.meta(f"{app}-{self.suffix()}", ns, labels={"app": app}),
                "spec": {"clusterIP": "172.30.1.1", "clusterIPs": ["172.30.1.1"], "internalTrafficPolicy": "Cluster",
                         "ipFamilies": ["IPv4"], "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": "http"}],
                         "selector": {"app": app}, "sessionAffinity": "None", "type": "ClusterIP"},
                "status": {"loadBalancer": {}}}  # fmt: skip

    # -- the whole cluster, one namespace at a time (bounded memory)
    def cluster_scoped(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for i in range(self.nodes_n):
            yield "nodes", self.node(i)
        for i in range(self.nodes_n):
            if i % 4 == 1:
                yield "resourceslices", self.resource_slice(i)
        for name in ("authentication", "console", "dns", "etcd", "ingress", "kube-apiserver", "machine-config", "monitoring",
                     "network", "storage"):  # fmt: skip
            yield "clusteroperators", self.cluster_operator(name)

    def namespaced(self) -> Iterator[tuple[str, dict[str, list[dict[str, Any]]]]]:
        used = self.nodes_n + len([i for i in range(self.nodes_n) if i % 4 == 1]) + 10
        per_ns = max(12, (self.objects - used) // self.ns_n - 1)
        for ns in self.namespaces:
            pods = [self.pod(ns, self.rng.choice(APPS)) for _ in range(per_ns * 30 // 100)]
            rest = per_ns - len(pods)
            plan = {"events": rest * 55 // 100, "configmaps": rest * 15 // 100, "deployments": rest * 10 // 100,
                    "services": rest * 10 // 100}  # fmt: skip
            plan["workloads"] = rest - sum(plan.values())
            out: dict[str, list[dict[str, Any]]] = {"pods": pods}
            out["events"] = [self.event(ns, self.rng.choice(pods)) for _ in range(plan["events"])]
            for what, make in (("configmaps", self.configmap), ("deployments", self.deployment), ("services", self.service),
                               ("workloads", self.workload)):  # fmt: skip
                out[what] = [make(ns, self.rng.choice(APPS)) for _ in range(plan[what])]
            yield ns, out

    def log(self, nbytes: int, ns: str, pod: str) -> Iterator[bytes]:
        """About NBYTES of log text in blocks; error lines are planted and counted."""
        rng = self.rng
        total = sum(share for share, _, _ in LOG_ERRORS)
        while nbytes > 0:
            lines = []
            for _ in range(min(2000, nbytes // 110 + 1)):
                a, b, c = rng.randrange(100, 999), rng.randrange(10**5), rng.randrange(10**6)
                fields = {"a": a, "b": b, "c": c, "x": a % 256, "y": b % 254, "ns": ns, "pod": pod, "md": "0612",
                          "t": f"12:{a % 60:02d}:{b % 60:02d}.{c:06d}", "iso": f"2024-06-12T12:{a % 60:02d}:{b % 60:02d}.{c:06d}Z"}  # fmt: skip
                draw = rng.randrange(1_000_000)
                text = LOG_LINES[draw % len(LOG_LINES)]
                if draw < total:
                    for share, signature, error in LOG_ERRORS:
                        if draw < share:
                            self.planted["log-" + signature] += 1
                            text = "E{md} {t} 1 main.go:{a}] " + error
                            break
                        draw -= share
                lines.append(text.format(**fields))
            block = ("\n".join(lines) + "\n").encode()
            nbytes -= len(block)
            yield block


# ------------------------------------------------------------------------- layouts


class Writer:
    """Writes files under ROOT; logs may repeat a generated megabyte to stay fast."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = self.bytes = 0

    def put(self, name: str, data: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.files += 1
        self.bytes += len(data)

    def put_blocks(self, name: str, blocks: Iterator[bytes]) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            for block in blocks:
                out.write(block)
                self.bytes += len(block)
        self.files += 1


GROUPS = {"pods": "core", "events": "core", "configmaps": "core", "services": "core", "deployments": "apps",
          "workloads": "kueue.x-k8s.io", "nodes": "core", "resourceslices": "resource.k8s.io",
          "clusteroperators": "config.openshift.io"}  # fmt: skip
LIST = {"pods": "PodList", "events": "EventList", "configmaps": "ConfigMapList", "services": "ServiceList",
        "deployments": "DeploymentList", "workloads": "WorkloadList"}  # fmt: skip


def as_list(what: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": items[0]["apiVersion"] if items else "v1", "kind": LIST.get(what, "List"), "items": items,
            "metadata": {"resourceVersion": "2000000"}}  # fmt: skip


def generate(out: Path, layout: str, objects: int, log_bytes: int, seed: int = 1) -> dict[str, Any]:
    """Write one bundle under OUT and return its manifest (counts, planted problems)."""
    cluster = Cluster(objects, seed)
    writer = Writer(out)
    per_ns_log = log_bytes // cluster.ns_n
    if layout == "must-gather":
        image = "quay-io-openshift-release-dev-ocp-v4-0-art-dev-sha256-" + hashlib.sha256(str(seed).encode()).hexdigest()
        base = image + "/"
        writer.put("must-gather.log", b"[must-gather      ] OUT Using must-gather plug-in image: registry.example/must-gather\n")
        writer.put("timestamp", b"2024-06-12 12:00:00.0 +0000 UTC m=+0.1\n2024-06-12 12:09:00.0 +0000 UTC m=+540.1\n")
        writer.put("event-filter.html", b"<!DOCTYPE html><html><body>events</body></html>\n")
        writer.put(base + "version", b"openshift/must-gather\n4.16.0-202406120000\n")
    cluster_lists: dict[str, list[dict[str, Any]]] = {}
    for what, obj in cluster.cluster_scoped():
        cluster.kinds[obj["kind"]] += 1
        if layout == "must-gather":
            name = obj["metadata"]["name"]
            writer.put(f"{base}cluster-scoped-resources/{GROUPS[what]}/{what}/{name}.yaml", ("---\n" + to_yaml(obj)).encode())
        else:
            cluster_lists.setdefault(what, []).append(obj)
    for what, items in cluster_lists.items():
        writer.put(f"{what}.json", _json(what, items))
    for ns, found in cluster.namespaced():
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": cluster.meta(ns, labels={"kubernetes.io/metadata.name": ns}),
                     "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}  # fmt: skip
        cluster.kinds["Namespace"] += 1
        for items in found.values():
            for obj in items:
                cluster.kinds[obj["kind"]] += 1
        pods = found["pods"]
        logged = pods[: max(1, len(pods) // 10)]
        if layout == "must-gather":
            d = f"{base}namespaces/{ns}/"
            writer.put(f"{d}{ns}.yaml", ("---\n" + to_yaml(namespace)).encode())
            for what, items in found.items():
                if what == "workloads":
                    for obj in items:
                        writer.put(f"{d}{GROUPS[what]}/{what}/{obj['metadata']['name']}.yaml", ("---\n" + to_yaml(obj)).encode())
                elif items:
                    writer.put(f"{d}{GROUPS[what]}/{what}.yaml", ("---\n" + to_yaml(as_list(what, items))).encode())
            for pod in pods:  # oc adm inspect writes each pod again beside its logs
                name = pod["metadata"]["name"]
                writer.put(f"{d}pods/{name}/{name}.yaml", ("---\n" + to_yaml(pod)).encode())
            for pod in logged:
                name, ctr = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
                writer.put_blocks(
                    f"{d}pods/{name}/{ctr}/{ctr}/logs/current.log", cluster.log(per_ns_log // len(logged), ns, name)
                )
        else:
            for what, items in found.items():
                writer.put(f"{ns}/{what}.json", _json(what, items))
            for pod in logged:
                name = pod["metadata"]["name"]
                writer.put_blocks(f"{ns}/{name}/logs.txt", cluster.log(per_ns_log // len(logged), ns, name))
    return {"layout": layout, "seed": seed, "objects": sum(cluster.kinds.values()), "kinds": dict(sorted(cluster.kinds.items())),
            "planted": dict(sorted(cluster.planted.items())), "files": writer.files, "bytes": writer.bytes}  # fmt: skip


def _json(what: str, items: list[dict[str, Any]]) -> bytes:
    return (json.dumps(as_list(what, items), indent=4, ensure_ascii=False, sort_keys=True) + "\n").encode()


def make_tar(root: Path, target: Path, level: int = 6) -> None:
    """Pack ROOT as TARGET (.tar.gz), entries in name order, with fixed owner and time."""
    import zlib

    class Gz(io.RawIOBase):  # gzip without the time stamp and file name
        def __init__(self, raw: io.BufferedWriter) -> None:
            self.raw, self.z, self.crc, self.n = raw, zlib.compressobj(level, zlib.DEFLATED, 31), 0, 0

        def write(self, data: Any) -> int:
            self.raw.write(self.z.compress(data))
            return len(data)

        def finish(self) -> None:
            self.raw.write(self.z.flush())

    def clean(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        info.mtime = EPOCH
        return info

    with target.open("wb") as raw:
        gz = Gz(raw)
        with tarfile.open(fileobj=gz, mode="w|", format=tarfile.PAX_FORMAT) as tar:
            for folder, dirs, files in os.walk(root):
                dirs.sort()
                arc = os.path.join("must-gather", os.path.relpath(folder, root)).removesuffix("/.")
                tar.add(folder, arc, recursive=False, filter=clean)
                for name in sorted(files):
                    tar.add(os.path.join(folder, name), os.path.join(arc, name), recursive=False, filter=clean)
        gz.finish()


def _bytes(text: str) -> int:
    m = re.fullmatch(r"(\d+(?:\.\d+)?)([kKMG]?)B?", text)
    if not m:
        raise argparse.ArgumentTypeError(f"not a size: {text}")
    return int(float(m[1]) * {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}[m[2]])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="directory to create (must not exist)")
    parser.add_argument("--layout", choices=["must-gather", "cluster-info"], default="must-gather")
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--objects", type=int, help="about this many objects (overrides --size)")
    parser.add_argument("--logs", type=_bytes, help="bytes of logs, such as 50MB (overrides --size)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tar", action="store_true", help="also write OUT.tar.gz")
    args = parser.parse_args(argv)
    if args.out.exists():
        parser.error(f"{args.out} exists")
    objects, logs = SIZES[args.size]
    manifest = generate(args.out, args.layout, args.objects or objects, logs if args.logs is None else args.logs, args.seed)
    if args.tar:
        make_tar(args.out, args.out.with_name(args.out.name + ".tar.gz"))
    json.dump(manifest, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
