"""Debug archives of the Deckhouse Kubernetes Platform, of all generations (deckhouse-controller's and d8's `collect-debug-info`).

They are flat: each file is what one command printed, named after it. Newer generations put the name of a group in front
(`events.json` became `cluster-events.json`) and list what failed in `collection-errors.txt`; in older ones a failed command
left an empty or cut file, or none. Names lie about the contents: `*.json` may be a log, `*.txt` objects; the bytes decide.
Nothing of the inference modules is in them but events and the settings of modules.
"""

from __future__ import annotations

import re

from analyzer.bundle.formats.base import ALL_NAMESPACES, Assignment, Place, Root, Source, Tree, skip
from analyzer.bundle.types import Hint

FORMAT = "deckhouse"
ERRORS = "collection-errors.txt"
VERSION = "deckhouse-version"
"""Role of what the platform says of its own edition and version."""

EACH, SOME, ALL = "each", "some", "all"
"""How the objects of a file stand for the cluster: every one of their kind; some of them; those of the platform's namespaces."""

_DECKHOUSE = "deckhouse.io"
# Name without the group in front → kind, API group, and what the objects in it stand for.
_OBJECTS: dict[str, tuple[str, str, str]] = {
    "events.json": ("Event", "", EACH),
    "nodes.json": ("Node", "", EACH),
    "namespace.json": ("Namespace", "", EACH),
    "pods.json": ("Pod", "", EACH),
    "crd.json": ("CustomResourceDefinition", "apiextensions.k8s.io", EACH),
    "node-groups.json": ("NodeGroup", _DECKHOUSE, EACH),
    "node-group-configuration.json": ("NodeGroupConfiguration", _DECKHOUSE, EACH),
    "deckhouse-releases.json": ("DeckhouseRelease", _DECKHOUSE, EACH),
    "releases.json": ("DeckhouseRelease", _DECKHOUSE, EACH),
    "module-configs.json": ("ModuleConfig", _DECKHOUSE, EACH),
    "enabled-modules.json": ("Module", _DECKHOUSE, SOME),
    "module-sources.json": ("ModuleSource", _DECKHOUSE, EACH),
    "module-pull-overrides.json": ("ModulePullOverride", _DECKHOUSE, EACH),
    "module-update-policies.json": ("ModuleUpdatePolicy", _DECKHOUSE, EACH),
    "instances.json": ("Instance", _DECKHOUSE, EACH),
    "staticinstances.json": ("StaticInstance", _DECKHOUSE, EACH),
    "alerts.json": ("ClusterAlert", _DECKHOUSE, EACH),
    "cluster-authorization-rules.json": ("ClusterAuthorizationRule", _DECKHOUSE, EACH),
    "authorization-rules.json": ("AuthorizationRule", _DECKHOUSE, EACH),
    "ingressnginxcontrollers.json": ("IngressNginxController", _DECKHOUSE, EACH),
    "prometheusremotewrites.json": ("PrometheusRemoteWrite", _DECKHOUSE, EACH),
    "mutatingwebhookconfigurations.json": ("MutatingWebhookConfiguration", "admissionregistration.k8s.io", EACH),
    "validatingwebhookconfigurations.json": ("ValidatingWebhookConfiguration", "admissionregistration.k8s.io", EACH),
    "certificate-cert-manager.json": ("Certificate", "cert-manager.io", EACH),
    "cert-manager-all-certificate.json": ("Certificate", "cert-manager.io", EACH),
    "machines.json": ("Machine", "machine.sapcloud.io", EACH),
    "mcm-cloud-machines.json": ("Machine", "machine.sapcloud.io", EACH),
    "capi-machines.json": ("Machine", "cluster.x-k8s.io", EACH),
    "all.json": ("", "", ALL),
    "istio-resources.json": ("", "", SOME),
    "istio-custom-resources.json": ("", "", SOME),
    "machine-controller-manager.json": ("", "", SOME),
    "capi-controller-manager.json": ("", "", SOME),
    "caps-controller-manager.json": ("", "", SOME),
    "cloud-machine-deployment.txt": ("", "", SOME),
    "static-machine-deployment.txt": ("", "", SOME),
    "audit-policy.json": ("", "", SOME),
    "deckhouse-cm.yaml": ("", "", SOME),
}
_GROUPS = ("cluster-", "deckhouse-", "instance-manager-", "kube-system-", "monitoring-", "network-", "security-", "other-", "d8-")
_UNREAD = {
    "global-values.json": "settings of the platform, which older versions do not mask",
    "queue.txt": "the queue of the platform's own tasks",
}
_LOG = re.compile(r"(?P<name>.+?)-logs(?:-(?P<module>[a-z0-9-]+))?\.(?:txt|json)\Z")
_VIRTUALIZATION = re.compile(r"d8-virtualization-(?P<pod>.+)-logs\.txt\Z")
_MODULE_LOG = re.compile(r"d8-(?P<module>.+)-(?P<part>ccm|csi-controller)-logs\.txt\Z")
# Names that no other tool gives to its files.
_TELLING = re.compile(
    r"deckhouse-[a-z-]+\.(?:json|txt|yaml)|d8-all\.json|d8-virtualization-.+\.txt|(?:cluster-)?bad-pods\.txt|(?:cluster-)?global-values\.json"
    r"|terraform-check\.(?:txt|json)|(?:deckhouse-)?module-configs\.json|(?:cni-)?cilium-health-status\.txt|ccm-logs(?:-.+)?\.txt"
)
_OWN: dict[str, Assignment] = {
    ERRORS: Assignment("errors", "deckhouse-errors", name=ERRORS),
    "deckhouse-version.json": Assignment("document", "document", name=VERSION),
    **{name: skip(why) for name, why in _UNREAD.items()},
}
_LEAST = 3
"""Files of known names, one of them telling, that make an archive."""


