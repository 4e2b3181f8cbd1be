"""Nothing is wrong."""

from __future__ import annotations

from datetime import UTC, datetime

from cluster import REGISTRY, Cluster


def story() -> Cluster:
    """Nothing is wrong: three workers, a web shop, a finished job, one old restart."""
    c = Cluster("healthy", datetime(2026, 11, 12, 9, 30, tzinfo=UTC))
    for name in ("default", "kube-system", "orchard"):
        c.namespace(name)
    c.node("plum-cp-1", roles=("control-plane",))
    for number in (1, 2, 3):
        c.node(f"plum-{number}", roles=("worker",))
    image = f"{REGISTRY}/orchard/basket:7.2.0"
    owner = c.deployment("orchard", "basket", replicas=3, ready=3, image=image, since=c.ago(days=20))
    for number, suffix in ((1, "4kd2p"), (2, "9xw7q"), (3, "zz81m")):
        started = c.ago(days=9, hours=number)
        pod = c.pod(
            owner,
            suffix,
            f"plum-{number}",
            created=started,
            status=c.running("basket", image, started, restarts=1 if number == 2 else 0),
        )
        c.log(pod, "basket", "current", [(started, "basket 7.2.0 listens on :8080"), (c.ago(minutes=1), "GET /healthz 200")])
    agent_image = f"{REGISTRY}/kube-system/net-agent:1.19.1"
    agents = c.daemonset("kube-system", "net-agent", image=agent_image, desired=4, ready=4)
    for number, node in enumerate(("plum-cp-1", "plum-1", "plum-2", "plum-3")):
        c.pod(agents, f"q{number}v7c", node, created=c.ago(days=40), status=c.running("net-agent", agent_image, c.ago(days=40)))
    c.event(
        owner,
        "SuccessfulCreate",
        f"Created pod: {owner['metadata']['name']}-4kd2p",
        kind="Normal",
        first=c.ago(minutes=50),
        last=c.ago(minutes=50),
        count=1,
        component="replicaset-controller",
    )
    return c
