"""troubleshoot.sh support bundles (replicatedhq/troubleshoot), old and new layouts.

Objects lie below `cluster-resources/`: cluster-scoped kinds in one file each, the others in one file a namespace.
Lists of old versions are bare arrays whose items name no kind, an empty list is `null`; so the kind comes from the
path. Other collectors write beside it, with folders of their own.

A bundle of host collectors alone has `host-collectors/` and nothing of the cluster; it is told to be one. What is left of
a bundle without either is known by the name of its folder alone.
"""

from __future__ import annotations

import re

from analyzer.bundle.formats.base import (
    ALL_NAMESPACES,
    FOREIGN_ANALYSIS,
    HOST_LOG,
    Assignment,
    Place,
    Root,
    Tree,
    base_name,
    hint_for,
    is_log_name,
    is_objects_name,
    skip,
    stem,
)
from analyzer.bundle.types import Hint

# Folder or file below cluster-resources/, lower case without dashes → kind, group.
_KINDS: dict[str, tuple[str, str]] = {
    "pods": ("Pod", ""),
    "events": ("Event", ""),
    "services": ("Service", ""),
    "endpoints": ("Endpoints", ""),
    "endpointslices": ("EndpointSlice", "discovery.k8s.io"),
    "deployments": ("Deployment", "apps"),
    "replicasets": ("ReplicaSet", "apps"),
    "statefulsets": ("StatefulSet", "apps"),
    "daemonsets": ("DaemonSet", "apps"),
    "jobs": ("Job", "batch"),
    "cronjobs": ("CronJob", "batch"),
    "configmaps": ("ConfigMap", ""),
    "pvcs": ("PersistentVolumeClaim", ""),
    "ingress": ("Ingress", "networking.k8s.io"),
    "networkpolicy": ("NetworkPolicy", "networking.k8s.io"),
    "resourcequota": ("ResourceQuota", ""),
    "resourcequotas": ("ResourceQuota", ""),
    "limitranges": ("LimitRange", ""),
    "poddisruptionbudgets": ("PodDisruptionBudget", "policy"),
    "roles": ("Role", "rbac.authorization.k8s.io"),
    "rolebindings": ("RoleBinding", "rbac.authorization.k8s.io"),
    "serviceaccounts": ("ServiceAccount", ""),
    "leases": ("Lease", "coordination.k8s.io"),
    "nodes": ("Node", ""),
    "namespaces": ("Namespace", ""),
    "pvs": ("PersistentVolume", ""),
    "storageclasses": ("StorageClass", "storage.k8s.io"),
    "volumeattachments": ("VolumeAttachment", "storage.k8s.io"),
    "ingressclasses": ("IngressClass", "networking.k8s.io"),
    "customresourcedefinitions": ("CustomResourceDefinition", "apiextensions.k8s.io"),
    "clusterroles": ("ClusterRole", "rbac.authorization.k8s.io"),
    "clusterrolebindings": ("ClusterRoleBinding", "rbac.authorization.k8s.io"),
    "priorityclasses": ("PriorityClass", "scheduling.k8s.io"),
    "certificatesigningrequests": ("CertificateSigningRequest", "certificates.k8s.io"),
    "validatingwebhookconfigurations": ("ValidatingWebhookConfiguration", "admissionregistration.k8s.io"),
    "mutatingwebhookconfigurations": ("MutatingWebhookConfiguration", "admissionregistration.k8s.io"),
}
_UNREAD = {"groups", "resources", "authcanilist"}
_DOCUMENTS = {
    "version.yaml": "version",
    "cluster-info/cluster_version.json": "cluster-version",
    "analysis.json": FOREIGN_ANALYSIS,
}
_MAIN, _SNAPSHOT = "main", "snapshot"
_LIKELY = 60
"""Score of a root that has objects of a cluster."""
HOST = "support-bundle-host"
_NAME = re.compile(r"(?:support-?bundle|preflight-?bundle)(?![a-z])", re.IGNORECASE)
_LOG = re.compile(r"pods/logs/(?P<ns>[^/]+)/(?P<pod>[^/]+)/(?P<name>[^/]+)\.log(?:\.gz)?\Z")
_ERRORS = re.compile(r"(?:^|/)(?:[^/]*-errors?(?:\.json)?/.*|[^/]*-errors?\.json|errors?\.(?:json|txt)|collector-errors/[^/]+)\Z")


def detect(tree: Tree) -> list[Root]:
    """Folders with `cluster-resources/`; the shallowest is the bundle, those below it are earlier snapshots."""
    roots: list[Root] = []
    for folder in tree.folders():
        names = tree.names(folder)
        inside = tree.names(f"{folder}cluster-resources/")
        if "cluster-resources" not in names or not inside:
            roots += _without_cluster(tree, folder, names)
            continue
        sure = bool(names & {"version.yaml", "analysis.json", "cluster-info", "collector-errors", "execution-data"})
        if not sure and not any(_key(stem(name)) in _KINDS for name in inside):
            continue
        above = any(root.score >= _LIKELY and folder.startswith(root.prefix) for root in roots)
        part = _SNAPSHOT if above else _MAIN
        roots.append(Root("support-bundle", folder, 70 if sure else _LIKELY, part))
    return roots