def detect(tree: Tree) -> list[Root]:
    """Folders with at least three files of known names, one of which no other tool has; a root inside another is none."""
    roots: list[Root] = []
    for folder in tree.folders():
        if any(folder.startswith(root.prefix) and root.prefix != folder for root in roots):
            continue
        names = tree.names(folder)
        known = [name for name in names if _is_known(name)]
        telling = [name for name in known if _TELLING.fullmatch(name)]
        virtual = "d8-virtualization-pods-wide.txt" in names and len(telling) > 1
        if (telling and len(known) >= _LEAST) or virtual:
            roots.append(Root(FORMAT, folder, 70))
    return roots


def _is_known(name: str) -> bool:
    return bool(
        _TELLING.fullmatch(name) or name == ERRORS or plain(name) in _OBJECTS or plain(name) in _UNREAD or _LOG.match(name)
    )


def plain(name: str) -> str:
    """The name of a file without the group that newer generations put in front, where the rest is known."""
    if name in _OBJECTS:
        return name
    for group in _GROUPS:
        rest = name.removeprefix(group)
        if rest != name and (rest in _OBJECTS or rest in _UNREAD):
            return rest
    return name


def resource_of(name: str) -> tuple[str, str] | None:
    """The kind and API group that a file of this name holds; None where it is no list of one kind."""
    kind, group, _ = _OBJECTS.get(plain(name), ("", "", ""))
    return (kind, group) if kind else None


def classify(root: Root, path: str, size: int) -> Assignment:  # noqa: ARG001 - one signature for all formats
    """What the file at `path` below the root is."""
    own = _OWN.get(path) or _OWN.get(plain(path))
    if own:
        return own
    found = _OBJECTS.get(plain(path))
    if found:
        kind, group, scope = found
        hint = Hint(kind, group, "v1" if kind and not group else "", json=True)
        return Assignment(
            "objects", "deckhouse", hint, scope=ALL_NAMESPACES if scope == EACH else "", strict=scope == EACH, name=scope
        )
    place = _log(path)
    if place:
        return Assignment("log", "log", place=place)
    if path.endswith((".json", ".yaml")):
        return Assignment("objects", "deckhouse", Hint(json=True), name=SOME)
    return skip("no objects and no log")


def _log(name: str) -> Place | None:
    """Where a log comes from; the lines of several pods are mixed in most of them, so none is named."""
    current: Source = "current"
    virtual, module, log = _VIRTUALIZATION.match(name), _MODULE_LOG.match(name), _LOG.match(name)
    if virtual:
        return Place("d8-virtualization", virtual["pod"], "", current)
    if module:
        return Place(f"d8-{module['module']}", "", module["part"], current)
    if log is None:
        return None
    if log["name"].startswith("kube-system-"):
        return Place("kube-system", "", log["name"].removeprefix("kube-system-"), current)
    if log["name"] == "deckhouse":
        return Place("d8-system", "", "deckhouse", current)
    return Place("", "", log["name"], current)
