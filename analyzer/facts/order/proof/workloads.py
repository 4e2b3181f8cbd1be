"""WorkloadReady, Ready and ScalingHealthy: what the pods of the order do, and what they wait for."""

from __future__ import annotations

import re

from analyzer.facts.order.proof.base import Proof
from analyzer.facts.order.proof.health import long
from analyzer.facts.order.reasons import REGION
from analyzer.facts.order.shapes import Said
from analyzer.facts.order.words import cut
from analyzer.facts.order.world import Order, Pod, World
from analyzer.facts.values import mapping, mappings, text

_RESTARTS = re.compile(r"(?:restart\w*|перезапуск\w*)\D{0,12}?(\d{1,6})|(\d{1,6})\s*(?:restarts?|перезапуск)", re.IGNORECASE)
_OUTPUT = re.compile(r"(?:output|вывод|log|said)\s*[:=]\s*(.+)", re.IGNORECASE | re.DOTALL)
_PROBES = ("Unhealthy", "ProbeError")
_CREATE = ("FailedCreate", "FailedUpdate", "FailedApply")


def claim_pending(world: World, order: Order, said: Said, proof: Proof) -> None:
    """ResourceClaimPending: a step. Which claims wait."""
    waiting = [(pod, name) for pod in order.pods for name in pod.unallocated]
    claims = world.named("resource.k8s.io", "ResourceClaim")
    if waiting:
        proof.confirm("claims-wait", names=[name for _, name in waiting])
        for pod, name in waiting[:3]:
            found = claims.get((order.input, pod.namespace, name))
            proof.quote(found[0] if found else None, "metadata.name", name, "Declared")
    elif order.pods and all(pod.claims and all(given for _, _, given in pod.claims) for pod in order.pods):
        proof.refute("claims-given", names=[name for pod in order.pods for name, _, _ in pod.claims])
    elif any(pod.claims for pod in order.pods):
        proof.doubt("claims-not-collected")
    else:
        _unseen(world, order, proof)
    if long(world, order, said):
        proof.note("step-lasts-long")


def not_ready(world: World, order: Order, said: Said, proof: Proof) -> None:
    """WorkloadNotReady: passes by itself, unless the kubelet says of every pod that it cannot start."""
    stuck = [pod for pod in order.pods if pod.stuck]
    if order.pods and len(stuck) == len(order.pods):
        _tell_stuck(order, stuck, said, proof)
        proof.decide("stuck", severity="error", owner="workload", waiting="no")
        proof.note("becomes-startup-failed")
    elif order.pods:
        ready = sum(pod.ready for pod in order.pods)
        if ready == len(order.pods) and not _short(order):
            proof.refute("pods-ready", names=[pod.name for pod in order.pods])
            return
        rest = [f"{pod.name} ({pod.stuck or pod.state})" for pod in order.pods if not pod.ready]
        proof.confirm("pods-rise", number=ready, total=len(order.pods), names=rest) if rest else proof.fit(
            "pods-few", number=ready
        )
        for pod in [pod for pod in order.pods if not pod.ready][:3]:
            proof.quote(pod.pod_id, "metadata.name", pod.name, "Declared")
        _overdue(world, order, said, proof)
    else:
        _unseen(world, order, proof)
        _overdue(world, order, said, proof)


def _overdue(world: World, order: Order, said: Said, proof: Proof) -> None:
    if long(world, order, said):
        proof.decide("long", severity="warning", waiting="unknown")
        proof.deduced = False
        proof.note("step-lasts-long")


def _short(order: Order) -> bool:
    """Whether the workload wants more pods than the bundle has of it."""
    return any(wanted is not None and wanted > len(order.pods) for _, _, _, wanted, _ in order.workloads)


