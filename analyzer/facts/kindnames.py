"""Which kind a plural, a file name or a message of a collector means. Plurals follow the rule of Kubernetes' own code."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from analyzer.bundle.kinds import BUILT_IN

__all__ = ["BUILT_IN", "Kind", "Names", "plural"]

Kind = tuple[str, str]
"""API group (empty for core) and kind."""

_SHORT = {
    "pvs": "persistentvolumes",
    "pvcs": "persistentvolumeclaims",
    "crds": "customresourcedefinitions",
    "ingress": "ingresses",
    "networkpolicy": "networkpolicies",
    "resourcequota": "resourcequotas",
}


@lru_cache(maxsize=4096)
def plural(kind: str) -> str:
    """The plural of a kind, in small letters, as the API server would name the resource."""
    word = kind.lower()
    if word == "endpoints":
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


class Names:
    """The kinds that a bundle or a rule knows, found by plural and group."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._by_plural: dict[str, list[Kind]] = {}
        for kind in sorted(set(kinds)):
            for word in (plural(kind[1]), kind[1].lower()):
                known = self._by_plural.setdefault(word, [])
                if kind not in known:
                    known.append(kind)

    def resource(self, name: str) -> list[Kind]:
        """The kinds that `pods`, `nodes.longhorn.io` or `Pod` means; where there is no group, built-in kinds win."""
        resource, _, group = name.strip().lower().partition(".")
        resource = resource.replace("-", "")
        kinds = self._by_plural.get(_SHORT.get(resource, resource), [])
        if group:
            return [kind for kind in kinds if kind[0] == group]
        return [kind for kind in kinds if kind[0] in BUILT_IN] or kinds

    def path(self, path: str) -> list[Kind]:
        """The kinds that a file may hold by its path: `…/core/pods.yaml`, `…/apps/deployments/web.yaml`, `core_v1_pods.json`."""
        parts = path.replace("!/", "/").split("/")
        parts[-1] = parts[-1].rsplit(".", 1)[0]
        for index in range(len(parts) - 1, max(-1, len(parts) - 4), -1):
            word = parts[index].rsplit("_", 1)[-1] if index == len(parts) - 1 else parts[index]
            kinds = self.resource(word)
            folder = parts[index - 1].lower() if index else ""
            group = "" if folder == "core" else folder
            exact = [kind for kind in kinds if kind[0] == group] if "." not in word else kinds
            if kinds:
                return exact or ([] if folder == "core" or "." in folder else kinds)
        return []
