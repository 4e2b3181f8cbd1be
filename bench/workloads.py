#!/usr/bin/env python3
"""How long facts and rules take over many Kueue Workloads, and how that grows with their number.

    .venv/bin/python bench/workloads.py                       # 20,000 Workloads in 200 queues, then twice as many
    .venv/bin/python bench/workloads.py --count 5000 --jobs   # a Job beside each, a pod beside each that is admitted

Everything is invented, and the same arguments give the same bundle. Half of the Workloads wait, each queue for reasons of its
own; the others are admitted, evicted, deactivated or finished. See README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from analyzer import facts
from analyzer.bundle.read import read_bundle
from analyzer.engine import analysis, needs
from analyzer.engine.model import Report
from analyzer.engine.pack import load_packs, signatures_of
from analyzer.overview import overview
from analyzer.store import database
from analyzer.store.load import load
from analyzer.workspace import workspace

END = datetime(2026, 11, 12, 9, 30, tzinfo=UTC)
API = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"
FLAVOR = "h100"
NAMESPACES = 20
PER_QUEUE = 100
_OVER = (
    f"insufficient quota for {GPU} in flavor {FLAVOR}, previously considered podsets requests (0) + current podset request "
    "(4096) > maximum capacity (1600)"
)
WAITS = (
    ("WaitingForQuota", f"insufficient unused quota for {GPU} in flavor {FLAVOR}, 8 more needed"),
    ("WaitingForQuota", f"insufficient unused quota for cpu in flavor {FLAVOR}, 64 more needed"),
    ("ExceedsMaxQuota", _OVER),
    ("NoMatchingFlavor", f"flavor {FLAVOR} doesn't match node affinity"),
    ("TopologyPlacementFailed", f'topology "racks" allows to fit only 3 out of 8 pod(s) in flavor {FLAVOR}'),
)


def main(argv: list[str] | None = None) -> int:
    """Measure what the options ask for and print it. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000, help="Workloads (default 20000), a hundred in each queue")
    parser.add_argument("--jobs", action="store_true", help="a Job beside each Workload, a pod beside each admitted one")
    parser.add_argument("--once", action="store_true", help="leave the bundle of twice the number out")
    parser.add_argument("--keep", type=Path, help="write the (first) bundle here too")
    args = parser.parse_args(argv)
    if args.count < 1:
        parser.error("--count must be at least 1")
    if args.keep:
        generate(args.keep, args.count, jobs=args.jobs)
    gc.set_threshold(200_000, 50, 50)  # As the program does while it analyzes a case.
    first = measured(args.count, jobs=args.jobs)
    if not args.once:
        second = measured(2 * args.count, jobs=args.jobs)
        ratio = second.cpu("facts", "rules") / first.cpu("facts", "rules")
        print(f"growth: facts and rules of twice the number take {ratio:.2f} times the processor time (2.00 is linear)")
    return 0


@dataclass(slots=True)
class Stages:
    """Seconds of each stage: of the wall clock, and of all processors together."""

    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what runs within."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds[name] = (time.perf_counter() - wall, time.process_time() - cpu)

    def tell(self, subject: str, report: Report) -> None:
        """Print what was found in the bundle and the times of all stages."""
        print(f"{subject}: {len(report.findings)} findings in {len(report.incidents)} incidents")
        for name, (wall, cpu) in self.seconds.items():
            print(f"  {name:<10} {wall:6.2f} s wall {cpu:6.2f} s CPU")

    def cpu(self, *names: str) -> float:
        """Processor time of these stages."""
        return sum(self.seconds[name][1] for name in names)


def measured(count: int, *, jobs: bool) -> Stages:
    """Make a bundle, analyze it stage by stage, and print the times."""
    stages = Stages()
    with tempfile.TemporaryDirectory() as scratch, workspace() as folder:
        bundle = Path(scratch) / "bundle"
        generate(bundle, count, jobs=jobs)
        packs = load_packs()
        with stages.stage("reading"):
            parts = read_bundle([bundle], folder, 2, lambda _done, _total: None, signatures=signatures_of(packs))
        with contextlib.closing(database.open_memory(folder)) as con:
            with stages.stage("loading"):
                load(con, parts)
            with stages.stage("facts"):
                facts.derive_all(con, None, needs.needed_kinds(packs))
            with stages.stage("rules"):
                report = analysis.analyse(con, packs)
            with stages.stage("overview"):
                overview(con, report.findings)
    stages.tell(f"{count:,} Workloads{' with Jobs and pods' if jobs else ''}", report)
    return stages


