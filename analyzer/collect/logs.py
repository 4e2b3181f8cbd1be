"""Takes container logs: the newest part of each, masked, under a cap for each and one for all."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from analyzer.collect.api import Api
from analyzer.collect.errors import RequestError, Stopped
from analyzer.collect.pods import Wanted
from analyzer.redact import stream

TYPICAL_LINE = 100
"""Bytes of a line, to ask the server for about as many lines as fit under the cap: a log of 10 GB is not sent whole."""

_BEGIN, _END = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY"), re.compile(rb"-----END [A-Z ]*PRIVATE KEY[^\n]*\n?")
_COLOUR = re.compile(r"\x1b\[[0-9;:]{0,40}[A-Za-z]")
"""Colours of a terminal, which could stand inside the name of a secret."""
_PLACEHOLDER = re.compile(r"\[masked:([a-z-]{1,32}):[0-9a-f]{10}")
_NO_LOG = ("previous terminated container", "is waiting to start", "not found", "unable to retrieve container logs")
"""What the kubelet says where there is no such log (any more)."""


@dataclass(frozen=True, slots=True)
class LogLimits:
    """How much of the logs is taken: seconds back from now (None: all), bytes of one log, bytes of all."""

    since: int | None
    each: int
    total: int


@dataclass(frozen=True, slots=True)
class TakenLog:
    """How one log went: see the manifest in docs/bundle-format.md.

    Attributes:
        path: where the masked text lies; None where there is none.
        left_out: bytes before the text that were not kept; None where that is not known.
        masked: how many secrets of each kind were masked.
    """

    wanted: Wanted
    outcome: str
    bytes: int = 0
    left_out: int | None = 0
    message: str | None = None
    path: Path | None = None
    masked: Counter[str] | None = None


def take(api: Api, wanted: Wanted, limits: LogLimits, path: Path) -> TakenLog:
    """Fetches one log and writes its newest part, masked, to `path`. No file where the log is empty or cannot be had.

    Raises:
        OSError: the temporary folder is full or gone.
    """
    lines = max(100, limits.each // TYPICAL_LINE)
    query = {"container": wanted.container, "timestamps": "true", "tailLines": str(lines)}
    if wanted.previous:
        query["previous"] = "true"
    if limits.since is not None:
        query["sinceSeconds"] = str(limits.since)
    tail = _Tail(limits.each)
    outcome, message = "ok", None
    try:
        for piece in api.stream(f"/api/v1/namespaces/{quote(wanted.namespace)}/pods/{quote(wanted.pod)}/log", query):
            tail.add(piece)
    except Stopped:
        if not tail.size:
            return TakenLog(wanted, "skipped", left_out=None, message="the collection ended before there was an answer")
        outcome, message = "truncated", "the collection ended before the log did"
    except RequestError as error:
        if not tail.size:
            return _refused(wanted, error)
        outcome, message = "truncated", error.message
    unknown = tail.lines >= lines
    text, left_out = tail.text(cut=unknown)
    if left_out or unknown:
        outcome = "truncated"
    if not text:
        return TakenLog(wanted, outcome, left_out=left_out, message=message)
    masked = "".join(stream.masked([_COLOUR.sub("", text.decode("utf-8", "replace"))]))
    out = _head(left_out, unknown).encode() + masked.encode("utf-8", "replace")
    path.write_bytes(out)
    kinds = Counter(_PLACEHOLDER.findall(masked))
    return TakenLog(wanted, outcome, len(out), None if unknown else left_out, message, path, kinds)


def _head(left_out: int, unknown: bool) -> str:
    """The first line of a log that was cut."""
    if unknown:
        return f"[triage: at least {left_out} bytes before this line were left out]\n"
    return f"[triage: {left_out} bytes before this line were left out]\n" if left_out else ""


def _refused(wanted: Wanted, error: RequestError) -> TakenLog:
    outcome = error.outcome if error.outcome in {"forbidden", "timed-out"} else "failed"
    if error.status in {400, 404} and any(words in error.message for words in _NO_LOG):
        outcome = "none"
    return TakenLog(wanted, outcome, left_out=None, message=error.message)


class _Tail:
    """The last `limit` bytes of what goes by, from the beginning of a line on."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: deque[bytes] = deque()
        self._held = 0
        self.size = 0
        self.lines = 0

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._held += len(piece)
        self.size += len(piece)
        self.lines += piece.count(b"\n")
        while self._held - len(self._pieces[0]) >= self._limit + 1:
            self._held -= len(self._pieces.popleft())

    def text(self, *, cut: bool) -> tuple[bytes, int]:
        """What is kept, and how many bytes before it are not. `cut`: there was more before what went by."""
        kept = b"".join(self._pieces)
        if len(kept) > self._limit:
            # One byte more than the limit: a line that begins exactly there is whole.
            start = kept.find(b"\n", len(kept) - self._limit - 1) + 1
            kept = kept[start:] if 0 < start < len(kept) else kept[-self._limit :]
        if cut or len(kept) < self.size:
            kept = _without_cut_key(kept)
        return kept, self.size - len(kept)


def _without_cut_key(text: bytes) -> bytes:
    """A private key whose head was cut off is not known as one any more: all up to its end goes."""
    end, begin = _END.search(text), _BEGIN.search(text)
    return text[end.end() :] if end and (begin is None or begin.start() > end.start()) else text


def total_masked(logs: Iterable[TakenLog]) -> Counter[str]:
    """The secrets masked in all logs, by kind."""
    counts: Counter[str] = Counter()
    for log in logs:
        counts.update(log.masked or {})
    return counts
