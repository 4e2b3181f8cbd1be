"""A cluster of `kind` on a laptop, dumped with `kubectl cluster-info dump`."""

from __future__ import annotations

from datetime import UTC, datetime

from cluster import Cluster, digest


def story() -> Cluster:
    """A demo that does not come up: no database, an image of the wrong name, and more memory than the laptop has."""
    c = Cluster("kind-dump", datetime(2026, 11, 18, 16, 5, tzinfo=UTC))
    for name in ("demo", "kube-system"):
        c.namespace(name)
    c.node("fern-control-plane", memory="32768000Ki", roles=("control-plane",))
    c.node("fern-worker", memory="32768000Ki", roles=("worker",))
    proxy = c.daemonset("kube-system", "kube-proxy", image="registry.k8s.io/kube-proxy:v1.33.4", desired=2, ready=2)
    for suffix, node in (("4x8fz", "fern-control-plane"), ("9p2tw", "fern-worker")):
        started = c.ago(days=1)
        pod = c.pod(
            proxy, suffix, node, created=started, status=c.running("kube-proxy", "registry.k8s.io/kube-proxy:v1.33.4", started)
        )
        c.log(pod, "kube-proxy", "current", [(started, "Using iptables Proxier")])
    _guestbook(c)
    _preview(c)
    _indexer(c)
    return c


def _guestbook(c: Cluster) -> None:
    """The API ends at once, since nobody answers where its database should be. A dump has no previous log, only the current one."""
    image = "guestbook-api:dev"
    api = c.deployment("demo", "guestbook-api", replicas=1, ready=0, image=image, since=c.ago(minutes=38))
    begin, end = c.ago(minutes=3, seconds=9), c.ago(minutes=3, seconds=4)
    last = {
        "exitCode": 1,
        "reason": "Error",
        "startedAt": begin,
        "finishedAt": end,
        "containerID": f"containerd://{digest('gb')}",
    }
    words = f"back-off 5m0s restarting failed container=guestbook-api pod={api['metadata']['name']}-7tq9s_demo"
    status = c.waiting("guestbook-api", image, c.ago(minutes=38), "CrashLoopBackOff", words, restarts=12, last=last)
    pod = c.pod(api, "7tq9s", "fern-worker", created=c.ago(minutes=38), status=status)
    c.log(
        pod,
        "guestbook-api",
        "current",
        [
            (begin, "guestbook-api: connecting to postgres.demo.svc:5432"),
            (end, "guestbook-api: fatal: dial tcp: lookup postgres.demo.svc on 10.96.0.10:53: no such host"),
        ],
    )
    c.event(
        pod,
        "BackOff",
        f"Back-off restarting failed container guestbook-api in pod {pod['metadata']['name']}_demo",
        first=c.ago(minutes=37),
        last=c.ago(minutes=1),
        count=166,
        component="kubelet",
    )


def _preview(c: Cluster) -> None:
    """An image that was built on the laptop and never loaded into the cluster."""
    image = "guestbook-preview:dev"
    preview = c.deployment("demo", "guestbook-preview", replicas=1, ready=0, image=image, since=c.ago(minutes=36))
    words = f'Back-off pulling image "{image}": ErrImagePull: failed to pull and unpack image "docker.io/library/{image}": failed to resolve reference "docker.io/library/{image}": pull access denied, repository does not exist or may require authorization'
    status = c.waiting("guestbook-preview", image, c.ago(minutes=36), "ImagePullBackOff", words)
    pod = c.pod(preview, "m3d5k", "fern-worker", created=c.ago(minutes=36), status=status)
    c.event(
        pod,
        "Failed",
        f'Failed to pull image "{image}": pull access denied, repository does not exist or may require authorization',
        first=c.ago(minutes=36),
        last=c.ago(minutes=1),
        count=9,
        component="kubelet",
    )


def _indexer(c: Cluster) -> None:
    """A pod that wants more memory than both nodes have."""
    image = "guestbook-indexer:dev"
    indexer = c.deployment("demo", "guestbook-indexer", replicas=1, ready=0, image=image, since=c.ago(minutes=35))
    message = (
        "0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    pod = c.pod(indexer, "v6h4c", "", created=c.ago(minutes=35), status=c.unschedulable(c.ago(minutes=35), message))
    pod["spec"]["containers"][0]["resources"] = {"requests": {"memory": "64Gi"}}
    c.event(
        pod,
        "FailedScheduling",
        message,
        first=c.ago(minutes=35),
        last=c.ago(minutes=2),
        count=7,
        component="default-scheduler",
    )
