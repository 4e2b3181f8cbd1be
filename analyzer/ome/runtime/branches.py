"""The report of `runtime tree` as text: lines of at most 80 characters, the wide form, JSON and YAML, in OME's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from analyzer.ome import envelope
from analyzer.ome.cells import told_apart
from analyzer.ome.runtime.tree import Context, Fault, Key, Listed, Node, Path, Stray, Tree
from analyzer.ome.safe import shown
from analyzer.ome.world import EVERYWHERE, NAMESPACED_RUNTIME

KIND = "RuntimeTreeReport"
WIDTH = 80
_LEAST = 12
"""No part of a name is cut to less than this, as long as there is room at all."""
_DEEP = 4
"""Blanks a level."""


def render(found: Tree, form: str, collected_at: str, *, strays: bool) -> str:
    """The report in one of `envelope.FORMATS`, with a line break at its end.

    Args:
        found: the tree.
        form: the format.
        collected_at: the bundle's collection time, as a report shows it.
        strays: with the services that cannot be attributed to a runtime.
    """
    if form in ("json", "yaml"):
        return envelope.machine(as_dict(found, collected_at, strays=strays), form)
    width = 10_000 if form == "wide" else WIDTH
    return "".join(f"{line}\n" for line in lines(found, width, strays=strays))


def lines(found: Tree, width: int, *, strays: bool) -> Iterator[str]:
    """The lines of the tree, its head first."""
    yield "RUNTIME TREE"
    yield f"Target: {_named(found.target, '', width - 8)}" if found.target else "Target: all runtimes"
    for context in found.contexts:
        yield from _context(found, context, width)
    if strays:
        yield "Unattributed users (not attributed to runtime tree):"
        for stray in found.strays:
            yield from _stray(stray, width)
        if not found.strays:
            yield (
                "  none observed"
                if found.lists[-1].status == "Complete"
                else "  cannot tell: not all InferenceServices were collected"
            )
    yield f"Snapshot: {'Complete' if found.complete else 'Partial'}"
    for one in found.lists:
        yield from _listed(one, width)
    for code in found.warnings:
        yield f"Warning: {code}"


def _context(found: Tree, context: Context, width: int) -> Iterator[str]:
    end = f" (resolution: {_completeness(context)})"
    place = f"Namespaced/{told_apart(shown(context.namespace), width - 31)}" if context.namespace else "Cluster"
    yield f"Context: {place}{end}"
    for path in context.paths:
        yield f"Head: {_named(path.head, context.namespace, width - 6)}"
        yield from _path(found, path, context.namespace, width)


def _path(found: Tree, path: Path, namespace: str, width: int) -> Iterator[str]:
    for depth, node in enumerate(path.nodes):
        start = " " * _DEEP * (depth - 1) + "`-- " if depth else ""
        mark = " [selected]" if node.key == found.target else ""
        yield start + _named(node.key, namespace, width - len(start) - len(mark)) + mark
    start = " " * _DEEP * (len(path.nodes) - 1)
    for number, user in enumerate(path.users):
        branch = start + ("`-- " if number == len(path.users) - 1 else "|-- ")
        yield branch + _named(user, namespace, width - len(branch))
    if path.fault:
        yield from _fault(path.fault, namespace, width)


def _fault(fault: Fault, namespace: str, width: int) -> Iterator[str]:
    whole = f"Issue: {fault.code} subject={_named(fault.subject, namespace)} parent={shown(fault.parent)}"
    if len(whole) <= width:
        yield whole
    else:
        yield f"Issue: {fault.code}"
        yield f"  subject: {_named(fault.subject, namespace, width - 11)}"
        yield f"  parent: {told_apart(shown(fault.parent), width - 10)}"
    whole = "Issue path: " + " -> ".join(_named(key, namespace) for key in fault.path)
    if len(whole) <= width:
        yield whole
        return
    for number, key in enumerate(fault.path):
        start = "  -> " if number else "Issue path: "
        yield start + _named(key, namespace, width - len(start))


def _stray(stray: Stray, width: int) -> Iterator[str]:
    start = "  [not attributed] "
    yield start + _named(stray.key, "", width - len(start))
    yield f"  state={stray.state} reason={stray.reason}"
    if stray.declared:
        yield f"  declared runtime={told_apart(shown(stray.declared), width - 19)}"


def _listed(one: Listed, width: int) -> Iterator[str]:
    state = f"status={one.status} pages={_pages(one)} items={one.count}"
    head = f"Collection: {one.kind} scope={_scope(one)}"
    if one.namespace not in ("", EVERYWHERE):
        head += f"/{told_apart(shown(one.namespace), width - len(head) - 1)}"
    if len(head) + 1 + len(state) <= width:
        yield f"{head} {state}"
    else:
        yield head
        yield f"  {state}"


def _scope(one: Listed) -> str:
    return {"": "Cluster", EVERYWHERE: "AllNamespaces"}.get(one.namespace, "Namespace")


def _pages(one: Listed) -> int:
    """How many pages OME's command would have asked for; of a list that is not whole none counts."""
    return {"Complete": 1, "Truncated": 2}.get(one.status, 0)


