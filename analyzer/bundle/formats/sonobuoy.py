"""Sonobuoy results (vmware-tanzu/sonobuoy), of all generations.

Objects are bare arrays below `resources/`: `cluster/` (first versions: `non-ns/`) and one folder a namespace below
`ns/`. Files were named by kind (`Pods.json`), since 0.5x by group, version and resource (`core_v1_pods.json`). Nothing
is written for an empty answer, so that only the record of the queries tells none from not asked: `meta/query-time.json`,
in first versions `results.json` beside the objects.
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
    hint_for,
    is_log_name,
    is_objects_name,
    skip,
    stem,
)
from analyzer.bundle.kinds import by_file_name
from analyzer.bundle.types import Hint

CONFIG: Reader = "sonobuoy-config"
QUERIES: Reader = "sonobuoy-queries"
RUN_LOG: Reader = "sonobuoy-run-log"
"""Readers; what the first two keep has the same name as its role in table documents."""

_SCOPES = {"cluster", "non-ns", "ns"}
_BESIDE = {"meta", "plugins", "podlogs", "hosts", "serverversion.json", "serverversion"}
_POD_LOG = re.compile(r"podlogs/(?P<ns>[^/]+)/(?P<pod>[^/]+)/logs/(?P<container>[^/]+)\.txt\Z")
_JOURNAL = re.compile(r"plugins/systemd[_-]logs/results/[^/]+(?:/[^/]+)?\Z")


def detect(tree: Tree) -> list[Root]:
    """Folders with `resources/` and what Sonobuoy puts beside it, or with its record and the results of its plugins."""
    roots = []
    for folder in tree.folders():
        names = tree.names(folder)
        listed = "resources" in names and bool(_SCOPES & tree.names(f"{folder}resources/")) and bool(_BESIDE & names)
        recorded = "plugins" in names and "config.json" in tree.names(f"{folder}meta/")
        if listed or recorded:
            roots.append(Root("sonobuoy", folder, 75))
    return roots


def classify(root: Root, path: str, size: int) -> Assignment:  # noqa: ARG001 - one signature for all formats
    """What the file at `path` below the root is."""
    parts, name = path.split("/"), base_name(path)
    if parts[0] == "resources":
        return _resource(parts, name)
    log = _POD_LOG.match(path)
    if log:
        return Assignment("log", "log", place=Place(log["ns"], log["pod"], log["container"], "current"))
    if _JOURNAL.match(path):
        return Assignment("log", "log", place=Place(source="service"))
    if parts[0] == "plugins" and is_log_name(name):
        return Assignment("log", "log")
    return _record(path)


def _record(path: str) -> Assignment:
    """What Sonobuoy says about itself and the cluster."""
    found = {
        "meta/config.json": Assignment("meta", CONFIG, name=CONFIG),
        "config.json": Assignment("meta", CONFIG, name=CONFIG),
        "meta/query-time.json": Assignment("errors", QUERIES, name=QUERIES),
        "meta/run.log": Assignment("meta", RUN_LOG, name="pod"),
        "serverversion.json": Assignment("document", "document", name="cluster-version"),
        "serverversion/serverversion.json": Assignment("document", "document", name="cluster-version"),
    }
    return found.get(path) or skip("no rule reads this")


def _resource(parts: list[str], name: str) -> Assignment:
    """`resources/cluster/FILE`, `resources/non-ns/FILE` or `resources/ns/NAMESPACE/FILE`."""
    spaced = len(parts) == 4 and parts[1] == "ns"
    if not is_objects_name(name) or not (spaced or (len(parts) == 3 and parts[1] in ("cluster", "non-ns"))):
        return skip("no objects")
    namespace = parts[2] if spaced else ""
    if name == "results.json":
        return Assignment("errors", QUERIES, Hint(namespace=namespace), name=QUERIES)
    hint = _hint(stem(name), namespace, name)
    return Assignment("objects", "objects", hint, scope=namespace or ALL_NAMESPACES, strict=bool(hint.kind))


def _hint(text: str, namespace: str, name: str) -> Hint:
    """The kind in a file's name: `apps_v1_daemonsets`, or in old versions `DaemonSets`."""
    group, _, rest = text.partition("_")
    version, _, plural = rest.partition("_")
    if plural:
        named = hint_for(plural, group, namespace, name)
        return Hint(named.kind, named.group, version, namespace, json=named.json)
    known = by_file_name(text)
    return hint_for(known.plural, known.group, namespace, name) if known else Hint(namespace=namespace, json=True)
