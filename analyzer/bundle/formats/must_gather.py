"""`oc adm must-gather` and `oc adm inspect` (openshift/oc, openshift/must-gather).

Both write the same two trees, `namespaces/` and `cluster-scoped-resources/`. A must-gather has them in one folder an
image, below a folder with the client's own log and timestamp; an inspect has them directly in its folder. Customers
re-pack both, so the trees are found at any depth, and with parts missing.
"""

from __future__ import annotations

import re

from analyzer.bundle.formats.base import (
    ALL_NAMESPACES,
    CLEAN_REPORT,
    HOST_LOG,
    HOST_LOG_NAME,
    Assignment,
    Place,
    Root,
    Source,
    Tree,
    base_name,
    hint_for,
    is_log_name,
    is_objects_name,
    skip,
    stem,
)
from analyzer.bundle.types import Hint

TREES = ("namespaces", "cluster-scoped-resources")
_OUTER = "outer"
_IMAGE = "image"
_INSPECT = "inspect"
_IMAGE_MARKERS = {"version", "gather.logs", "monitoring", "etcd_info", "host_service_logs"}
_CLIENT_MARKERS = {"must-gather.logs", "timestamp", "event-filter.html"}
# What `oc adm inspect ns/NAME` puts into the folder of a namespace.
_NAMESPACE_MARKERS = {"core", "pods", "apps", "batch"}
_IMAGE_NAME = re.compile(r"-sha256-[0-9a-f]{3,}\Z")
_INSPECT_NAME = re.compile(r"inspect\.local\.|inspect[-_.]")

_DOCUMENTS = {
    "etcd_info/endpoint_health.json": "etcd-endpoint-health",
    "etcd_info/endpoint_status.json": "etcd-endpoint-status",
    "etcd_info/alarm_list.json": "etcd-alarm-list",
    "etcd_info/member_list.json": "etcd-member-list",
    "monitoring/alerts.json": "alerts",
    "monitoring/prometheus/alerts.json": "alerts",
    "monitoring/prometheus/rules.json": "prometheus-rules",
    "report.yaml": CLEAN_REPORT,
}
# Folders of single files that the gathering asks for as a whole kind, so that they prove which objects there are.
_WHOLE = {
    ("core", "nodes"): "Node.",
    ("core", "namespaces"): "Namespace.",
    ("apiextensions.k8s.io", "customresourcedefinitions"): "CustomResourceDefinition.apiextensions.k8s.io",
}
_POD_LOG = re.compile(
    r"(?P<pod>[^/]+)/(?P<container>[^/]+)/(?:(?P=container)/)?(?:logs/)?(?P<rotated>rotated/)?"
    r"(?P<name>[^/]+\.log(?:\.[^/]+)?)\Z"
)
_SERVICE = re.compile(r"(?:^|/)(?:host_service_logs|nodes|sysinfo|network_logs)/")


def detect(tree: Tree) -> list[Root]:
    """The image folders and inspect folders, and the client's folder around them."""
    roots: list[Root] = []
    for folder in tree.folders():
        if not _is_gathered(tree, folder) or _inside_trees(folder, roots):
            continue
        part = _part(tree, folder)
        complete = all(name in tree.names(folder) for name in TREES)
        base = 80 if part == _INSPECT else 90
        roots.append(Root("inspect" if part == _INSPECT else "must-gather", folder, base + 5 * complete, part))
    outer = [Root("must-gather", folder, 85, _OUTER) for folder in _client_folders(tree, roots)]
    return roots + outer


def _is_gathered(tree: Tree, folder: str) -> bool:
    """Whether one of the two trees lies in this folder, and looks like what `oc` writes."""
    names = tree.names(folder)
    if "cluster-scoped-resources" in names and tree.subfolders(f"{folder}cluster-scoped-resources/"):
        return True
    if "namespaces" not in names:
        return False
    spaces = tree.subfolders(f"{folder}namespaces/")
    if not spaces:
        return False
    if names & (_IMAGE_MARKERS | _CLIENT_MARKERS):
        return True
    return any(tree.names(space) & _NAMESPACE_MARKERS or f"{base_name(space[:-1])}.yaml" in tree.names(space) for space in spaces)


def _inside_trees(folder: str, roots: list[Root]) -> bool:
    """Whether a folder lies inside the trees of a root already found (a namespace may well be called `namespaces`)."""
    return any(
        folder.startswith(root.prefix) and folder[len(root.prefix) :].split("/", 1)[0] in TREES and folder != root.prefix
        for root in roots
    )


def _part(tree: Tree, folder: str) -> str:
    names = tree.names(folder)
    own, parent = base_name(folder[:-1]), _parent(folder)
    if _INSPECT_NAME.match(own):
        return _INSPECT
    if names & {"version", "gather.logs"} or _IMAGE_NAME.search(own) or "must-gather.logs" in names:
        return _IMAGE
    if folder and "must-gather.logs" in tree.names(parent):
        return _IMAGE
    if folder and "timestamp" in names and "timestamp" in tree.names(parent):
        return _IMAGE
    return _INSPECT


