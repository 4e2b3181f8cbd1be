"""`kubectl cluster-info dump` (kubectl, pkg/cmd/clusterinfo).

As a folder: `nodes.json`, seven lists a namespace and one `logs.txt` a pod. Printed to the terminal it is one file
of JSON documents with log blocks between them, which `analyzer.bundle.stream` tells apart after reading. It has no
time, no version, no previous logs, and no list of namespaces.
"""

from __future__ import annotations

from analyzer.bundle.formats.base import ALL_NAMESPACES, Assignment, Place, Root, Tree, base_name, skip, stem
from analyzer.bundle.types import Hint

# File names of the dump, with the kind and group of their items.
LISTS: dict[str, tuple[str, str]] = {
    "events": ("Event", ""),
    "replication-controllers": ("ReplicationController", ""),
    "services": ("Service", ""),
    "daemonsets": ("DaemonSet", "apps"),
    "deployments": ("Deployment", "apps"),
    "replicasets": ("ReplicaSet", "apps"),
    "pods": ("Pod", ""),
}
_ENDINGS = (".json", ".yaml")


def detect(tree: Tree) -> list[Root]:
    """Folders with `nodes.json` and a folder of a namespace beside it."""
    roots = []
    for folder in tree.folders():
        names = tree.names(folder)
        for ending in _ENDINGS:
            if f"nodes{ending}" not in names:
                continue
            spaces = [tree.names(space) for space in tree.subfolders(folder)]
            sure = any(f"replication-controllers{ending}" in space for space in spaces)
            likely = any({f"events{ending}", f"pods{ending}"} <= space for space in spaces)
            if sure or likely:
                roots.append(Root("cluster-info", folder, 75 if sure else 60))
                break
    return roots


def classify(root: Root, path: str, size: int) -> Assignment:  # noqa: ARG001 - one signature for all formats
    """What the file at `path` below the root is."""
    parts, name = path.split("/"), base_name(path)
    is_json = name.endswith(".json")
    if len(parts) == 1 and stem(name) == "nodes" and name.endswith(_ENDINGS):
        return Assignment("objects", "objects", Hint("Node", "", "v1", json=is_json), scope=ALL_NAMESPACES, strict=True)
    if len(parts) == 2 and name.endswith(_ENDINGS):
        kind, group = LISTS.get(stem(name), ("", ""))
        if kind:
            hint = Hint(kind, group, "v1", parts[0], json=is_json)
            return Assignment("objects", "objects", hint, scope=parts[0], strict=True)
    if len(parts) == 3 and name == "logs.txt":
        return Assignment("log", "blocks", place=Place(parts[0], parts[1], "", "current"))
    if name.endswith(_ENDINGS):
        return Assignment("objects", "objects", Hint(json=is_json))
    return skip("no objects and no log")
