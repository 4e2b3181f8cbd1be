"""What is asked of a bundle about runtimes, checked and looked up; what cannot be answered is refused in one line."""

from __future__ import annotations

from analyzer.ome import ask, candidates
from analyzer.ome.runtime.selection import Selection, anyone, select
from analyzer.ome.runtime.tree import TargetError, Tree, tree
from analyzer.ome.safe import shown
from analyzer.ome.source import Source
from analyzer.ome.world import (
    CLUSTER_MODEL,
    CLUSTER_RUNTIME,
    NAMESPACED_MODEL,
    NAMESPACED_RUNTIME,
    Lookup,
    Thing,
    mapping,
    string,
)

_PLURAL = {NAMESPACED_MODEL: "basemodels", CLUSTER_MODEL: "clusterbasemodels"}


def selection_of(source: Source, isvc: str, model: str, namespace: str) -> Selection:
    """The runtimes for the model of an InferenceService, or for a model.

    Args:
        source: the bundle.
        isvc: the InferenceService; empty for none.
        model: the model, where no InferenceService is named.
        namespace: of both.

    Raises:
        ask.RefusedError: one of them is not there, or there are too many runtimes.
    """
    service = ask.find(source, isvc, namespace) if isvc else anyone(namespace)
    if isvc and not isinstance(service.spec.get("model"), dict):
        raise ask.RefusedError(f'InferenceService "{isvc}" has no spec.model; pass --model instead')
    name = string(mapping(service.spec.get("model")).get("name")) if isvc else model
    try:
        return select(source.world, service, _model(source, namespace, name))
    except candidates.TooManyRuntimesError:
        raise ask.RefusedError("runtime candidate snapshot exceeds the CLI collection limit") from None


def _model(source: Source, namespace: str, name: str) -> Thing:
    """The model: a BaseModel of the namespace first, whatever kind is named.

    Raises:
        ask.RefusedError: there is none, or it was not collected.
    """
    spaced = source.world.get(NAMESPACED_MODEL, namespace, name)
    if spaced.thing:
        return spaced.thing
    clustered = source.world.get(CLUSTER_MODEL, "", name)
    if clustered.thing:
        return clustered.thing
    lost = spaced if clustered.missing and not spaced.missing else clustered
    kind = NAMESPACED_MODEL if lost is spaced else CLUSTER_MODEL
    raise ask.RefusedError(f'{_PLURAL[kind]}.ome.io "{shown(name)}" {ask.absent(lost)}')


def selection_notes(source: Source, found: Selection) -> list[str]:
    """What the report cannot say, or what it supposes, in words."""
    said = []
    if isinstance(found.service.spec.get("runtime"), dict):
        said.append("spec.runtime is explicit; automatic selection below is hypothetical.")
    if found.lost:
        said.append(f"{found.lost.words}: a runtime that is not shown may be chosen instead")
    elif not found.verdicts:
        said.append("No serving runtimes found in the selected namespace or at cluster scope.")
    if found.model.kind == CLUSTER_MODEL:
        spaced: Lookup = source.world.get(NAMESPACED_MODEL, found.namespace, found.model.name)
        if spaced.unknown:
            said.append(f"{spaced.words}; {found.model.kind} {shown(found.model.name)} was taken")
    return said + ask.undated(source)


def check_target(name: str, kind: str) -> None:
    """Checks the runtime that a tree is asked for; an empty name asks for all.

    Raises:
        ask.RefusedError: the name can be none, or the kind is none of OME's.
    """
    if name:
        ask.check_name("runtime", name)
    if kind not in ("", NAMESPACED_RUNTIME, CLUSTER_RUNTIME):
        raise ask.RefusedError(f'unsupported runtime kind "{kind}" (supported: ServingRuntime, ClusterServingRuntime)')


def tree_of(source: Source, name: str, kind: str, namespace: str | None) -> Tree:
    """The tree around a runtime, or of all.

    Raises:
        ask.RefusedError: it is not there, or it cannot be told which one is meant.
    """
    try:
        return tree(source.world, name, kind, (namespace or "default") if name else (namespace or ""))
    except TargetError as error:
        raise ask.RefusedError(str(error)) from None


def hidden(found: Tree, *, strays: bool) -> list[str]:
    """That there are InferenceServices which the tree leaves out, where it does not show them."""
    count = len(found.strays)
    if strays or not count:
        return []
    which = "1 InferenceService names" if count == 1 else f"{count:,} InferenceServices name"
    return [f"{which} no runtime that can be told from the spec: --show-unattributed-users lists them"]
