"""What a bundle holds of inference orders and of all that answers why one is not ready, read once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

import duckdb
import orjson

from analyzer.facts.order import shapes
from analyzer.facts.order.fleet import Fleet
from analyzer.facts.order.shapes import Class, Model, Said, Source
from analyzer.facts.values import mapping, stored
from analyzer.facts.whole import Whole

T = TypeVar("T")

MODULE = "ai-inference"
"""The module that fulfils orders."""
CATALOGUE_MODULE = "ai-models"
SPACES = ("d8-ai-inference", "d8-ai-models")
"""Namespaces that the modules run in."""


@dataclass(slots=True)
class Pod:
    """A pod of an order."""

    pod_id: int
    namespace: str
    name: str
    ready: bool
    pending: bool
    state: str
    node: str
    ready_since: datetime | None
    stuck: str | None = None
    container: str | None = None
    restarts: int = 0
    status_path: str | None = None
    end_words: str | None = None
    end_reason: str | None = None
    end_path: str | None = None
    log_id: int | None = None
    line: int | None = None
    words: str | None = None
    claims: list[tuple[str, int | None, bool | None]] = field(default_factory=list)
    """(name, id, it has its devices)"""

    @property
    def unallocated(self) -> list[str]:
        """Its claims without devices."""
        return [name for name, _, allocated in self.claims if allocated is False]


@dataclass(slots=True)
class Order:
    """An inference order with what belongs to it."""

    object_id: int
    input: int
    group: str
    namespace: str
    name: str
    class_name: str | None
    source: Source
    secret: str | None
    phase: str | None
    phase_path: str
    generation: int | None
    conditions: tuple[Said, ...]
    endpoint_type: str | None
    replans: int | None
    device_classes: tuple[str, ...]
    created_at: datetime | None
    has_status: bool
    uid: str
    constraints: dict[str, Any]
    pods: list[Pod] = field(default_factory=list)
    workloads: list[tuple[int, str, str, int | None, int | None]] = field(default_factory=list)
    """(id, kind, name, wanted, ready)"""

    def condition(self, kind: str) -> Said | None:
        """Its condition of this type."""
        return next((said for said in self.conditions if said.type == kind), None)

    @property
    def serves(self) -> bool:
        """Its condition Ready is True."""
        said = self.condition("Ready")
        return said is not None and said.true

    @property
    def observed(self) -> int | None:
        """The generation that its newest condition is about."""
        return max((said.observed for said in self.conditions if said.observed is not None), default=None)


@dataclass(frozen=True, slots=True)
class Told:
    """An event on an order."""

    event_id: int
    input: int
    about_id: int | None
    group: str
    namespace: str
    name: str
    reason: str
    message: str
    first_at: datetime | None
    last_at: datetime | None
    times: int


@dataclass(slots=True)
class World:
    """Everything that the reasons of orders are held against."""

    con: duckdb.DuckDBPyConnection
    orders: list[Order]
    classes: dict[tuple[int, str], Class]
    models: dict[tuple[int, str, str, str], Model]
    events: list[Told]
    fleet: Fleet
    whole: Whole
    """Which kinds were collected whole."""
    as_of: dict[int, datetime]
    class_group: str
    _names: dict[tuple[str, str], dict[tuple[int, str, str], tuple[int, datetime | None]]] = field(default_factory=dict)
    _kept: dict[Hashable, Any] = field(default_factory=dict)
    _configs: dict[int, tuple[int, dict[str, Any]]] | None = None

    def named(self, group: str, kind: str) -> dict[tuple[int, str, str], tuple[int, datetime | None]]:
        """The objects of a kind by (input, namespace, name): id, and when it was made."""
        key = (group, kind)
        if key not in self._names:
            rows = self.con.execute(
                "SELECT input, namespace, name, object_id, created_at FROM objects WHERE api_group = ? AND kind = ?",
                [group, kind],
            ).fetchall()
            self._names[key] = {(number, space, name): (object_id, made) for number, space, name, object_id, made in rows}
        return self._names[key]

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made only once for this key: what many orders ask for."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: T = self._kept[key]
        return kept

    def value(self, object_id: int) -> dict[str, Any]:
        """The JSON of one object; empty where it is no mapping."""
        row = self.con.execute("SELECT json FROM objects WHERE object_id = ?", [object_id]).fetchone()
        return mapping(orjson.loads(row[0])) if row else {}

    def class_of(self, order: Order) -> Class | None:
        """The class of an order, where the bundle has it."""
        return self.classes.get((order.input, order.class_name)) if order.class_name else None

    def classes_of(self, order: Order) -> list[Class]:
        """All classes of the order's cluster."""
        return [one for (number, _), one in self.classes.items() if number == order.input]

    def model_of(self, order: Order) -> Model | None:
        """The model of an order, where it names one of the catalogue and the bundle has it."""
        source = order.source
        if source.source == shapes.HUB or not source.name:
            return None
        kinds = [source.kind] if source.kind else list(shapes.MODEL_KINDS)
        for kind in kinds:
            space = "" if kind == "ClusterModel" else source.namespace or order.namespace
            found = self.models.get((order.input, kind, space, source.name))
            if found:
                return found
        return None

    def module_config(self, number: int) -> tuple[int, dict[str, Any]] | None:
        """The ModuleConfig of the module: its id and its spec."""
        if self._configs is None:
            self._configs = {
                item.input: (item.object_id, mapping(item.value.get("spec")))
                for item in stored(self.con, [("deckhouse.io", "ModuleConfig")])
                if item.name == MODULE
            }
        return self._configs.get(number)


@lru_cache(maxsize=65_536)
def _pairs(name: str) -> frozenset[str]:
    """The pairs of letters of a name, whatever the order of its words."""
    words = name.lower().replace("_", "-").replace("/", "-").replace(".", "-").split("-")
    return frozenset(word[at : at + 2] for word in words for at in range(max(len(word) - 1, 1)))


def nearest(name: str, names: Iterable[str], limit: int = 5) -> list[str]:
    """The names that look most like one, at most `limit`: by the pairs of letters that they share."""
    own = _pairs(name[:_MAX_NAME])

    def likeness(other: str) -> float:
        pairs = _pairs(other[:_MAX_NAME])
        return 2 * len(own & pairs) / max(len(own) + len(pairs), 1)

    return sorted(set(names), key=lambda other: (-likeness(other), other))[:limit]


_MAX_NAME = 253
"""Characters of a name that are compared."""
