"""Printing: one log as it streams by, several one behind the other or merged by time, each line with the name of its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from analyzer.logs.merge import Clock, merged, sortable
from analyzer.logs.model import Log, Series
from analyzer.logs.originals import Lost, Original
from analyzer.logs.reread import reread
from analyzer.logs.spool import Segment, Spool
from analyzer.logs.text import shown

_LINES_AT_ONCE = 2_000
_MAX_TOLD = 5


class NothingStoredError(Exception):
    """The bundle is not to be had, and the database has no line of the logs; the message says why."""


@dataclass(frozen=True, slots=True)
class Out:
    """Where things go: `write` takes the text of the logs, `tell` one line for the user on what is odd with it."""

    write: Callable[[str], object]
    tell: Callable[[str], object]


def print_logs(
    series: Sequence[Series], sources: Mapping[int, Original | Lost], folder: Path, out: Out, clock: Clock | None
) -> None:
    """Prints the logs, in bounded memory.

    Args:
        series: which, in their order.
        sources: the inputs that they are read from; of a lost one the stored last lines are printed.
        folder: a private folder for what has to wait for its turn.
        out: where to.
        clock: to merge the logs by time; None prints one behind the other.

    Raises:
        NothingStoredError: not one line is to be had.
        OSError: the temporary folder is full.
    """
    logs = [log for one in series for log in one.logs]
    lost = {log.log_id for log in logs if isinstance(sources.get(log.input), Lost | None)}
    if lost:
        why = _why_lost(logs, sources)
        if len(lost) == len(logs) and not any(log.tail for log in logs):
            raise NothingStoredError(f"the whole log is not in the report, nor are its last lines: {why}")
        out.tell(f"only the last lines, which the report keeps, are printed: {why}. Give the bundle with --bundle PATH")
    if not any(log.bytes for log in logs):
        out.tell("the log is in the bundle, and empty")
    problems: list[str] = []

    def problem(log: Log, words: str) -> None:
        problems.append(f"{log.path}: {words}")

    if len(logs) == 1 and not lost:
        for _, chunks in reread(_original(sources, logs[0]), logs, problem):
            for piece in shown(chunks):
                out.write(piece)
    else:
        with Spool(folder) as spool:
            segments = {log.log_id: spool.add(shown([log.tail.encode("utf-8", "replace")])) for log in logs if log.log_id in lost}
            for number in sorted({log.input for log in logs if log.log_id not in lost}):
                own = [log for log in logs if log.input == number]
                for log, chunks in reread(_original(sources, own[0]), own, problem):
                    segments[log.log_id] = spool.add(shown(chunks))
            _print_spooled(series, spool, segments, out, clock)
    for words in problems[:_MAX_TOLD]:
        out.tell(f"this log was not read to its end: {words}")
    if len(problems) > _MAX_TOLD:
        out.tell(f"{len(problems) - _MAX_TOLD:,} more logs were not read to their end")


def _original(sources: Mapping[int, Original | Lost], log: Log) -> Original:
    source = sources[log.input]
    if isinstance(source, Lost):
        raise TypeError(source.why)
    return source


def _why_lost(logs: Sequence[Log], sources: Mapping[int, Original | Lost]) -> str:
    lost = {log.input: sources.get(log.input) for log in logs}
    return "; ".join(source.why for source in lost.values() if isinstance(source, Lost)) or "the bundle is not known"


def _print_spooled(
    series: Sequence[Series], spool: Spool, segments: Mapping[int, Segment], out: Out, clock: Clock | None
) -> None:
    readers = len(series) if clock else 1

    def lines(one: Series) -> Iterator[bytes]:
        there = (segments[log.log_id] for log in one.logs if log.log_id in segments)
        return chain.from_iterable(spool.lines(segment, readers) for segment in there)

    prefixes = [one.prefix if len(series) > 1 else "" for one in series]
    if clock:
        _print_lines(merged([lines(one) for one in series], [_first(one) for one in series], clock), prefixes, out)
    else:
        _print_lines(((number, line) for number, one in enumerate(series) for line in lines(one)), prefixes, out)


def _first(one: Series) -> bytes:
    """The time that the lines of a log before its first timed one count as."""
    at = next((log.first_at for log in one.logs if log.first_at), None)
    return sortable(at) if at else b""


def _print_lines(lines: Iterator[tuple[int, bytes]], prefixes: Sequence[str], out: Out) -> None:
    """Lines with the names of their logs; a line that comes in pieces has its name once."""
    held: list[str] = []
    whole = True
    for number, line in lines:
        held.append((prefixes[number] if whole else "") + line.decode("utf-8", "replace"))
        whole = line.endswith(b"\n")
        if len(held) >= _LINES_AT_ONCE or not whole:
            out.write("".join(held))
            held.clear()
    out.write("".join(held))
