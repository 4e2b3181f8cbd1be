"""NVIDIA's GPU Operator must-gather (hack/must-gather.sh of NVIDIA/gpu-operator): one flat folder of YAML and printed text.

It has the operator's objects as YAML, but no Node: what is known of nodes is what `kubectl describe` prints (`gpu_nodes.descr`)
and the labels (`gpu_nodes.labels`). No ConfigMaps, no events, no pods of workloads. As an OpenShift must-gather image it lies in
the folder of that image; run by hand it is packed by whoever ran it, so that the folder's name says nothing. Releases from 26.3
on add `nvidiadrivers.yaml` and `gpu_device_usage_NODE.log`.
"""

from __future__ import annotations

import re

from analyzer.bundle.formats.base import (
    ALL_NAMESPACES,
    Assignment,
    Place,
    Reader,
    Root,
    Tree,
    base_name,
    is_log_name,
    is_objects_name,
    skip,
)
from analyzer.bundle.formats.nvidia_bug_report import is_report
from analyzer.bundle.types import Hint

FORMAT = "gpu-operator"
NODES: Reader = "gpu-operator-nodes"
PREFIXED: Reader = "prefixed-log"
NONE_FOUND: Reader = "none-found"
USAGE: Reader = "gpu-usage"
"""Readers: nodes as printed text, a log whose lines name their container, an empty file that says that there is none, and what
holds the GPUs of a node."""
DESCRIBED, LABELLED, LISTED = "described", "labelled", "listed"
"""Names of the ways in which nodes are printed."""
PRINTED_NODES = "gpu-nodes"
"""Role of the document with the nodes of a file that tells only a part of each."""
OPERATOR_LOG = "gpu_operator_pod"
"""How the names of the operator's own logs begin; nothing else in them says whose they are."""

_MARKERS = {"gpu_operand_pods.yaml", "gpu_operand_ds.yaml", "gpu_nodes.labels", "gpu_nodes.descr", "gpu_operator_pod.yaml"}
_BROKEN_OFF = {"must-gather.log", "must-gather.stderr.log"}
OBJECTS: dict[str, tuple[str, str, bool]] = {
    "cluster_policy.yaml": ("ClusterPolicy", "nvidia.com", True),
    "nvidiadrivers.yaml": ("NVIDIADriver", "nvidia.com", True),
    "gpu_operand_pods.yaml": ("Pod", "", False),
    "gpu_operand_ds.yaml": ("DaemonSet", "apps", False),
    "gpu_operator_pod.yaml": ("Pod", "", False),
    "openshift_version.yaml": ("ClusterVersion", "config.openshift.io", False),
    "hyperconverged.yaml": ("HyperConverged", "hco.kubevirt.io", True),
    "kubevirt.yaml": ("KubeVirt", "kubevirt.io", True),
}
"""File → kind and group of what is in it, and whether it holds all of the cluster."""
PARTS = {"gpu_operator_pod.yaml"}
"""Of these, files of which another has what is in them."""
BY_NAME = {"cluster_policy.yaml"}
"""Of these, files that hold one object, which was asked for by name: the names of several make the command fail."""
DRIVERS = "nvidiadrivers.yaml"
"""File that releases from 26.3 on write where there are NVIDIADrivers."""
EARLY = {"cluster_policy.yaml", DRIVERS, "openshift_version.yaml", "hyperconverged.yaml", "kubevirt.yaml"}
"""Files that are written before the script looks for GPU nodes, without which it goes no further."""
DESCRIPTION = "gpu_nodes.descr"
"""File with what is known of the nodes."""
_OWN = {
    "cluster_policy.missing": Assignment("meta", NONE_FOUND, Hint("ClusterPolicy", "nvidia.com"), scope=ALL_NAMESPACES),
    DESCRIPTION: Assignment("objects", NODES, Hint("Node", "", "v1"), name=DESCRIBED),
    "gpu_nodes.labels": Assignment("objects", NODES, Hint("Node", "", "v1"), name=LABELLED),
    "gpu_nodes.status": Assignment("objects", NODES, Hint("Node", "", "v1"), name=LISTED),
    "must-gather.log": Assignment("errors", "errors"),
    "must-gather.stderr.log": Assignment("errors", "errors"),
    "version": Assignment("document", "version", name="version"),
}
_USAGE = re.compile(r"gpu_device_usage_(?P<node>[^/]{1,253})\.log(?:\.gz)?\Z")
_OPERAND_LOG = re.compile(r"gpu_operand_pod_(?P<pod>[^/]+?)(?P<previous>\.previous)?\.log(?:\.gz)?\Z")


def detect(tree: Tree) -> list[Root]:
    """Folders with the files of the script; one that broke off early may have no more than its two logs."""
    roots = []
    for folder in tree.folders():
        names = tree.names(folder)
        if names & _MARKERS:
            roots.append(Root(FORMAT, folder, 88))
        elif names >= _BROKEN_OFF:
            roots.append(Root(FORMAT, folder, 60))
    return roots


def classify(root: Root, path: str, size: int) -> Assignment:  # noqa: ARG001 - one signature for all formats
    """What the file at `path` below the root is."""
    name = base_name(path)
    if "/" in path:
        return skip("not of the must-gather of the GPU Operator")
    if name in OBJECTS:
        kind, group, all_of_it = OBJECTS[name]
        scope = ALL_NAMESPACES if all_of_it else ""
        # One object that was asked for by name after the names of all were asked for is all of the kind.
        whole = f"{kind}.{group}" if name == "cluster_policy.yaml" and size else ""
        return Assignment("objects", "objects", Hint(kind, group), scope=scope, strict=size > 0, whole=whole)
    return _OWN.get(name) or _usage(name) or _text(name)


def _usage(name: str) -> Assignment | None:
    """What holds the GPUs of a node, None for other files."""
    found = _USAGE.match(name)
    return Assignment("log", USAGE, place=Place(source="service"), name=found["node"]) if found else None


def _text(name: str) -> Assignment:
    """Logs, and what was printed of things that are there as YAML."""
    if is_report(name):
        return Assignment("log", "nvidia-bug-report", place=Place(source="other"))
    operand = _OPERAND_LOG.match(name)
    if operand:
        return Assignment("log", PREFIXED, place=Place("", operand["pod"], "", "previous" if operand["previous"] else "current"))
    if name.startswith(OPERATOR_LOG) and is_log_name(name):
        return Assignment("log", PREFIXED, place=Place(source="previous" if ".previous." in name else "current"))
    if is_log_name(name):
        return Assignment("log", "log", place=Place(source="service"))
    if is_objects_name(name):
        return Assignment("objects", "objects", Hint())
    return skip("printed text, of which mostly other files have the objects; its events count back from an unknown time")