def _without_cluster(tree: Tree, folder: str, names: set[str]) -> list[Root]:
    """A bundle of hosts alone, or the rest of one that lost its objects."""
    if names & {"version.yaml", "analysis.json"} and tree.names(f"{folder}host-collectors/"):
        return [Root(HOST, folder, 55, _MAIN)]
    if names & {"version.yaml", "analysis.json", "cluster-info"} and _NAME.match(base_name(folder[:-1])):
        return [Root("support-bundle", folder, 40, _MAIN)]
    return []


def classify(root: Root, path: str, size: int) -> Assignment:
    """What the file at `path` below the root is."""
    name = base_name(path)
    if root.part == _SNAPSHOT:
        return skip("an earlier snapshot inside the bundle")
    if path.startswith("cluster-resources/"):
        return _resource(path.removeprefix("cluster-resources/"), name)
    return _of_others(path, name, size)


def _of_others(path: str, name: str, size: int) -> Assignment:
    """Beside `cluster-resources/`."""
    if path in _DOCUMENTS:
        return Assignment("document", "document", name=_DOCUMENTS[path])
    if _ERRORS.search(path):
        return Assignment("errors", "errors", name=_error_subject(path))
    if path.startswith("host-collectors/"):
        return _of_host(name)
    if size and is_log_name(name):
        return Assignment("log", "log")
    return skip("of another collector")


def _of_host(name: str) -> Assignment:
    """What a collector ran or copied on a host: logs and dmesg among it, by any name."""
    if is_log_name(name):
        return Assignment("log", "log", place=Place(source="service"))
    if name.endswith(".txt") or "." not in name:
        return Assignment("log", "guess", place=Place(source="service"), name=HOST_LOG)
    return skip("of another collector")


def _resource(path: str, name: str) -> Assignment:
    """Below `cluster-resources/`."""
    parts = path.split("/")
    log = _LOG.match(path)
    if log:
        return _log(log["ns"], log["pod"], log["name"])
    if parts[0].endswith("-errors.json") and len(parts) == 2:
        # Some versions put the ReplicaSet lists into a folder of the name `statefulsets-errors.json`.
        return Assignment("objects", "objects", Hint(namespace=stem(name), json=True), scope=stem(name))
    if _ERRORS.search(path):
        return Assignment("errors", "errors", name=_subject(parts[0] if parts[0] != "custom-resources" else parts[1]))
    return _listed(parts, name)


def _listed(parts: list[str], name: str) -> Assignment:
    """A list of objects below `cluster-resources/`."""
    if not is_objects_name(name):
        return skip("no objects and no log")
    if parts[0] == "custom-resources" and len(parts) in (2, 3):
        return _custom(parts, name)
    if parts[0] == "image-pull-secrets":
        return skip("registries of pull secrets")
    key = _key(stem(parts[0]))
    if key in _UNREAD or len(parts) > 2:
        return skip("no objects")
    kind, group = _KINDS.get(key, ("", ""))
    namespace = stem(name) if len(parts) == 2 else ""
    hint = Hint(kind, group, "v1" if kind else "", namespace, json=name.endswith(".json"))
    return Assignment("objects", "objects", hint, scope=namespace or ALL_NAMESPACES, strict=bool(kind))


def _custom(parts: list[str], name: str) -> Assignment:
    """`custom-resources/PLURAL.GROUP.json` or `custom-resources/PLURAL.GROUP/NS.json`."""
    namespace = stem(name) if len(parts) == 3 else ""
    plural, _, group = (parts[1] if len(parts) == 3 else stem(name)).partition(".")
    return Assignment(
        "objects", "objects", hint_for(plural, group, namespace, name), scope=namespace or ALL_NAMESPACES, strict=True
    )


def _log(namespace: str, pod: str, name: str) -> Assignment:
    if name.endswith("-logs-errors"):
        return Assignment("errors", "errors", name=f"{namespace}/{pod}")
    if name.endswith("-previous"):
        return Assignment("log", "log", place=Place(namespace, pod, name.removesuffix("-previous"), "previous"))
    return Assignment("log", "log", place=Place(namespace, pod, name, "current"))


def _key(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _subject(name: str) -> str:
    """Plural with group of what a file of errors is about, as the collector names it."""
    text = stem(name).removesuffix("-errors").removesuffix("-error")
    kind, group = _KINDS.get(_key(text), ("", ""))
    if not kind:
        return text
    plural = {"pvcs": "persistentvolumeclaims", "pvs": "persistentvolumes", "ingress": "ingresses"}.get(text)
    plural = plural or {"networkpolicy": "networkpolicies", "resourcequota": "resourcequotas"}.get(_key(text), _key(text))
    return f"{plural}.{group}" if group else plural


def _error_subject(path: str) -> str:
    """What an error of another collector is about: its folder, or the collector's name."""
    if path.startswith("collector-errors/"):
        return stem(base_name(path)).removesuffix("-error")
    return re.sub(r"-errors?(?=/|\Z)", "", path.rpartition("/")[0]) or stem(base_name(path))