def _client_folders(tree: Tree, roots: list[Root]) -> list[str]:
    """Folders in which the client of a must-gather wrote its own files (one or two levels above the image folder)."""
    taken = {root.prefix for root in roots}
    found: dict[str, None] = {}
    for folder in tree.folders():
        if "must-gather.logs" in tree.names(folder) and folder not in taken and not _inside_trees(folder, roots):
            found[folder] = None
    for root in roots:
        above = root.prefix
        for _ in range(2):
            if root.part != _IMAGE or not above:
                break
            above = _parent(above)
            if tree.names(above) & _CLIENT_MARKERS and above not in taken:
                found[above] = None
                break
    return list(found)


def _parent(folder: str) -> str:
    return folder[:-1].rpartition("/")[0] + "/" if "/" in folder[:-1] else ""


def classify(root: Root, path: str, size: int) -> Assignment:
    """What the file at `path` below the root is."""
    name = base_name(path)
    top = path.split("/", 1)[0]
    special = _special(root, path, name)
    if special:
        return special
    if top == "namespaces":
        return _namespaced(path.split("/"), name)
    if top == "cluster-scoped-resources":
        return _cluster_scoped(path.split("/"), name)
    return _elsewhere(path, name, size)


def _special(root: Root, path: str, name: str) -> Assignment | None:
    """The files of the collection itself, and those that are documents."""
    found: Assignment | None = None
    if path == "timestamp":
        found = Assignment("meta", "stamp", name="pod" if root.part == _IMAGE else "client")
    elif path == "version":
        found = Assignment("document", "version", name="version")
    elif path in ("gather.logs", "must-gather.logs", "must-gather.log"):
        found = Assignment("errors", "errors")
    elif name.endswith(".stderr"):
        found = Assignment("errors", "errors", name=path.removesuffix(".stderr"))
    elif name == "event-filter.html":
        found = skip("a page of the events that are also in the event lists")
    elif path in _DOCUMENTS:
        found = Assignment("document", "document", name=_DOCUMENTS[path])
    elif path.startswith(("monitoring/", "etcd_info/", "insights-data/")):
        found = skip("no rule reads this")
    return found


def _namespaced(parts: list[str], name: str) -> Assignment:
    """`namespaces/NS/…`."""
    if len(parts) < 3:
        return skip("in no namespace")
    namespace, rest = parts[1], parts[2:]
    if rest == [f"{namespace}.yaml"]:
        return Assignment("objects", "objects", Hint("Namespace", "", "v1"), strict=True, whole=_WHOLE["core", "namespaces"])
    if rest[0] == "pods":
        return _of_pod(namespace, rest[1:], name)
    if len(rest) == 2 and is_objects_name(name):
        hint = hint_for(stem(name), rest[0], namespace, name)
        return Assignment("objects", "objects", hint, scope=namespace, strict=True)
    if len(rest) >= 3 and (is_objects_name(name) or "." not in name):
        return Assignment(
            "objects", "objects", hint_for(rest[1], rest[0], namespace, name), scope=namespace, strict=is_objects_name(name)
        )
    return _text(name, Place(namespace))


def _of_pod(namespace: str, rest: list[str], name: str) -> Assignment:
    """`namespaces/NS/pods/…`: the pod again, and its logs."""
    if is_objects_name(name):
        return Assignment("objects", "objects", Hint("Pod", "", "v1", namespace), scope="", strict=len(rest) == 2)
    found = _POD_LOG.match("/".join(rest))
    if not found:
        return skip("no log")
    source: Source = "current"
    if found["rotated"] or found["name"].lstrip("0123456789").startswith(".log"):
        source = "rotated"
    elif found["name"].startswith("previous"):
        source = "previous"
    return Assignment("log", "log", place=Place(namespace, found["pod"], found["container"], source))


def _cluster_scoped(parts: list[str], name: str) -> Assignment:
    """`cluster-scoped-resources/GROUP/…`."""
    if not is_objects_name(name) and "." in name:
        return _text(name, Place())
    if len(parts) < 3:
        return Assignment("objects", "objects", strict=is_objects_name(name))
    group = parts[1]
    if len(parts) == 3:
        hint = hint_for(stem(name), group, "", name)
        return Assignment("objects", "objects", hint, scope=ALL_NAMESPACES, strict=is_objects_name(name))
    hint = hint_for(parts[2], group, "", name)
    whole = _WHOLE.get((group, parts[2]), "") if len(parts) == 4 else ""
    return Assignment("objects", "objects", hint, scope=ALL_NAMESPACES, strict=is_objects_name(name), whole=whole)


def _elsewhere(path: str, name: str, size: int) -> Assignment:
    """Outside the two trees: other gatherings put lists, logs and texts of their own there."""
    if is_objects_name(name):
        return Assignment("objects", "objects", Hint(json=name.endswith(".json")))
    if path.startswith("audit_logs/") or "/audit_logs/" in path:
        return Assignment("log", "log", place=Place(source="audit")) if ".log" in name else skip("an index of audit logs")
    if _SERVICE.search(path) and (is_log_name(name) or name.endswith("kubelet.gz")):
        return Assignment("log", "log", place=Place(source="service"))
    if size == 0:
        return skip("empty")
    if HOST_LOG_NAME.search(name) and not is_log_name(name):
        return Assignment("log", "guess", name=HOST_LOG)  # nodes/NODE/dmesg and its like
    return _text(name, Place())


def _text(name: str, place: Place) -> Assignment:
    if is_log_name(name):
        return Assignment("log", "log", place=place)
    return skip("no objects and no log")