def _completeness(context: Context) -> str:
    return "Complete" if context.complete else "Partial"


def _named(key: Key, namespace: str, width: int = 10_000) -> str:
    """Kind, namespace and name of an object within a width; the namespace of the context is left out."""
    kind, space, name = key
    hidden = space == namespace
    parts = [kind, shown(name)] if hidden or not space else [kind, shown(space), shown(name)]
    widths = _shares([len(part) for part in parts], width - len(parts) + 1)
    return "/".join(told_apart(part, share) for part, share in zip(parts, widths, strict=True))


def _shares(needs: Sequence[int], total: int) -> list[int]:
    """How a width is shared: each part what it needs as long as there is room, long ones the same."""
    widths = [min(need, _LEAST) for need in needs]
    room = total - sum(widths)
    while room > 0 and any(width < need for width, need in zip(widths, needs, strict=True)):
        for index, need in enumerate(needs):
            if widths[index] < need and room > 0:
                widths[index] += 1
                room -= 1
    return widths


def as_dict(found: Tree, collected_at: str, *, strays: bool) -> dict[str, Any]:
    """The JSON form: optional fields without a value are left out, lists are always there."""
    content: dict[str, Any] = {} if found.target is None else {"target": _identity(found.target)}
    content |= {
        "snapshot": {
            "completeness": "Complete" if found.complete else "Partial",
            "collections": [_collection(one) for one in found.lists],
        },
        "contexts": [_json_context(context) for context in found.contexts],
    }
    if strays:
        content["unattributedUsers"] = [
            envelope.given(
                _identity(stray.key) | {"state": stray.state, "reason": stray.reason}, declaredRuntime=shown(stray.declared)
            )
            for stray in found.strays
        ]
    kind, namespace, name = found.target or ("", found.namespace, "")
    metadata = {"namespace": namespace if kind in ("", NAMESPACED_RUNTIME) else "", "name": shown(name)}
    return envelope.envelope(KIND, metadata, collected_at, content, warnings=found.warnings)


def _collection(one: Listed) -> dict[str, Any]:
    fields = {"kind": one.kind, "scope": _scope(one)}
    if one.namespace not in ("", EVERYWHERE):
        fields["namespace"] = shown(one.namespace)
    return fields | {"status": one.status, "observedPages": _pages(one), "observedItems": one.count}


def _json_context(context: Context) -> dict[str, Any]:
    place = envelope.given({"mode": "Namespaced" if context.namespace else "Cluster"}, namespace=shown(context.namespace))
    return {
        "context": place,
        "resolutionCompleteness": _completeness(context),
        "paths": [_json_path(path) for path in context.paths],
    }


def _json_path(path: Path) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "head": _identity(path.head),
        "runtimes": [_node(node) for node in path.nodes],
        "dependents": [_identity(user) for user in path.users],
    }
    if path.fault:
        fault = envelope.given(
            {"code": path.fault.code, "subject": _identity(path.fault.subject)}, parentName=shown(path.fault.parent)
        )
        fields["issue"] = fault | {"path": [_identity(key) for key in path.fault.path]}
    return fields


def _node(node: Node) -> dict[str, Any]:
    resolved = _identity(node.resolved) if node.resolved else None
    return envelope.given({"identity": _identity(node.key)}, parentName=shown(node.parent), resolvedParent=resolved)


def _identity(key: Key) -> dict[str, Any]:
    kind, namespace, name = key
    return envelope.identity(kind, shown(namespace), shown(name))


def notes(found: Tree) -> list[str]:
    """What the tree cannot say for lack of evidence, in words: OME's command has no place for it."""
    return [one.lost.words for one in found.lists if one.lost] + [lookup.words for lookup in found.unknown]
