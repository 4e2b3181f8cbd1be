"""What only the must-gather of NVIDIA's GPU Operator has.

That is nodes as printed text, logs of all containers of a pod in one file, and what holds the GPUs of a node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

from analyzer.bundle import logs
from analyzer.bundle.documents.described import Described, described, labelled
from analyzer.bundle.documents.gpu_usage import MAX_LINE, Holder, programs, usage
from analyzer.bundle.documents.node_table import listed
from analyzer.bundle.errors import CutEntry
from analyzer.bundle.formats.base import Place
from analyzer.bundle.formats.gpu_operator import DESCRIBED, LISTED, PRINTED_NODES
from analyzer.bundle.job import Job, column_text, whole
from analyzer.bundle.limits import MAX_DOCUMENT_BYTES, MAX_OBJECT_BYTES, MIB
from analyzer.bundle.parse_logs import Reading, read_log
from analyzer.bundle.rows import DOCUMENTS, LISTS, OBJECTS, masked_json, to_json
from analyzer.bundle.sniff import Rejoined, head_of
from analyzer.bundle.text import one_line
from analyzer.redact import mask_text

MAX_RUNS = 2_000
"""Stretches of one container that are told apart in one file; what follows is counted to the last one."""
MAX_NODES = 5_000
"""Nodes that are read of one file."""

MAX_USAGE_BYTES = 4 * MIB
"""How much is read of what holds the GPUs of a node; a busy node has some hundred lines of it."""
USAGE_ROLE = "gpu-usage"
"""Role of the document that is made of it."""
_MAX_TEXT = 500

_PREFIX = re.compile(rb"\[pod/([^/\]\s]{1,253})/([^/\]\s]{1,253})\] ")


def read_nodes(job: Job, stream: BinaryIO) -> None:
    """Nodes as `kubectl describe` or `kubectl get` prints them, or as a list of their labels. No list says that they are all."""
    data, _ = whole(job, stream, MAX_DOCUMENT_BYTES)
    way = job.task.assignment.name
    seen: dict[str, orjson.Fragment] = {}
    for node in described(data) if way == DESCRIBED else listed(data) if way == LISTED else labelled(data):
        job.tick()
        if node.name in seen:
            continue
        if len(seen) == MAX_NODES:
            job.result.problem(f"it has more than {MAX_NODES:,} nodes; the rest is not read", node.line)
            break
        text = masked_json(node.value)
        _write_node(job, node, text, len(seen), whole_node=way == DESCRIBED)
        seen[node.name] = orjson.Fragment(text)
        if node.cut:
            job.result.problem(f"the description of node {node.name} ends too early", node.line)
    if data.strip() and not seen:
        job.result.problem("no node in it", 1)
    if seen and way != DESCRIBED:
        job.result.documents += 1
        text = to_json({"nodes": list(seen.values())})
        job.sink.write(DOCUMENTS, {"file_id": job.task.file_id, "role": PRINTED_NODES, "json": orjson.Fragment(text)})


def _write_node(job: Job, node: Described, text: bytes, idx: int, *, whole_node: bool) -> None:
    if len(text) > MAX_OBJECT_BYTES:
        job.result.problem(f"a node is larger than {MAX_OBJECT_BYTES:,} bytes", node.line, 1)
        return
    row = {"file_id": job.task.file_id, "idx": idx, "line": node.line, "byte_offset": node.offset, "byte_length": node.length}
    kind = {"api_group": "", "version": "v1", "kind": "Node", "namespace": "", "name": column_text(node.name)}
    rest = {"uid": "", "resource_version": "", "whole": whole_node, "json": orjson.Fragment(text)}
    job.sink.write(OBJECTS, row | kind | rest)
    job.result.objects += 1


def read_none(job: Job, stream: BinaryIO) -> None:
    """An empty file whose name says that the cluster has none of a kind."""
    stream.read(1)
    hint = job.task.assignment.hint
    row = {"file_id": job.task.file_id, "api_group": hint.group, "kind": hint.kind, "namespace": job.task.assignment.scope}
    job.sink.write(LISTS, row | {"objects": 0, "complete": True})


def read_usage(job: Job, stream: BinaryIO) -> None:
    """What holds the GPUs of a node: a log like others, and a document of the processes, secrets masked."""
    head = head_of(stream, MAX_USAGE_BYTES)
    found = usage(head)
    named = programs(found.holders.values())
    value = {
        "node": one_line(job.task.assignment.name),
        "listed": found.listed,
        "none_line": found.none_line,
        "none_text": found.none_text,
        "problem": _masked(found.problem),
        "problem_line": found.problem_line,
        "more": found.more or len(head) == MAX_USAGE_BYTES,
        "gpus": [{"index": gpu.index, "mig": gpu.mig, "line": gpu.mig_line, "text": _masked(gpu.text)} for gpu in found.gpus],
        "holders": [_holder(one, named[one.pid]) for one in found.holders.values()],
    }
    read_log(job, Rejoined(head, stream).binary())
    if head.strip():
        job.result.documents += 1
        job.sink.write(DOCUMENTS, {"file_id": job.task.file_id, "role": USAGE_ROLE, "json": orjson.Fragment(to_json(value))})


def _holder(one: Holder, program: str) -> dict[str, Any]:
    texts = {"program": program, "user": one.user, "stat": one.stat, "elapsed": one.elapsed, "text": one.text}
    rest = {"pid": one.pid, "ppid": one.ppid, "line": one.line, "devices": one.devices, "gpus": one.gpus}
    return {key: _masked(text) for key, text in texts.items()} | rest | {"args": _masked(one.args, MAX_LINE)}


def _masked(text: str, limit: int = _MAX_TEXT) -> str:
    return one_line(mask_text(text), limit)


def read_prefixed(job: Job, stream: BinaryIO) -> None:
    """A log whose lines begin with `[pod/POD/CONTAINER] `, as `kubectl logs --all-containers --prefix` prints them.

    Each stretch of lines of one container is a log of its own, so that the lines of the file count. Lines without a name
    belong to the stretch that they stand in.
    """
    own = job.task.assignment.place
    reading: Reading | None = None
    key: tuple[str, str] | None = None
    runs = 0
    line = 1
    try:
        for piece in _pieces(stream):
            for found, text in _stretches(piece, key):
                if reading is None or (found != key and runs < MAX_RUNS):
                    if reading is not None:
                        reading.write(reading.summary())
                    runs += 1
                    key = found
                    pod, container = found or (own.pod, own.container)
                    reading = Reading(job, Place(own.namespace, pod, container, own.source), line)
                reading.feed(text)
                line += text.count(b"\n")
    except CutEntry as error:
        job.result.problem(str(error))
    if reading is None:
        job.result.status = "empty"
        return
    reading.write(reading.summary())


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in pieces that end at a line's end; a line longer than a piece is cut."""
    rest = b""
    try:
        while chunk := stream.read(logs.CHUNK_BYTES):
            text = rest + chunk
            end = text.rfind(b"\n") + 1
            if not end and len(text) >= logs.CHUNK_BYTES:
                end = len(text)
            rest = text[end:]
            if end:
                yield text[:end]
    except CutEntry:
        if rest:
            yield rest
        raise
    if rest:
        yield rest


def _stretches(text: bytes, key: tuple[str, str] | None) -> Iterator[tuple[tuple[str, str] | None, bytes]]:
    """The text cut where the container changes, with pod and container; `key` is that of the text before."""
    begin, at = 0, 0
    while at < len(text):
        found = _PREFIX.match(text, at)
        named = (found[1].decode("utf-8", "replace"), found[2].decode("utf-8", "replace")) if found else key
        if named != key:
            if at > begin:
                yield key, text[begin:at]
            key, begin = named, at
        stop = text.find(b"\n", at)
        at = len(text) if stop < 0 else stop + 1
    if begin < len(text):
        yield key, text[begin:]
