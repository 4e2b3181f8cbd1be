"""The objects that OME reads, and what is known of those that are not there.

Absence is three-valued: not found (a whole list lacks it), not collected (nobody looked), forbidden (the collector was refused);
and a kind that the cluster does not serve is a case of its own, as it is for a client.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

T = TypeVar("T")

GROUP = "ome.io"
SERVICE = "InferenceService"
NAMESPACED_RUNTIME, CLUSTER_RUNTIME = "ServingRuntime", "ClusterServingRuntime"
NAMESPACED_MODEL, CLUSTER_MODEL = "BaseModel", "ClusterBaseModel"
CLASS = "AcceleratorClass"
REVISION = "ControllerRevision"
KINDS: tuple[tuple[str, str], ...] = (
    (GROUP, SERVICE),
    (GROUP, NAMESPACED_RUNTIME),
    (GROUP, CLUSTER_RUNTIME),
    (GROUP, NAMESPACED_MODEL),
    (GROUP, CLUSTER_MODEL),
    (GROUP, CLASS),
    ("apps", REVISION),
)
"""What the command reads, as (API group, kind)."""

Absence = Literal["not-found", "not-collected", "forbidden", "unsupported", "failed", "damaged"]
"""Why an object is not at hand; `failed`: the collection got no answer; `damaged`: it is cut or broken in the bundle."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One object. `object_id` is its place in the database, -1 where there is none; `whole` is false where it was salvaged."""

    kind: str
    namespace: str
    name: str
    value: Mapping[str, Any]
    object_id: int = -1
    whole: bool = True

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata."""
        return mapping(self.value.get("metadata"))

    @property
    def spec(self) -> Mapping[str, Any]:
        """Its spec."""
        return mapping(self.value.get("spec"))

    @property
    def status(self) -> Mapping[str, Any]:
        """Its status."""
        return mapping(self.value.get("status"))

    @property
    def generation(self) -> int:
        """Its generation, 0 where there is none."""
        return integer(self.metadata.get("generation"))

    def annotation(self, name: str) -> str:
        """The value of an annotation, empty where there is none."""
        return string(mapping(self.metadata.get("annotations")).get(name))

    def label(self, name: str) -> str:
        """The value of a label, empty where there is none."""
        return string(mapping(self.metadata.get("labels")).get(name))

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, namespace and name."""
        return self.kind, self.namespace, self.name

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace + '/' if self.namespace else ''}{self.name}"


@dataclass(frozen=True, slots=True)
class Lookup:
    """What came of looking for an object: the object, or why there is none. `what` names it in words."""

    what: str
    thing: Thing | None
    absence: Absence = "not-found"

    @property
    def missing(self) -> bool:
        """It is known not to exist."""
        return self.thing is None and self.absence == "not-found"

    @property
    def unknown(self) -> bool:
        """It is not known whether it exists, or what it holds."""
        return self.thing is None and self.absence not in ("not-found", "unsupported")

    @property
    def words(self) -> str:
        """Why it is not at hand, in words."""
        return _WORDS[self.absence].format(self.what)


_WORDS = {
    "not-found": "{} does not exist",
    "not-collected": "{} was not collected",
    "forbidden": "{} could not be read: the collection was forbidden to",
    "unsupported": "{} cannot exist: the cluster does not serve the kind",
    "failed": "{} could not be read: the collection failed to",
    "damaged": "{} is damaged in the bundle",
}

COMPONENTS = ("engine", "decoder", "router")
"""The components that an InferenceService may have, in OME's order."""

EVERYWHERE = "*"
"""Asked of a judge instead of a namespace: all of them."""

Judge = Callable[[str, str], Absence]
"""Kind and namespace (empty for cluster-scoped kinds) → what it means that an object is not there."""


@dataclass(slots=True)
class World:
    """The objects by kind, namespace and name, and what judges that one is not there.

    `twice` are the keys that the bundle holds more than once.
    """

    things: dict[tuple[str, str, str], Thing]
    judge: Judge
    twice: frozenset[tuple[str, str, str]] = frozenset()
    _by_space: dict[tuple[str, str], list[Thing]] = field(default_factory=dict)
    _known: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once a key: many services ask the same of the same runtimes."""
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found

    @classmethod
    def of(cls, things: Iterable[Thing], judge: Judge) -> World:
        """A world of these objects; of several with one name the last one counts."""
        held: dict[tuple[str, str, str], Thing] = {}
        twice = set()
        for one in things:
            if one.key in held:
                twice.add(one.key)
            held[one.key] = one
        spaces: dict[tuple[str, str], list[Thing]] = {}
        for (kind, namespace, _), thing in sorted(held.items()):
            spaces.setdefault((kind, namespace), []).append(thing)
        return cls(held, judge, frozenset(twice), spaces)

    def get(self, kind: str, namespace: str, name: str) -> Lookup:
        """Looks for one object; `namespace` is empty for a cluster-scoped kind."""
        what = f"{kind} {namespace + '/' if namespace else ''}{name}"
        thing = self.things.get((kind, namespace, name))
        if thing is None:
            return Lookup(what, None, self.judge(kind, namespace))
        return Lookup(what, thing) if thing.whole else Lookup(what, None, "damaged")

    def all(self, kind: str, namespace: str = "") -> tuple[list[Thing], Lookup | None]:
        """Every object of a kind in a namespace by name, and what keeps the list from being whole, if anything does."""
        found = self._by_space.get((kind, namespace), [])
        where = f" of namespace {namespace}" if namespace else ""
        return found, self._lost(f"the list of {kind}s{where}", kind, namespace, found)

    def everywhere(self, kind: str) -> tuple[list[Thing], Lookup | None]:
        """Every object of a namespaced kind by namespace and name, and what keeps the list from being whole."""
        found = [thing for key, things in sorted(self._by_space.items()) if key[0] == kind for thing in things]
        return found, self._lost(f"the list of {kind}s of all namespaces", kind, EVERYWHERE, found)

    def _lost(self, what: str, kind: str, namespace: str, found: list[Thing]) -> Lookup | None:
        lost = Lookup(what, None, self.judge(kind, namespace))
        if any(not thing.whole for thing in found):
            return Lookup(what, None, "damaged")
        return lost if lost.unknown else None


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def string(value: Any) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def integer(value: Any) -> int:
    """The value where it is a whole number, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def is_count(value: Any) -> bool:
    """Whether the value is a count as Kubernetes writes it: a whole number of 32 bits, not below 0."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def items(value: Any) -> list[dict[str, Any]]:
    """The mappings of a list, anything else in it as an empty one."""
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []
