"""Our own bundles: what `triage collect` and its shell script write (docs/bundle-format.md).

The two trees are those of `oc adm inspect`. The manifest is the marker. It is written last, so that a bundle without one was
cut or not finished; such a one is known by the name of its folder.
"""

from __future__ import annotations

import re

from analyzer.bundle.formats.base import ALL_NAMESPACES, Assignment, Place, Root, Source, Tree, base_name, hint_for, skip
from analyzer.bundle.types import Hint

FORMAT = "triage"
FOLDER = "triage-bundle"
MANIFEST = "triage-manifest.json"
PRODUCT = "bundle-triage"
"""First line of the file `version`."""

WHOLE, CUT = "whole", "cut"
"""Parts: a root with its manifest, and one without."""

_OWN = {
    MANIFEST: Assignment("meta", "triage-manifest", name="client"),
    "version": Assignment("document", "version", name="version"),
    "timestamp": Assignment("meta", "stamp", name="client"),
}
_TREES = {"namespaces", "cluster-scoped-resources"}
_SPACED = re.compile(r"namespaces/(?P<ns>[^/]+)/(?P<group>[^/]+)/(?P<plural>[^/]+)\.(?:yaml|json)\Z")
_CLUSTER = re.compile(r"cluster-scoped-resources/(?P<group>[^/]+)/(?P<plural>[^/]+)\.(?:yaml|json)\Z")
_LOG = re.compile(
    r"namespaces/(?P<ns>[^/]+)/pods/(?P<pod>[^/]+)/(?P<container>[^/]+)/(?P=container)/logs/(?P<source>current|previous)\.log\Z"
)


def detect(tree: Tree) -> list[Root]:
    """Folders with the manifest, and folders of our name without it; a root inside another is none."""
    roots: list[Root] = []
    for folder in tree.folders():
        names = tree.names(folder)
        if any(folder.startswith(root.prefix) for root in roots):
            continue
        if MANIFEST in names:
            roots.append(Root(FORMAT, folder, 100, WHOLE))
        elif base_name(folder[:-1]) == FOLDER and names & {*_TREES, "version"}:
            roots.append(Root(FORMAT, folder, 98, CUT))
    return roots


def classify(root: Root, path: str, size: int) -> Assignment:  # noqa: ARG001 - one signature for all formats
    """What the file at `path` below the root is."""
    if path in _OWN:
        return _OWN[path]
    spaced, clustered, log = _SPACED.match(path), _CLUSTER.match(path), _LOG.match(path)
    if log:
        source: Source = "previous" if log["source"] == "previous" else "current"
        return Assignment("log", "log", place=Place(log["ns"], log["pod"], log["container"], source))
    if spaced:
        return _list(spaced["plural"], spaced["group"], spaced["ns"], spaced["ns"])
    if clustered:
        return _list(clustered["plural"], clustered["group"], "", ALL_NAMESPACES)
    return skip("not of the format")


def _list(plural: str, group: str, namespace: str, scope: str) -> Assignment:
    """A list of one resource. The names say .yaml, since that is what people look for; the text is JSON."""
    found = hint_for(plural, group, namespace, "")
    hint = Hint(found.kind, found.group, found.version, namespace, json=True)
    return Assignment("objects", "objects", hint, scope=scope, strict=True)
