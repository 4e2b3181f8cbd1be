"""Which runtimes OME may choose for a model, best first, and why it chooses none of the others (`runtime explain`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analyzer.ome import candidates, decode, envelope, formats
from analyzer.ome.cells import columns
from analyzer.ome.runtime import views
from analyzer.ome.runtime.effective import Effective
from analyzer.ome.safe import shown, text
from analyzer.ome.world import NAMESPACED_RUNTIME, SERVICE, Lookup, Thing, World, integer, items, mapping

KIND = "RuntimeExplainReport"
"""Name of ours: OME's command prints this report as a table only."""
HEAD = ("RUNTIME", "SCOPE", "COMPATIBLE", "PRIORITY", "WEIGHT", "REASON")
_NOT_SELECTABLE = (
    "supports the model but has no supportedModelFormats[].autoSelect=true entry, so automatic selection skips it "
    "(pin it explicitly via spec.runtime.name instead)"
)
_OTHER_ENTRY = (
    "matching format {} is not autoSelect-enabled (a different supportedModelFormats entry on this runtime has autoSelect=true, "
    "but not the one that matches this model)"
)
_WIDTH = 4_000
"""Longest reason, in characters: it names what every entry of a runtime lacks."""
_NO_SCORE = "auto-select score is 0"
_CONTEXT = "Effective context (separate observation; selector verdict unchanged):"
_MALFORMED = "its spec does not decode as that of a runtime"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What comes of one runtime. Without a `reason` it may be chosen, and has a priority and a weight."""

    runtime: Thing
    reason: str = ""
    priority: int = 0
    weight: int = 0

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        scope = "Namespaced" if self.runtime.kind == NAMESPACED_RUNTIME else "Cluster"
        if self.reason:
            return shown(self.runtime.name), scope, "No", "-", "-", self.reason
        return shown(self.runtime.name), scope, "Yes", str(self.priority), str(self.weight), "-"


@dataclass(frozen=True, slots=True)
class Selection:
    """All runtimes that were looked at, in the order in which OME ranks them; `lost` keeps the list from being whole."""

    service: Thing
    model: Thing
    verdicts: tuple[Verdict, ...]
    lost: Lookup | None = None

    @property
    def namespace(self) -> str:
        """From where the model is looked at."""
        return self.service.namespace

    @property
    def name(self) -> str:
        """What was asked about: the InferenceService, or the model where none was named."""
        return self.service.name or self.model.name


def select(world: World, service: Thing, model: Thing) -> Selection:
    """Looks at every runtime that may serve a model.

    Args:
        world: the objects.
        service: the InferenceService, or one of no name that stands for a namespace.
        model: the model.

    Raises:
        candidates.TooManyRuntimesError: OME's command would give up.
    """
    choice = candidates.choose(world, service, model)
    verdicts = [_verdict(one, model.spec) for one in choice.candidates]
    # Those that may be chosen are ranked already; one that does not decode was ranked by what could be read of it.
    verdicts.sort(key=lambda one: (1, one.runtime.kind != NAMESPACED_RUNTIME, one.runtime.name) if one.reason else (0, False, ""))
    return Selection(service, model, tuple(verdicts), choice.lost)


def anyone(namespace: str) -> Thing:
    """An InferenceService that asks for nothing, to look at a model from a namespace."""
    return Thing(SERVICE, namespace, "", {})


def _verdict(one: candidates.Candidate, model: Mapping[str, Any]) -> Verdict:
    spec = one.runtime.spec
    if not decode.runtime_reads(one.runtime.value.get("spec")):
        return Verdict(one.runtime, _MALFORMED)
    entry = _matching(spec, model)
    if one.reason is None:
        priority = integer(entry.get("priority")) if entry.get("priority") is not None else 1
        weights = [integer(mapping(entry.get(part)).get("weight")) for part in ("modelFormat", "modelFramework")]
        return Verdict(one.runtime, "", priority, sum(weight * priority for weight in weights if weight > 0))
    if not one.supports:
        return Verdict(one.runtime, text(one.reason, _WIDTH))
    if not candidates.selectable(spec):
        return Verdict(one.runtime, _NOT_SELECTABLE)
    if entry.get("autoSelect") is not True:
        return Verdict(one.runtime, _OTHER_ENTRY.format(text(mapping(entry.get("modelFormat")).get("name"), _WIDTH)))
    return Verdict(one.runtime, f"{_NO_SCORE} (format priority 0)" if entry.get("priority") == 0 else _NO_SCORE)


def _matching(spec: Mapping[str, Any], model: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first entry of a runtime that fits the model; an empty one where none does."""
    entries = items(spec.get("supportedModelFormats"))
    return next((entry for entry in entries if formats.mismatch(entry, model) is None), {})


def render(found: Selection, form: str, collected_at: str, context: Effective | None = None) -> str:
    """The report in one of `envelope.FORMATS`.

    Args:
        found: the runtimes; as a table nothing is said of them where there is none at all.
        form: the format.
        collected_at: the bundle's collection time, as a report shows it.
        context: what the InferenceService runs with, to be told below.
    """
    if form in ("json", "yaml"):
        return envelope.machine(as_dict(found, collected_at, context), form)
    text = columns(table_rows(found)) if found.verdicts else ""
    return text if context is None else f"{text}\n{_CONTEXT}\n{columns(views.context_rows(context))}"


def table_rows(found: Selection) -> list[tuple[str, ...]]:
    """The cells of the table, its head first."""
    return [HEAD, *(verdict.cells for verdict in found.verdicts)]


def as_dict(found: Selection, collected_at: str, context: Effective | None = None) -> dict[str, Any]:
    """The JSON form, in the envelope of OME's reports; `context` as in `render`."""
    rows = []
    for verdict in found.verdicts:
        own = verdict.runtime
        row = envelope.identity(own.kind, own.namespace, shown(own.name)) | {"compatible": not verdict.reason}
        if verdict.reason:
            row["reason"] = verdict.reason
        else:
            row |= {"priority": verdict.priority, "weight": verdict.weight}
        rows.append(row)
    model = envelope.identity(found.model.kind, found.model.namespace, shown(found.model.name))
    metadata = {"namespace": found.namespace, "name": shown(found.name)}
    warnings = ("PartialData", "SourceUnavailable") if found.lost else ()
    content: dict[str, Any] = {"model": model, "runtimes": rows}
    if context:
        content["effective"] = views.content_of(context)
    return envelope.envelope(KIND, metadata, collected_at, content, warnings=warnings)