def generate(root: Path, count: int, *, jobs: bool) -> None:
    """Write a bundle with so many Workloads: one list a kind and namespace, as `oc adm must-gather` leaves them."""
    top = root / "must-gather.local.1" / "registry-example-must-gather-sha256-0"
    stamp = f"{END:%Y-%m-%d %H:%M:%S}.5 +0000 UTC m=+1.0\n"
    _put(top / "timestamp", stamp + stamp)
    _put(top / "version", "example/must-gather\n1\n")
    _put(top.parent / "timestamp", stamp + stamp)
    queues = max(1, count // PER_QUEUE)
    for number in range(NAMESPACES):
        name = f"team-{number:02d}"
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": _meta(name, ""), "status": {"phase": "Active"}}
        _put(top / "namespaces" / name / f"{name}.yaml", json.dumps(body))
    _cluster(top, queues)
    lists: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for number in range(queues):
        local = {
            "spec": {"clusterQueue": f"queue-{number}"},
            "status": {"conditions": [_condition("Active", "True", "Ready", "")]},
        }
        _add(lists, _object(API, "LocalQueue", f"queue-{number}", _namespace(number), local), "localqueues")
    for number in range(count):
        for obj, plural in _workload(number, queues, jobs=jobs):
            _add(lists, obj, plural)
    for (namespace, plural), items in lists.items():
        _list(top / "namespaces" / namespace, items, plural)


def _cluster(top: Path, queues: int) -> None:
    """Queues in cohorts of ten, their flavor and its topology."""
    scope = top / "cluster-scoped-resources"
    flavor = _object(API, "ResourceFlavor", FLAVOR, "", {"spec": {"nodeLabels": {"gpu": "h100"}, "topologyName": "racks"}})
    topology = _object(API, "Topology", "racks", "", {"spec": {"levels": [{"nodeLabel": "rack"}]}})
    amounts = [{"name": GPU, "nominalQuota": "160"}, {"name": "cpu", "nominalQuota": "2k"}]
    groups = [{"coveredResources": [GPU, "cpu"], "flavors": [{"name": FLAVOR, "resources": amounts}]}]
    used = [{"name": FLAVOR, "resources": [{"name": GPU, "total": "176", "borrowed": "16"}, {"name": "cpu", "total": "1200"}]}]
    status = {"conditions": [_condition("Active", "True", "Ready", "")], "flavorsReservation": used, "flavorsUsage": used}
    listed = [
        _object(
            API,
            "ClusterQueue",
            f"queue-{number}",
            "",
            {
                "spec": {"cohortName": f"cohort-{number // 10}", "resourceGroups": groups, "namespaceSelector": {}}
                | ({"stopPolicy": "Hold"} if number % 40 == 7 else {}),
                "status": status,
            },
        )
        for number in range(queues)
    ]
    for plural, items in (
        ("resourceflavors", [flavor]),
        ("topologies", [topology]),
        ("clusterqueues", listed),
        ("cohorts", []),
        ("admissionchecks", []),
    ):
        _list(scope, items, plural)


def _workload(number: int, queues: int, *, jobs: bool) -> Iterator[tuple[dict[str, Any], str]]:
    """One Workload in the state that its number gives, with its Job and pod where these are wanted."""
    queue, place = number % queues, number // queues
    namespace, age = _namespace(queue), 30 + place * 13
    name, uid = f"train-{number}", f"0000aaaa-0000-4000-8000-{number:012d}"
    pods, state = 1 + number % 3, place % 20
    job = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid, "controller": True}
    template = {
        "spec": {
            "containers": [
                {"name": "main", "image": "registry.example/train:1", "resources": {"requests": {GPU: "8", "cpu": "64"}}}
            ]
        }
    }
    spec = {
        "queueName": f"queue-{queue}",
        "priority": number % 3,
        "active": state != 17,
        "podSets": [{"name": "main", "count": pods, "template": template}],
    }
    admitted = state in (10, 11, 12, 13, 14, 15)
    metadata = {"labels": {"kueue.x-k8s.io/job-uid": uid}, "ownerReferences": [job]}
    body = {"spec": spec, "status": _status(state, queue, pods, age, f"{namespace}/{name}")}
    yield _object(API, "Workload", f"job-{name}-{number % 0xFFFFF:05x}", namespace, body, metadata, age), "workloads"
    if jobs:
        labels = {"labels": {"kueue.x-k8s.io/queue-name": f"queue-{queue}"}, "uid": uid}
        held = {"spec": {"suspend": not admitted, "parallelism": pods, "template": template}, "status": {}}
        yield _object("batch/v1", "Job", name, namespace, held, labels, age), "jobs"
    if jobs and admitted:
        running = {
            "phase": "Running",
            "conditions": [_condition("Ready", "True", "", "")],
            "containerStatuses": [
                {"name": "main", "ready": True, "restartCount": 0, "state": {"running": {"startedAt": _at(age)}}}
            ],
        }
        body = {"spec": template["spec"] | {"nodeName": f"node-{number % 50}"}, "status": running}
        yield _object("v1", "Pod", f"{name}-x7f2k", namespace, body, {"ownerReferences": [job]}, age), "pods"


