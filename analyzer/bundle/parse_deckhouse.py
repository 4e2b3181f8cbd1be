"""Files of a Deckhouse debug archive: lists, arrays or objects one after the other, with lines of the tool between them."""

from __future__ import annotations

import re
from typing import BinaryIO

from analyzer.bundle.collect_errors import MAX_ERROR_BYTES, MAX_ERRORS, CollectError, classify_message
from analyzer.bundle.formats.deckhouse import ALL, EACH, resource_of
from analyzer.bundle.job import Job, whole, write_error
from analyzer.bundle.kinds import plural_of
from analyzer.bundle.limits import MAX_DOCUMENT_BYTES
from analyzer.bundle.lists import ListRow
from analyzer.bundle.parse_objects import Run, parse_objects
from analyzer.bundle.streams import read_all
from analyzer.bundle.text import clean, one_line
from analyzer.bundle.types import Hint
from analyzer.redact import mask_text

_BANNER = re.compile(rb"^(?:Listing resources for CRD:|Defaulted container |No resources found)[^\n]*", re.MULTILINE)
_ENTRY = re.compile(r"(?P<file>[^\s:]{1,200}): (?P<error>.+?), (?P<bytes>\d{1,15}) bytes kept\s*\Z")
_MAX_LINE = 4096


def read_deckhouse(job: Job, stream: BinaryIO) -> None:
    """A file of objects, whatever the shape; lines that the tool printed between them count as blank."""
    data, cut = whole(job, stream, MAX_DOCUMENT_BYTES)
    if not data.strip():
        # An empty file is a command that found nothing or failed: nothing tells which.
        job.result.status = "empty"
        return
    data = _BANNER.sub(lambda line: b" " * len(line[0]), data)
    if not data.strip():
        job.result.status, job.result.error = "skipped", "no Kubernetes object in it"
        return
    made_by = {EACH: _Each, ALL: _Spaces}.get(job.task.assignment.name, _Some)
    parse_objects(job, data, job.task.assignment.hint, cut=cut, made_by=made_by)


class _Each(Run):
    """Every object of one kind: a list, or what `jq '.items[]'` made of it, which is all of it where it is not cut."""

    def end(self, hint: Hint) -> None:
        """Objects without a list around them are the items of one."""
        if self.items and not self.found:
            kinds = {(group, kind) for group, kind, _, _ in self.items}
            complete = not self.cut and not self.refused and self.job.result.error is None
            for group, kind in sorted(kinds):
                members = [item for item in self.items if item[:2] == (group, kind)]
                self.write_list(ListRow(group, kind, self.job.task.assignment.scope, len(members), complete))
            self.items = []
            self.found += 1
        super().end(hint)


class _Some(Run):
    """Some objects of a kind: they prove nothing about the others."""

    def add_list(self, group: str, kind: str, members: list[tuple[str, str, str, bool]], *, complete: bool) -> None:
        """No list is noted."""


class _Spaces(Run):
    """Everything of the platform's own namespaces (`kubectl get all` in each): a list of each kind and namespace that shows."""

    def add_list(self, group: str, kind: str, members: list[tuple[str, str, str, bool]], *, complete: bool) -> None:
        """One list a namespace: of others it says nothing."""
        for space in sorted({member[2] for member in members if member[2]}):
            count = sum(member[2] == space for member in members)
            self.write_list(ListRow(group, kind, space, count, complete))


def read_collection_errors(job: Job, stream: BinaryIO) -> None:
    """`collection-errors.txt`: FILE: ERROR, N bytes kept; below it the command and what it printed."""
    data, _ = read_all(stream, MAX_ERROR_BYTES)
    if not data.strip():
        job.result.status = "empty"
        return
    lines = [clean(raw[:_MAX_LINE]) for raw in data.split(b"\n")]
    for number, line in [(number, line) for number, line in enumerate(lines, 1) if _ENTRY.match(line)][:MAX_ERRORS]:
        found = _ENTRY.match(line)
        if found is None:
            continue
        words = _words(lines[number:], found["error"])
        kind = "timeout" if found["error"].startswith("TIMED OUT") else classify_message(words, sure=True) or "failed"
        told = resource_of(found["file"])
        subject = f"{plural_of(told[0])}.{told[1]}".rstrip(".") if told else found["file"]
        write_error(job, CollectError(number, kind, subject, one_line(mask_text(f"{found['file']}: {words}"))))


def _words(below: list[str], error: str) -> str:
    """What the command printed to its error stream, else its own error."""
    for line in below:
        if not line.startswith(" ") and line.strip():
            break
        label, _, text = line.strip().partition(": ")
        if label == "stderr" and text.strip():
            return f"{text.strip()} ({error})"
    return error
