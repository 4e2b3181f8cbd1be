"""YAML and JSON files → rows of part_objects and part_lists, and the log blocks of a dump in one file."""

from __future__ import annotations

from typing import BinaryIO

import orjson

from analyzer.bundle import kept_fields
from analyzer.bundle.documents import read_documents
from analyzer.bundle.formats.base import base_name, stem
from analyzer.bundle.job import Job, column_text, whole
from analyzer.bundle.kinds import by_file_name
from analyzer.bundle.limits import MAX_DOCUMENT_BYTES, MAX_OBJECT_BYTES
from analyzer.bundle.lists import ListRow, Lists
from analyzer.bundle.logblocks import Block
from analyzer.bundle.parse_logs import write_block
from analyzer.bundle.rows import LISTS, OBJECTS, masked_json
from analyzer.bundle.text import one_line
from analyzer.bundle.twins import is_list, pod_folder
from analyzer.bundle.types import Hint, Item, ListSeen, LogText, Other, Problem
from analyzer.redact import mask_text


def read_objects(job: Job, stream: BinaryIO) -> None:
    """A file of objects; one without any is no error where its format does not promise some."""
    data, cut = whole(job, stream, MAX_DOCUMENT_BYTES)
    if not data:
        return
    folder = pod_folder(job.task) if job.twins else ""
    if job.twins and folder and is_list(job.task):
        job.twins.begin(folder)
    elif job.twins and folder and not cut:
        row = job.twins.row(job.task, data)
        if row:
            job.sink.write(OBJECTS, row)
            job.result.objects += 1
            return
    parse_objects(job, data, job.task.assignment.hint, cut=cut)


def parse_objects(job: Job, data: bytes, hint: Hint, *, cut: bool, made_by: type[Run] | None = None) -> None:
    """Objects, lists and the log blocks of a dump.

    Args:
        job: the file.
        data: its bytes.
        hint: what its path says of the objects in it.
        cut: it ends early.
        made_by: what takes the lists, where the format knows better than they say.
    """
    run = (made_by or Run)(job, cut, data)
    for part in read_documents(data, hint):
        job.tick()
        if isinstance(part, Item):
            run.item(part)
        elif isinstance(part, ListSeen):
            run.list_end(part)
        elif isinstance(part, Problem):
            run.problem(part)
        elif isinstance(part, LogText):
            run.lists.add_log(part.namespace)
            write_block(job, Block(part.namespace, part.pod, part.container, part.line, part.text))
        else:
            run.other(part)
    run.end(hint)