def startup_failed(world: World, order: Order, said: Said, proof: Proof) -> None:
    """WorkloadStartupFailed: clears by itself as soon as one pod comes up."""
    ready = [pod for pod in order.pods if pod.ready]
    stuck = [pod for pod in order.pods if pod.stuck]
    if ready:
        fixed = any(pod.ready_since and said.since and pod.ready_since > said.since for pod in ready)
        proof.refute("pod-came-up", fixed=fixed, names=[pod.name for pod in ready], at=ready[0].ready_since)
        for pod in ready[:2]:
            proof.quote(pod.pod_id, "metadata.name", pod.name, "Declared")
        if stuck:
            proof.note("pods-still-stuck", names=[f"{pod.name} ({pod.stuck})" for pod in stuck])
    elif stuck:
        _tell_stuck(order, stuck, said, proof)
        if len(stuck) < len(order.pods):
            proof.note("others-not-stuck", names=[f"{pod.name} ({pod.state})" for pod in order.pods if not pod.stuck])
    elif order.pods:
        proof.doubt("none-stuck", names=[f"{pod.name} ({pod.state})" for pod in order.pods])
        for pod in order.pods[:2]:
            _tell_end(pod, proof)
    else:
        _unseen(world, order, proof)


def _tell_stuck(order: Order, stuck: list[Pod], said: Said, proof: Proof) -> None:
    worst = max(stuck, key=lambda pod: pod.restarts)
    proof.confirm(
        "pods-stuck",
        number=len(stuck),
        total=len(order.pods),
        pod=worst.name,
        container=worst.container or "-",
        reason=worst.stuck or "-",
        restarts=worst.restarts,
    )
    path = worst.status_path or "status"
    proof.quote(worst.pod_id, f"{path}.state.waiting.reason", worst.stuck)
    proof.quote(worst.pod_id, f"{path}.restartCount", worst.restarts)
    match = _RESTARTS.search(said.message)
    told = int(match[1] or match[2]) if match else None
    if told is not None and told != worst.restarts:
        proof.note("older-snapshot", told=told, restarts=worst.restarts)
    output = _OUTPUT.search(said.message)
    if output:
        proof.note("words-of-then", words=output[1])
    _tell_end(worst, proof)


def _tell_end(pod: Pod, proof: Proof) -> None:
    if pod.end_words:
        proof.note("ended-with", pod=pod.name, own=pod.end_words)
        proof.quote(pod.pod_id, f"{pod.end_path}.reason" if pod.end_path else "status", pod.end_reason)
    if pod.words:
        proof.note("log-says", pod=pod.name, words=pod.words)
        proof.quote_log(pod.log_id, pod.line, pod.words)


def _unseen(world: World, order: Order, proof: Proof) -> None:
    """Why there are no pods to look at."""
    if world.whole.has("", "Pod", order.namespace):
        proof.doubt("no-pods")
    else:
        proof.doubt("pods-not-collected", namespace=order.namespace)


def error(world: World, order: Order, said: Said, proof: Proof) -> None:
    """WorkloadError: what the cluster refused; a volume that the order outgrew is refused for ever."""
    del said
    region = [told for told in world.events if told.about_id == order.object_id and told.reason == REGION]
    if region:
        proof.confirm("volume-outgrown", words=region[0].message or "-")
        proof.decide("volume")
        proof.quote(region[0].event_id, "message", region[0].message, "Observed")
        volumes(world, order, proof)
    ids = [object_id for object_id, *_ in order.workloads]
    for event_id, reason, message in _warnings(world, [*ids, order.object_id], _CREATE)[:2]:
        proof.confirm("refused", reason=reason, words=message)
        proof.quote(event_id, "message", message, "Observed")
    if not proof.said:
        if order.workloads:
            proof.doubt("workload-silent", names=[f"{kind} {name}" for _, kind, name, _, _ in order.workloads])
        elif all(world.whole.has("apps", kind, order.namespace) for kind in ("StatefulSet", "Deployment")):
            proof.fit("no-workload")
        else:
            proof.doubt("workloads-not-collected", namespace=order.namespace)


_VOLUMES = """
SELECT DISTINCT c.object_id, c.name, json_extract_string(c.json, '$.spec.resources.requests.storage'),
    json_extract_string(c.json, '$.status.capacity.storage')
FROM relations r JOIN objects c ON c.object_id = r.src
WHERE r.kind = 'pvc' AND r.dst IN (SELECT unnest(?::BIGINT[])) ORDER BY c.name
"""


