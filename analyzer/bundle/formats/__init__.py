"""Which bundle formats an input holds, and what each of its files is.

One module a format; all of them see the same folder tree. The roots that they find are ranked: the file belongs to
the root with the longest prefix, the input's format is that of the root with the highest score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from analyzer.bundle.formats import (
    cluster_info,
    deckhouse,
    gpu_operator,
    must_gather,
    nvidia_bug_report,
    plain,
    sonobuoy,
    support_bundle,
    triage,
)
from analyzer.bundle.formats.base import NESTED, Assignment, Root, Tree, base_name, skip
from analyzer.bundle.types import Entry

NOT_OPENED = "nested archive, not opened as a bundle"
INSIDE_NOT_OPENED = "inside a nested archive that is no bundle"
_Classify = Callable[[Root, str, int], Assignment]
_FORMATS: tuple[tuple[Callable[[Tree], list[Root]], tuple[str, ...], _Classify], ...] = (
    (triage.detect, (triage.FORMAT,), triage.classify),
    (must_gather.detect, ("must-gather", "inspect"), must_gather.classify),
    (support_bundle.detect, ("support-bundle", "support-bundle-host"), support_bundle.classify),
    (sonobuoy.detect, ("sonobuoy",), sonobuoy.classify),
    (cluster_info.detect, ("cluster-info",), cluster_info.classify),
    (deckhouse.detect, (deckhouse.FORMAT,), deckhouse.classify),
    (gpu_operator.detect, (gpu_operator.FORMAT,), gpu_operator.classify),
    (nvidia_bug_report.detect, (nvidia_bug_report.FORMAT,), nvidia_bug_report.classify),
)
_CLASSIFY: dict[str, _Classify] = {name: classify for _, names, classify in _FORMATS for name in names} | {
    "plain": plain.classify
}
_JUNK = (".DS_Store", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class Known:
    """One entry with its root (None outside of all) and what it is."""

    entry: Entry
    root: Root | None
    assignment: Assignment


@dataclass(frozen=True, slots=True)
class Layout:
    """What an input is: its format, its roots, and its entries in the order of the listing."""

    format: str
    roots: tuple[Root, ...]
    known: tuple[Known, ...]


def recognise(entries: Iterable[Entry], *, folder: bool = True) -> Layout:
    """Find the formats in a listing and say what each entry is.

    Args:
        entries: all entries of one input, in reading order.
        folder: whether the input is a folder; the only entry of a file was meant to be read, whatever its name.

    Returns:
        The layout; its format is `plain` where nothing better is there.
    """
    listed = tuple(entries)
    tree = Tree(entry.path for entry in listed if entry.problem is None and not _is_junk(entry.path))
    roots = [root for detect, _, _ in _FORMATS for root in detect(tree)] or plain.detect(tree, folder=folder)
    by_prefix: dict[str, Root] = {}
    for root in roots:
        held = by_prefix.get(root.prefix)
        if held is None or root.score > held.score:
            by_prefix[root.prefix] = root
    opened = {prefix[: found + len(NESTED)] for prefix in by_prefix for found in _all_at(prefix, NESTED)}
    known = tuple(Known(entry, *_assign(entry, by_prefix, tree, opened)) for entry in listed)
    best = max(roots, key=lambda root: (root.score, -root.prefix.count("/")))
    return Layout(best.format, tuple(by_prefix.values()), _settle_twins(known))


def _assign(entry: Entry, roots: dict[str, Root], tree: Tree, opened: set[str]) -> tuple[Root | None, Assignment]:
    """The root of one entry and what the entry is there. `opened` names the nested archives that hold a root."""
    root = _root_of(entry.path, roots)
    if entry.problem is not None:
        return root, Assignment("unsafe", reason=entry.problem)
    if _is_junk(entry.path):
        return root, skip("made by the file manager of a desktop")
    below = entry.path[len(root.prefix) :] if root else entry.path
    if tree.is_folder(entry.path + NESTED):
        return root, skip("opened as an archive") if entry.path + NESTED in opened else skip(NOT_OPENED)
    if NESTED in below:
        return root, skip(INSIDE_NOT_OPENED)
    if root is None:
        return None, skip("outside of the bundle")
    return root, _CLASSIFY[root.format](root, below, entry.size)


def _root_of(path: str, roots: dict[str, Root]) -> Root | None:
    """The root with the longest prefix of this path."""
    folder = path
    while folder:
        folder = folder.rstrip("/").rpartition("/")[0]
        folder = f"{folder}/" if folder else ""
        root = roots.get(folder)
        if root:
            return root
    return None


def _all_at(text: str, part: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(part, at)]


def _is_junk(path: str) -> bool:
    name = base_name(path)
    return name.startswith("._") or name in _JUNK or path.startswith("__MACOSX/") or "/__MACOSX/" in path


def _settle_twins(known: tuple[Known, ...]) -> tuple[Known, ...]:
    """Of `current.log` and `current.insecure.log` (the same log, fetched again without TLS) keep the fuller one.

    `oc adm inspect` makes both files before it asks for the log, so an empty file proves nothing, and two empty
    files of a previous log say that there was no previous container.
    """
    sizes = {one.entry.path: one.entry.size for one in known if one.assignment.role == "log"}
    settled = []
    for one in known:
        path = one.entry.path
        twin = _twin(path) if one.assignment.role == "log" else ""
        if twin and twin in sizes:
            insecure = ".insecure." in path
            better = sizes[path] > sizes[twin] if insecure else sizes[path] >= sizes[twin]
            if not better:
                settled.append(Known(one.entry, one.root, skip("the same log lies beside it")))
                continue
        settled.append(one)
    return tuple(settled)


def _twin(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    if not name.startswith(("current.", "previous.")):
        return ""
    if ".insecure." in name:
        return folder + slash + name.replace(".insecure.", ".", 1)
    first, dot, rest = name.partition(".")
    return f"{folder}{slash}{first}.insecure{dot}{rest}"