def _status(state: int, queue: int, pods: int, age: int, path: str) -> dict[str, Any]:
    asked = {GPU: str(8 * pods), "cpu": str(64 * pods)}
    assigned = {"name": "main", "count": pods, "flavors": dict.fromkeys(asked, FLAVOR), "resourceUsage": asked}
    holding = {"admission": {"clusterQueue": f"queue-{queue}", "podSetAssignments": [assigned]}}
    reserved = _condition("QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue queue-{queue}", age - 2)
    if state < 10:
        reason, said = WAITS[0] if state < 6 else WAITS[(queue + state) % len(WAITS)]
        words = f"couldn't assign flavors to pod set main: {said}"
        return {
            "conditions": [_condition("QuotaReserved", "False", reason, words, age - 1)],
            "resourceRequests": [{"name": "main", "resources": asked}],
        }
    if state < 16:
        ready = _condition(
            "PodsReady", "True", "Started", "All pods were ready or succeeded since the workload admission", age - 3
        )
        return holding | {
            "conditions": [reserved, _condition("Admitted", "True", "Admitted", "The workload is admitted", age - 2), ready]
        }
    late = f"Exceeded the PodsReady timeout {path}"
    if state == 16:
        waits = _condition("QuotaReserved", "False", "PendingEvaluation", late, 6)
        return {
            "conditions": [waits, _condition("Evicted", "True", "PodsReadyTimeout", late, 6)],
            "requeueState": {"count": 4, "requeueAt": _at(-9)},
            "schedulingStats": {"evictions": [{"reason": "PodsReadyTimeout", "underlyingCause": "WaitForStart", "count": 4}]},
        }
    if state == 17:
        words = "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
        return {"conditions": [_condition("Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded", words, age - 9)]}
    return {"conditions": [reserved, _condition("Finished", "True", "Succeeded", "Job finished successfully", age - 20)]}


def _namespace(queue: int) -> str:
    return f"team-{queue % NAMESPACES:02d}"


def _at(minutes: int) -> str:
    return f"{END - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"


def _condition(kind: str, status: str, reason: str, message: str, minutes: int = 600) -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": _at(minutes)}


def _meta(name: str, namespace: str, minutes: int = 60_000) -> dict[str, Any]:
    return {"name": name, "creationTimestamp": _at(minutes), "resourceVersion": "7"} | (
        {"namespace": namespace} if namespace else {}
    )


def _object(
    version: str,
    kind: str,
    name: str,
    namespace: str,
    body: dict[str, Any],
    more: dict[str, Any] | None = None,
    minutes: int = 60_000,
) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": _meta(name, namespace, minutes) | (more or {})} | body


def _add(lists: dict[tuple[str, str], list[dict[str, Any]]], obj: dict[str, Any], plural: str) -> None:
    lists.setdefault((obj["metadata"]["namespace"], plural), []).append(obj)


def _list(folder: Path, items: list[dict[str, Any]], plural: str) -> None:
    group = items[0]["apiVersion"].rpartition("/")[0].partition("/")[0] if items else "kueue.x-k8s.io"
    kind = {"cohorts": "Cohort", "admissionchecks": "AdmissionCheck"}.get(plural) or items[0]["kind"]
    version = items[0]["apiVersion"] if items else API
    text = ",\n".join(json.dumps(item) for item in items)
    head = f'{{"apiVersion": "{version}", "kind": "{kind}List", "metadata": {{"resourceVersion": "8"}}, "items": [\n'
    _put(folder / (group or "core") / f"{plural}.yaml", f"{head}{text}\n]}}\n")


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