def volumes(world: World, order: Order, proof: Proof) -> None:
    """The sizes of the volumes that the order's pods have, and what its workload asks for."""
    for object_id, name, asked, given in world.con.execute(_VOLUMES, [[pod.pod_id for pod in order.pods]]).fetchall()[:3]:
        proof.note("volume-is", name=name, asked=asked or "-", given=given or "-")
        proof.quote(object_id, "spec.resources.requests.storage", asked, "Declared")
    for object_id in [object_id for object_id, kind, *_ in order.workloads if kind == "StatefulSet"][:1]:
        for template in mappings(mapping(world.value(object_id).get("spec")).get("volumeClaimTemplates"))[:3]:
            requests = mapping(mapping(mapping(template.get("spec")).get("resources")).get("requests"))
            name = text(mapping(template.get("metadata")).get("name")) or "-"
            proof.note("template-asks", name=name, asked=str(requests.get("storage") or "-"))


def health_check(world: World, order: Order, said: Said, proof: Proof) -> None:
    """HealthCheckFailed: never ready yet."""
    if not order.pods:
        _unseen(world, order, proof)
        return
    rising = [pod for pod in order.pods if not pod.ready]
    if rising:
        proof.fit(
            "pods-rise",
            number=len(order.pods) - len(rising),
            total=len(order.pods),
            names=[f"{pod.name} ({pod.stuck or pod.state})" for pod in rising],
        )
    else:
        proof.doubt("pods-ready-probe", names=[pod.name for pod in order.pods])
    _probes(world, order, proof)
    for pod in [pod for pod in rising if pod.restarts][:2]:
        _tell_end(pod, proof)
    if long(world, order, said):
        proof.note("probe-lasts-long")


_LOST_NODES = "SELECT input, object_id, name, state FROM nodes WHERE state IN ('Unknown', 'Not ready') ORDER BY name"


def unhealthy(world: World, order: Order, said: Said, proof: Proof) -> None:
    """ServiceUnhealthy: was ready, and went silent for long."""
    del said
    if not order.pods:
        _unseen(world, order, proof)
        return
    wrong = [pod for pod in order.pods if not pod.ready or pod.end_words]
    for pod in wrong[:2]:
        proof.fit("pod-is", pod=pod.name, state=pod.stuck or pod.state, restarts=pod.restarts)
        proof.quote(pod.pod_id, f"{pod.status_path or 'status'}.restartCount", pod.restarts)
        _tell_end(pod, proof)
    lost = world.once("lost nodes", lambda: world.con.execute(_LOST_NODES).fetchall())
    nodes = {pod.node for pod in order.pods}
    for object_id, name, state in [row[1:] for row in lost if row[0] == order.input and row[2] in nodes][:2]:
        proof.fit("node-is", name=name, state=state)
        proof.quote(object_id, "metadata.name", name, "Declared")
    _endpoints(world, order, proof)
    _probes(world, order, proof)
    if not proof.said:
        proof.doubt("pods-ready-probe", names=[pod.name for pod in order.pods])


# Selected pods of Services without a ready address: few, where there are any.
_EMPTY = """
SELECT DISTINCT r.src, e.object_id, e.service
FROM relations r JOIN objects s ON s.object_id = r.dst
JOIN service_endpoints e ON e.namespace = s.namespace AND e.service = s.name
WHERE r.kind = 'service' AND e.ready = 0 ORDER BY e.service, e.object_id
"""


def _endpoints(world: World, order: Order, proof: Proof) -> None:
    """Services of the order without a ready address."""
    every = world.once("empty services", lambda: _empty(world))
    rows = list(dict.fromkeys(found for pod in order.pods for found in every.get(pod.pod_id, [])))
    for object_id, service in rows[:2]:
        proof.fit("service-empty", name=service)
        proof.quote(object_id, "metadata.name", service, "Declared")


def _empty(world: World) -> dict[int, list[tuple[int, str]]]:
    """Services without a ready address, by the pods that they select."""
    found: dict[int, list[tuple[int, str]]] = {}
    for pod_id, object_id, service in world.con.execute(_EMPTY).fetchall():
        found.setdefault(pod_id, []).append((object_id, service))
    return found


def _probes(world: World, order: Order, proof: Proof) -> None:
    for event_id, _, message in _warnings(world, [pod.pod_id for pod in order.pods], _PROBES)[:1]:
        proof.note("probe-says", words=cut(message, 300))
        proof.quote(event_id, "message", message, "Observed")


