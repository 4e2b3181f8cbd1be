"""The rights that a collection needs, made from the plan: deploy/clusterrole.yaml (`python -m analyzer.collect.role`).

RBAC knows no patterns of API groups. For each pattern of the plan the groups that we know of stand here; a group that is not
among them is refused to a collector with this role, and the bundle says so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import yaml

from analyzer.collect.plan import Plan, load, matches, matches_any

NAME = "bundle-triage-collect"

CORE = (
    "configmaps",
    "endpoints",
    "events",
    "limitranges",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "serviceaccounts",
    "services",
    "componentstatuses",
    "podtemplates",
)
"""What the core group has that can be listed (Kubernetes API reference); the plan says what of it is never taken."""

KNOWN = (
    # NVIDIA: DRA driver, NIM operator, NIC configuration, maintenance of nodes
    "resource.nvidia.com",
    "apps.nvidia.com",
    "configuration.net.nvidia.com",
    "maintenance.nvidia.com",
    # queues and jobs
    "trainer.kubeflow.org",
    "batch.volcano.sh",
    "scheduling.volcano.sh",
    "nodeinfo.volcano.sh",
    "flow.volcano.sh",
    "topology.volcano.sh",
    "scheduling.run.ai",
    "scheduler.grove.io",
    # nodes that come and go
    "karpenter.k8s.aws",
    "karpenter.azure.com",
    "addons.cluster.x-k8s.io",
    "bootstrap.cluster.x-k8s.io",
    "controlplane.cluster.x-k8s.io",
    "infrastructure.cluster.x-k8s.io",
    # OpenShift
    "controlplane.operator.openshift.io",
    "imageregistry.operator.openshift.io",
    "ingress.operator.openshift.io",
    "network.operator.openshift.io",
    "samples.operator.openshift.io",
    "components.platform.opendatahub.io",
    "services.platform.opendatahub.io",
)
"""API groups that the plan names only by a pattern."""

_HEAD = """\
# What a collection reads, and nothing else: made from analyzer/collect/plan.yaml by `python -m analyzer.collect.role`.
# The rule for secrets may go: then the bundle has none of them, and says so. Both collectors write names, types and dates of
# Secrets, never values; but who may list Secrets may read them, which RBAC does not tell apart.
"""


def role(plan: Plan | None = None) -> dict[str, Any]:
    """The ClusterRole.

    Args:
        plan: what is collected; None for the plan that is shipped.

    Raises:
        ValueError: a known group fits no pattern of the plan, so that it would be a right too many.
    """
    plan = plan or load()
    core = [name for name in CORE if plan.why_never(name, "") is None]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": [
            _rule([""], [name for name in core if name not in plan.metadata_only], "list"),
            _rule([""], [name for name in core if name in plan.metadata_only], "list"),
            _rule([""], ["namespaces"], "get"),
            _rule([""], ["pods/log"], "get"),
            _rule(sorted(_groups(plan)), ["*"], "list"),
        ],
    }


def _rule(groups: list[str], resources: list[str], verb: str) -> dict[str, Any]:
    return {"apiGroups": groups, "resources": resources, "verbs": [verb]}


def _groups(plan: Plan) -> Iterator[str]:
    patterns = tuple(pattern for pattern in (*plan.groups, *plan.custom) if "*" in pattern)
    strays = [group for group in KNOWN if not matches_any(patterns, group)]
    if strays:
        raise ValueError(f"the plan does not take {', '.join(strays)}")
    yield from (group for group in (*plan.groups, *plan.custom) if group and "*" not in group)
    yield from (group for group in KNOWN if not any(matches(entry.resource, f"x.{group}") for entry in plan.never))


def text(plan: Plan | None = None) -> str:
    """The ClusterRole as YAML, with its heading."""
    return _HEAD + yaml.safe_dump(role(plan), sort_keys=False, width=120)


if __name__ == "__main__":
    sys.stdout.write(text())