class Run:
    """The objects of one file: which items belong to the list that ends next."""

    def __init__(self, job: Job, cut: bool, data: bytes) -> None:
        self.job = job
        self.cut = cut
        self.data = data
        self.twins = job.twins if job.twins and pod_folder(job.task) and is_list(job.task) else None
        self.lists = Lists()
        self.items: list[tuple[str, str, str, bool]] = []
        self.refused = 0
        self.found = 0
        self.texts = 0

    def item(self, item: Item) -> None:
        """Write one object; a list that lacks a refused one is not complete."""
        metadata = item.value.get("metadata")
        uid = version = ""
        if isinstance(metadata, dict):
            fields = metadata.pop("managedFields", None)
            if fields and item.kind == "Node" and not item.group:
                kept_fields.keep_label_times(metadata, fields)
            elif fields and item.group in kept_fields.GROUPS:
                kept_fields.keep_managers(metadata, fields)
            uid, version = column_text(metadata.get("uid")), column_text(metadata.get("resourceVersion"))
        self.items.append((item.group, item.kind, item.namespace, bool(uid)))
        text = masked_json(item.value)
        if len(text) > MAX_OBJECT_BYTES:
            self.refused += 1
            self.job.result.problem(f"an object is larger than {MAX_OBJECT_BYTES:,} bytes", item.line, 1)
            return
        row = {
            "file_id": self.job.task.file_id,
            "idx": item.idx,
            "line": item.line,
            "byte_offset": item.offset,
            "byte_length": item.length,
            "api_group": column_text(item.group),
            "version": column_text(item.version),
            "kind": column_text(item.kind),
            "namespace": column_text(item.namespace),
            "name": column_text(item.name),
            "uid": uid,
            "resource_version": version,
            "whole": item.whole,
            "json": orjson.Fragment(text),
        }
        self.job.sink.write(OBJECTS, row)
        self.job.result.objects += 1
        if self.twins and item.whole:
            self.twins.keep(item.name, self.data[item.offset : item.offset + item.length], row)

    def list_end(self, seen: ListSeen) -> None:
        """Take the items before the end of a list as its own, one list for each kind among them.

        A list of several kinds (`kubectl get pods,services`) ends once for each of them.
        """
        self.found += 1
        own = self._own(seen)
        complete = seen.complete and not self.cut and not self.refused
        kinds: dict[tuple[str, str], list[tuple[str, str, str, bool]]] = {}
        for item in own:
            kinds.setdefault((item[0], item[1]), []).append(item)
        if not kinds:
            hint = self.job.task.assignment.hint
            named = (seen.group, seen.kind) if seen.kind else (hint.group, hint.kind) if hint.kind else self._by_name()
            if named:
                kinds[named] = []
        for (group, kind), members in kinds.items():
            self.add_list(group, kind, members, complete=complete)
        self.refused = 0

    def _own(self, seen: ListSeen) -> list[tuple[str, str, str, bool]]:
        """The items of the list that ends, taken off those that are waiting for their list."""
        if not seen.kind:
            self.items, own = [], self.items[len(self.items) - min(len(self.items), seen.objects) :]
            return own
        alike = [item for item in self.items if item[:2] == (seen.group, seen.kind)]
        self.items = [item for item in self.items if item[:2] != (seen.group, seen.kind)]
        return alike[len(alike) - min(len(alike), seen.objects) :]

    def _by_name(self) -> tuple[str, str] | None:
        """What an empty list is of that says no kind, by the name of its file; cluster-scoped kinds only.

        `kubectl get` prints `kind: List` whatever it was asked for, so that the name is all that an empty one has. Of a
        namespaced kind it would still not tell which namespace was asked for.
        """
        known = by_file_name(stem(base_name(self.job.task.path)))
        return (known.group, known.kind) if known and not known.namespaced else None

    def add_list(self, group: str, kind: str, members: list[tuple[str, str, str, bool]], *, complete: bool) -> None:
        """The end of a list of one kind: its scope by the path, else by its items once the file is read.

        Args:
            group: API group.
            kind: kind.
            members: group, kind, namespace of each item, and whether it has a uid.
            complete: nothing of the list is missing.
        """
        if self.job.task.assignment.scope:
            self.write_list(ListRow(group, kind, self.job.task.assignment.scope, len(members), complete))
            return
        namespaces = {member[2] for member in members}
        served = all(member[3] for member in members)
        self.lists.add(group, kind, namespaces, objects=len(members), complete=complete, served=served)

    def problem(self, problem: Problem) -> None:
        """A damaged place; the objects around it are read."""
        self.job.result.problem(one_line(mask_text(problem.message)), problem.line, problem.lost)

    def other(self, other: Other) -> None:
        """A document that is no object."""
        if isinstance(other.value, str) and other.value.strip():
            self.texts += 1

    def end(self, hint: Hint) -> None:
        """The end of the file: lists of unknown scope, and files without what the format promises."""
        for row in self.lists.rows():
            self.write_list(row)
        result = self.job.result
        result.dump = self.lists.is_dump and self.job.task.format == "plain"
        nothing = not (result.objects or self.found or self.lists.logs)
        if nothing and self.job.task.assignment.strict:
            if self.texts:
                what = f"{hint.kind} objects" if hint.kind else "objects"
                result.problem(f"text, not {what}", 1)
        elif nothing and result.error is None:
            result.status, result.error = "skipped", "no Kubernetes object in it"

    def write_list(self, row: ListRow) -> None:
        """One row of part_lists."""
        self.job.sink.write(
            LISTS,
            {
                "file_id": self.job.task.file_id,
                "api_group": column_text(row.group),
                "kind": column_text(row.kind),
                "namespace": column_text(row.namespace),
                "objects": row.objects,
                "complete": row.complete,
            },
        )