def _warnings(world: World, about: list[int], reasons: tuple[str, ...]) -> list[tuple[int, str, str]]:
    """Events of these reasons about these objects, the newest first: (event, reason, message)."""
    every = world.once("warnings", lambda: _all_warnings(world))
    found = [event for number in about for event in every.get(number, []) if event[2] in reasons]
    return [(event_id, reason, message) for _, event_id, reason, message in sorted(found)]


def _all_warnings(world: World) -> dict[int, list[tuple[int, int, str, str]]]:
    """Events that may say why a workload is refused or not ready, by what they are about; their rank comes first."""
    rows = world.con.execute(
        "SELECT about_id, row_number() OVER (ORDER BY last_at DESC NULLS LAST, object_id), object_id, reason, message "
        "FROM events "
        "WHERE about_id IS NOT NULL AND message IS NOT NULL AND reason IN (SELECT unnest(?::VARCHAR[]))",
        [[*_CREATE, *_PROBES]],
    ).fetchall()
    found: dict[int, list[tuple[int, int, str, str]]] = {}
    for about, *event in rows:
        found.setdefault(about, []).append((event[0], event[1], event[2], event[3]))
    return found


def blocked(world: World, order: Order, said: Said, proof: Proof) -> None:
    """ScaleUpBlocked: it serves, and cannot grow."""
    del said
    ready = [pod.name for pod in order.pods if pod.ready]
    pending = [pod for pod in order.pods if pod.pending]
    if ready:
        proof.confirm("pods-serve", names=ready) if order.serves else proof.fit("pods-serve", names=ready)
    elif order.serves:
        proof.fit("serves-unseen")
    else:
        _unseen(world, order, proof) if not order.pods else proof.doubt("serves-not")
    if pending:
        proof.note("growth-waits", names=[pod.name for pod in pending])
        proof.quote(pending[0].pod_id, "metadata.name", pending[0].name, "Declared")
    _autoscaler(world, order, proof)


_SCALERS = """
SELECT object_id, name, json_extract_string(json, '$.status.desiredReplicas'),
    json_extract_string(json, '$.status.currentReplicas')
FROM objects
WHERE api_group = 'autoscaling' AND kind = 'HorizontalPodAutoscaler' AND namespace = ? AND input = ?
    AND (json_extract_string(json, '$.spec.scaleTargetRef.name') IN (SELECT unnest(?::VARCHAR[])))
ORDER BY name
"""


def _autoscaler(world: World, order: Order, proof: Proof) -> None:
    names = [order.name, *(name for _, _, name, _, _ in order.workloads)]
    for object_id, name, desired, current in world.con.execute(_SCALERS, [order.namespace, order.input, names]).fetchall():
        if desired and current and desired.isdigit() and current.isdigit() and int(desired) > int(current):
            proof.note("scaler-wants", name=name, desired=int(desired), current=int(current))
            proof.quote(object_id, "status.desiredReplicas", desired)


def growth(world: World, order: Order, proof: Proof) -> None:
    """The event GrowthClaimUnplaced: one replica waits while another serves."""
    serving = [pod.name for pod in order.pods if pod.ready]
    waiting = [pod for pod in order.pods if pod.pending and (pod.unallocated or not pod.claims)]
    if serving and waiting:
        proof.confirm("one-grows", names=serving, waiting=[pod.name for pod in waiting])
        proof.quote(waiting[0].pod_id, "metadata.name", waiting[0].name, "Declared")
    elif order.pods and not waiting and all(pod.ready for pod in order.pods):
        proof.refute("grown", names=serving)
    elif not order.pods:
        _unseen(world, order, proof)
    else:
        proof.doubt("growth-unclear", names=[f"{pod.name} ({pod.state})" for pod in order.pods])


PROVERS = {
    "ResourceClaimPending": claim_pending,
    "WorkloadNotReady": not_ready,
    "WorkloadError": error,
    "WorkloadStartupFailed": startup_failed,
    "HealthCheckFailed": health_check,
    "ServiceUnhealthy": unhealthy,
    "ScaleUpBlocked": blocked,
}
