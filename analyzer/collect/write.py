"""Puts the parts of a collection into the bundle, sorted by path; the manifest comes last, so that a cut bundle has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import orjson

from analyzer import __version__, times
from analyzer.collect.archive import Bundle, part
from analyzer.collect.gather import Taken
from analyzer.collect.logs import TakenLog
from analyzer.collect.manifest import NAME, Outcome, manifest

CORE = "core"
_PIECE = 1 << 18

Source = Callable[[], Iterable[bytes]]


def bundle(out: Bundle, outcome: Outcome, taken: Iterable[Taken]) -> None:
    """Writes all files of the bundle.

    Raises:
        OSError: the disk is full.
    """
    stamps = f"{times.rfc3339(outcome.times.started)}\n{times.rfc3339(outcome.times.ended)}\n".encode()
    files: dict[str, tuple[int, Source]] = {}
    for path, text in (("version", f"bundle-triage\n{__version__}\n".encode()), ("timestamp", stamps)):
        files[path] = (len(text), lambda text=text: [text])  # type: ignore[misc]
    for entry in taken:
        files.update(_lists(entry))
    for log in outcome.logs:
        if log.path is not None:
            files[_log_path(log)] = (log.bytes, _file(log.path))
    for path, (size, source) in sorted(files.items()):
        out.add(path, size, source())
    text = manifest(outcome, out.members)
    out.add(NAME, len(text), [text], listed=False)


def _lists(entry: Taken) -> Iterator[tuple[str, tuple[int, Source]]]:
    """The files of one resource: one, or one a namespace."""
    resource, spool = entry.resource, entry.spool
    inner = f"{part(resource.group) if resource.group else CORE}/{part(resource.plural)}.yaml"
    if not resource.namespaced and entry.whole and not spool.objects:
        spool.namespaces.setdefault("", [])
    for namespace in spool.namespaces:
        path = f"namespaces/{part(namespace)}/{inner}" if namespace else f"cluster-scoped-resources/{inner}"
        head, tail = _frame(entry, empty=not spool.size(namespace))
        yield path, (len(head) + spool.size(namespace) + len(tail), _source(entry, namespace, head, tail))


def _frame(entry: Taken, *, empty: bool) -> tuple[bytes, bytes]:
    """What stands before and after the objects of a list."""
    resource, version = entry.resource, entry.spool.resource_version
    head = {
        "apiVersion": resource.api_version,
        "kind": f"{resource.kind}List",
        "metadata": {"resourceVersion": version} if version else {},
    }
    start = orjson.dumps(head)[:-1] + b',"items":['
    return (start, b"]}\n") if empty else (start + b"\n", b"\n]}\n")


def _source(entry: Taken, namespace: str, head: bytes, tail: bytes) -> Source:
    def pieces() -> Iterator[bytes]:
        yield head
        if entry.spool.size(namespace):
            yield from entry.spool.read(namespace)
        yield tail

    return pieces


def _file(path: Path) -> Source:
    def pieces() -> Iterator[bytes]:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece

    return pieces


def _log_path(log: TakenLog) -> str:
    wanted = log.wanted
    container = part(wanted.container)
    source = "previous" if wanted.previous else "current"
    return f"namespaces/{part(wanted.namespace)}/pods/{part(wanted.pod)}/{container}/{container}/logs/{source}.log"
