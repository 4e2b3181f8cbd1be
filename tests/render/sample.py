"""A report with something of everything, for the tests of the renderers. All names are invented."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from analyzer.engine.model import (
    CappedHits,
    Cluster,
    CollectError,
    Coverage,
    Entry,
    EventWindow,
    Evidence,
    Finding,
    Incident,
    Input,
    KindCoverage,
    LogCoverage,
    NotEvaluated,
    ObjectRef,
    Report,
    RuleSet,
    Severity,
    State,
    UnreadFile,
)
from analyzer.engine.sections import Cell

END = datetime(2026, 11, 1, 12, 0, 0, tzinfo=UTC)
T = TypeVar("T")


def ago(**span: float) -> datetime:
    return END - timedelta(**span)


def finding(
    name: str, code: str, severity: Severity, ref: ObjectRef, title: str, message: str, since: datetime | None, **more: Any
) -> Finding:
    age = None if since is None else int((END - since).total_seconds())
    base: dict[str, Any] = {"owner": "workload", "waiting": "no", "basis": "observed"}
    return Finding(
        id=name, code=code, severity=severity, object=ref, title=title, message=message, since=since, age_seconds=age,
        **(base | more),
    )  # fmt: skip


NODE = ObjectRef("", "Node", "", "rack2-n07", "6a1e")
FRONT = ObjectRef("apps", "Deployment", "shop", "front", "77aa")
CART = ObjectRef("apps", "StatefulSet", "shop", "cart", "77ab")
PODS = tuple(ObjectRef("", "Pod", "shop", f"front-6c9f7-{index:02d}", f"u{index}") for index in range(12))

NODE_DOWN = finding(
    "n1", "node/NotReady", "error", NODE,
    "Node rack2-n07 stopped answering; its 14 pods cannot be moved",
    'The kubelet of rack2-n07 posts no status. The cluster says "Kubelet stopped posting node status.".',
    ago(hours=5, minutes=18), owner="platform",
    next=(
        "Look at the kubelet's last words: `oc adm node-logs rack2-n07 -u kubelet --tail=200`",
        "If the machine is gone for good, remove the node; its pods then start elsewhere: `oc delete node rack2-n07`",
        "Set `spec.unschedulable` until then.",
    ),
    evidence=(
        Evidence(0, "mg/quay-io-example/cluster-scoped-resources/core/nodes/rack2-n07.yaml", 214,
                 "status.conditions[3].message", "Kubelet stopped posting node status.", "Reported"),
        Evidence(0, "mg/quay-io-example/host_service_logs/masters/kubelet_service.log", 9120, "",
                 "Nov 01 06:41:17 rack2-n07 kernel: nvme nvme0: controller is down\n"
                 "Nov 01 06:41:18 rack2-n07 kubelet[2210]: E1101 06:41:18 \"Failed to update lease\"", "Observed"),
    ),
    why="A node whose kubelet is silent for 40 s is marked Unknown; its pods are evicted after 5 min, and a StatefulSet's pod "
        "waits until the node is known to be gone.",
    references=("https://kubernetes.io/docs/concepts/architecture/nodes/",),
)  # fmt: skip
POD_GONE = finding(
    "n2", "pod/TerminatingStuck", "warning", ObjectRef("", "Pod", "shop", "cart-0", "c0"),
    "Pod shop/cart-0 has been terminating for 5 h", "Its node does not answer, so nothing confirms that it has ended.",
    ago(hours=5, minutes=13), owner="cluster", basis="deduced",
    evidence=(Evidence(0, "mg/quay-io-example/namespaces/shop/core/pods.yaml", 88, "metadata.deletionTimestamp",
                       "2026-11-01T06:46:18Z", "Reported"),),
)  # fmt: skip
CART_DOWN = finding(
    "n3", "workload/Unavailable", "warning", CART, "StatefulSet shop/cart has 2 of 3 pods ready", "One replica is missing.",
    ago(hours=5, minutes=17),
)  # fmt: skip
FRONT_PODS = finding(
    "n4", "pod/Unschedulable", "error", FRONT, "12 pods of shop/front cannot be scheduled: too little memory",
    'The scheduler says "0/9 nodes are available: 3 Insufficient memory, 5 node(s) had untolerated taint".',
    ago(hours=5, minutes=12), owner="cluster", count=12, objects=PODS,
    evidence=(Evidence(0, "mg/quay-io-example/namespaces/shop/core/pods.yaml", 2041, "status.conditions[0].message",
                       "0/9 nodes are available: 3 Insufficient memory, 5 node(s) had untolerated taint {example.com/gpu: }, "
                       "1 node(s) were unschedulable.", "Reported"),),
)  # fmt: skip
FRONT_DOWN = finding(
    "n5", "workload/Unavailable", "error", FRONT, "Deployment shop/front has no ready pod", "0 of 12 pods are ready.",
    ago(hours=4, minutes=58), next=("Free memory or add a node.",),
)  # fmt: skip
CRASH = finding(
    "c1", "pod/CrashLooping", "error", ObjectRef("", "Pod", "billing", "ledger-0", "l0"),
    "Container app of billing/ledger-0 ends again and again with exit code 64",
    "It has restarted 41 times. Exit code 64 is the program's own: wrong usage or configuration.",
    ago(days=2, hours=3),
    next=("Read its last words: kubectl logs -n billing ledger-0 -c app --previous",),
    evidence=(Evidence(0, "mg/quay-io-example/namespaces/billing/pods/ledger-0/app/app/logs/previous.log", 311, "",
                       "2026-11-01T11:58:40Z reading /etc/ledger/config.toml\n2026-11-01T11:58:40Z error: no key [store] in "
                       "config.toml\n2026-11-01T11:58:40Z stopping", "Observed"),),
)  # fmt: skip
PULL = finding(
    "p1", "pod/ImagePullFailed", "warning", ObjectRef("", "Pod", "lab", "probe-x", "px"),
    "Image registry.example.com/lab/probe:9 cannot be pulled", "The registry says that it does not have that tag.", None,
    waiting="unknown",
)  # fmt: skip
CORDON = finding(
    "i1", "node/Cordoned", "info", ObjectRef("", "Node", "", "rack1-n02", "n2"), "Node rack1-n02 takes no new pods",
    "It was cordoned by hand.", ago(days=30), owner="cluster", waiting="unknown",
)  # fmt: skip
CUT = finding(
    "x1", "collect/Incomplete", "warning", ObjectRef("", "Pod", "", ""), "The list of Secrets in lab is cut",
    "The file ends in the middle of an object.", None, owner="nobody", waiting="unknown",
)  # fmt: skip

SAMPLE = Report(
    tool_version="0.1.0",
    rules=RuleSet(88, "4be1" + "0" * 56 + "90c2"),
    inputs=(Input("must-gather.tar.gz", "must-gather", "9f2c61e0" + "a" * 48 + "b7d4a813", 412_345_678, END),),
    collected_at=END,
    collected_at_source="must-gather timestamp, line 2",
    as_of=END,
    cluster=Cluster("c1a2", "OpenShift 4.18.12, Kubernetes 1.31.7", "BareMetal", 18, 12, 96),
    health="problems",
    verdict="Two faults: node rack2-n07 stopped answering, which keeps 13 pods of shop from running, and billing/ledger-0 "
    "ends again and again.",
    incidents=(
        Incident("inc1", NODE_DOWN.title, "n1", ("n1", "n2", "n3", "n4", "n5"), "platform",
                 {"Pod": 13, "Deployment": 1, "StatefulSet": 1}, NODE_DOWN.next,
                 {"n2": "n1", "n3": "n2", "n4": "n1", "n5": "n4"}),
        Incident("inc2", CRASH.title, "c1", ("c1",), "workload", {"Pod": 1}, CRASH.next),
        Incident("inc3", PULL.title, "p1", ("p1",), "workload", {"Pod": 1}, ()),
        Incident("inc4", CUT.title, "x1", ("x1",), "nobody", {}, ()),
        Incident("inc5", CORDON.title, "i1", ("i1",), "cluster", {}, ()),
    ),
    findings=(NODE_DOWN, POD_GONE, CART_DOWN, FRONT_PODS, FRONT_DOWN, CRASH, PULL, CUT, CORDON),
    states=(
        State(NODE, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", NODE_DOWN.since),
        State(PODS[0], "Pending", "Unschedulable", None, None),
    ),
    not_evaluated=(
        NotEvaluated("pod/ConfigMissing", "Secrets were not collected", ("Secret",),
                     ("oc get secrets -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name",)),
        NotEvaluated("webhook/Failing", "the API answered 403 to the collector", ("EndpointSlice.discovery.k8s.io",),
                     ("oc get endpointslices -A -o yaml > endpointslices.yaml",)),
        NotEvaluated("pod/MountFailed", "Secrets were not collected", ("Secret",),
                     ("oc get secrets -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name",)),
        NotEvaluated("ray/*", "no trace of ray in this bundle"),
        NotEvaluated("kueue/*", "no trace of kueue in this bundle"),
    ),
    coverage=Coverage(
        kinds=(
            KindCoverage("", "Node", 18, "cluster", "complete"),
            KindCoverage("", "Pod", 1204, "cluster", "complete"),
            KindCoverage("", "Event", 3918, ("billing", "lab", "shop"), "partial", "namespace kube-system has no list"),
            KindCoverage("", "Secret", 0, (), "not-collected"),
            KindCoverage("discovery.k8s.io", "EndpointSlice", 0, (), "forbidden", "403 in gather.logs"),
            KindCoverage("apps", "Deployment", 210, "cluster", "complete"),
            KindCoverage("batch", "CronJob", 0, "cluster", "absent"),
        ),
        logs=LogCoverage(
            {"current": 1447, "previous": 212, "rotated": 40}, 902, 1204, (CappedHits(0, "a<b>.log", "tea/lid", 90210, 200),), 7
        ),
        events=(
            EventWindow("shop", ago(hours=3), END, 310),
            EventWindow("billing", ago(hours=2, minutes=20), ago(minutes=2), 44),
            EventWindow("lab", None, None, 0),
        ),
        collect_errors=(
            CollectError(0, "mg/quay-io-example/gather.logs", 611, "forbidden", "endpointslices.discovery.k8s.io",
                         "endpointslices.discovery.k8s.io is forbidden: User \"dev\" cannot list resource"),
        ),
    ),
    files=(
        UnreadFile(0, "mg/quay-io-example/namespaces/lab/core/secrets.yaml", 16384, "partial", "ends in a string at line 411"),
        UnreadFile(0, "mg/quay-io-example/audit_logs/big.gz", None, "skipped", "audit log"),
    ),
)  # fmt: skip

HEALTHY = replace(
    SAMPLE,
    health="healthy",
    verdict="No fault found in what was collected; 2 rules could not be evaluated.",
    incidents=(),
    findings=(),
)


def big(findings: int = 3000, incidents: int = 500) -> Report:
    """As many findings as a very sick, large cluster has, every one with three pieces of evidence."""
    per = findings // incidents
    rows, trees = [], []
    for number in range(incidents):
        severity: Severity = ("error", "warning", "info")[min(2, number * 3 // incidents)]
        names = tuple(f"f{number}-{index}" for index in range(per))
        for index, name in enumerate(names):
            ref = ObjectRef("", "Pod", f"tenant-{number:03d}", f"service-with-a-long-name-{number}-{index}", name)
            log = Evidence(0, f"mg/namespaces/tenant-{number:03d}/core/pods.yaml", index * 100 + 1,
                           "status.containerStatuses[0].state.waiting.message", "back-off 5m0s restarting failed container " * 12,
                           "Reported")  # fmt: skip
            rows.append(
                finding(name, "pod/CrashLooping", severity, ref, f"Container app of {ref.name} ends again and again",
                        "It has restarted 41 times. " * 6, ago(minutes=number + index), evidence=(log,) * 3,
                        count=60, objects=PODS * 5,
                        next=("Look at its last words: `kubectl logs -n x y --previous`",))
            )  # fmt: skip
        parents = {name: names[max(0, index // 2)] for index, name in enumerate(names) if index}
        trees.append(
            Incident(f"inc{number}", f"Incident {number} of many", names[0], names, "workload", {"Pod": 60}, (), parents)
        )
    return replace(SAMPLE, findings=tuple(rows), incidents=tuple(trees))


def alike(findings: int = 600, incidents: int = 300) -> Report:
    """A large report two thirds of which are told as two entries, the rest each on its own."""
    report = big(findings, incidents)
    third = incidents // 3
    entries = []
    for start in (0, third):
        group = report.incidents[start : start + third]
        entries.append(
            Entry(
                f"{third} services of many teams end again and again: their image is gone",
                tuple(one.id for one in group),
                tuple(f"Deployment tenant-{number}/service" for number in range(third)),
                {"Pod": 40 * third},
            )
        )
    entries += [Entry(one.title, (one.id,), ("",), one.impact) for one in report.incidents[2 * third :]]
    return replace(report, entries=tuple(entries))


def with_text(value: T, change: Callable[[str], str]) -> T:
    """The same data with every free text changed; ids and words with a fixed set of values stay.

    Ids are what ties findings and incidents together, so they stay too; everything else may come from a bundle.
    """
    fixed = {"id", "root", "severity", "owner", "waiting", "basis", "health", "findings", "parents", "finding", "slots"}
    if isinstance(value, str):
        return change(value)  # type: ignore[return-value]
    if isinstance(value, tuple):
        return tuple(with_text(item, change) for item in value)  # type: ignore[return-value]
    if isinstance(value, dict):
        return {with_text(key, change): with_text(item, change) for key, item in value.items()}  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for row in fields(value):
            inner = getattr(value, row.name)
            keep = row.name in fixed and not (row.name == "findings" and isinstance(value, Report))
            keep = keep or (row.name == "incidents" and isinstance(value, Entry))
            keep = keep or (row.name, type(value)) in {("kind", Evidence), ("status", KindCoverage), ("kind", Cell)}
            changed[row.name] = inner if keep else with_text(inner, change)
        return replace(value, **changed)
    return value
