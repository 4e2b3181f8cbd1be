"""Takes all lists and all logs of a collection, a few at a time."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from analyzer.collect import logs, parallel
from analyzer.collect.api import Api, TooLargeError
from analyzer.collect.contents import Contents
from analyzer.collect.discovery import Resource
from analyzer.collect.errors import RequestError, Stopped
from analyzer.collect.lists import ALL, Request, Taker
from analyzer.collect.logs import LogLimits, TakenLog
from analyzer.collect.objects import Shaper, Tally
from analyzer.collect.pace import Pace
from analyzer.collect.plan import Plan
from analyzer.collect.pods import PodWatch, Wanted
from analyzer.collect.spool import Spool

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


@dataclass(slots=True)
class Taken:
    """One resource: its objects on disk, how the requests went, and what was left out of the objects."""

    resource: Resource
    spool: Spool
    requests: list[Request] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    @property
    def whole(self) -> bool:
        """Was the list over the whole cluster read to its end."""
        return any(request.outcome == "ok" and request.namespace in {ALL, ""} for request in self.requests)


@dataclass(slots=True)
class Gatherer:
    """The state of a collection.

    Attributes:
        namespaces: only these; None: all.
        fallback: namespace that is asked for where all may not be.
        instead: resources that were not asked for, since another shows the same objects, and why.
    """

    api: Api
    pace: Pace
    plan: Plan
    contents: Contents
    watch: PodWatch
    folder: Path
    namespaces: Sequence[str] | None
    fallback: str | None
    secret_keys: bool
    threads: int
    tell: Callable[[str, int, int], None]
    instead: list[tuple[str, str]] = field(default_factory=list)

    def lists(self, resources: Sequence[Resource]) -> list[Taken]:
        """Takes all lists: first those that tell which ConfigMaps are wanted, then the ConfigMaps, then substitutes."""
        substitutes = {entry.resource: entry for entry in self.plan.instead}
        early = [resource for resource in resources if resource.name != "configmaps" and resource.name not in substitutes]
        taken = self._batch(early, len(resources), 0)
        late = [resource for resource in resources if resource.name == "configmaps"]
        whole = {entry.resource.name for entry in taken if self._had(entry)}
        for resource in resources:
            entry = substitutes.get(resource.name)
            if entry is not None and entry.of in whole:
                self.instead.append((entry.resource, entry.why))
            elif entry is not None:
                late.append(resource)
        return taken + self._batch(late, len(resources), len(taken))

    def _had(self, taken: Taken) -> bool:
        return bool(taken.requests) and all(request.outcome == "ok" for request in taken.requests)

    def _batch(self, resources: Sequence[Resource], total: int, before: int) -> list[Taken]:
        entries = [Taken(resource, Spool(self.folder / f"{before + index:04d}")) for index, resource in enumerate(resources)]
        tasks = [self._task(entry) for entry in entries]
        finished: set[int] = set()
        for done in parallel.run(tasks, self.threads, self.pace):
            if done is None:
                continue
            finished.add(done.index)
            if done.error is not None:
                self._broken(entries[done.index], done.error)
            self.tell(f"lists: {entries[done.index].resource.name}", before + len(finished), total)
        for index, entry in enumerate(entries):
            entry.spool.seal()
            if index not in finished:
                # Its thread hangs; what it notes from now on is no longer looked at.
                entries[index] = self._abandoned(entry)
        return entries

    def _task(self, entry: Taken) -> Callable[[], None]:
        resource = entry.resource
        taker = Taker(
            api=self.api,
            shaper=Shaper(self.plan, resource, self.contents.wanted, secret_keys=self.secret_keys),
            spool=entry.spool,
            seen=self._seen(resource),
            page=self.plan.pages.of(resource.name),
            partial=resource.name in self.plan.metadata_only and not self.secret_keys,
            restarted=self.watch.forget if resource.name == "pods" else None,
        )

        def take() -> None:
            for namespace in self._scopes(resource):
                request = taker.take(resource, namespace, entry.tally)
                if request.outcome == "forbidden" and resource.name == "namespaces":
                    request = replace(request, objects=self._single_namespaces(taker, entry))
                entry.requests.append(request)
                if request.outcome == "forbidden" and namespace == ALL and self.fallback:
                    entry.requests.append(taker.take(resource, self.fallback, entry.tally))

        return take

    def _scopes(self, resource: Resource) -> Sequence[str]:
        if not resource.namespaced:
            return ("",)
        return (ALL,) if self.namespaces is None else self.namespaces

    def _seen(self, resource: Resource) -> Callable[[dict[str, Any]], None] | None:
        if resource.name == "pods":
            return self.watch.see
        if self.contents.looks_at(resource.name):
            return lambda value: self.contents.see(resource.name, value)
        return None

    def _single_namespaces(self, taker: Taker, entry: Taken) -> int:
        """Takes the Namespaces in scope one by one, which may be read where their list may not; how many there are."""
        count = 0
        for name in self.namespaces or ([self.fallback] if self.fallback else []):
            with suppress(RequestError, Stopped, TooLargeError, ValueError, AttributeError):
                value = orjson.loads(self.api.get(f"/api/v1/namespaces/{quote(name, safe='')}"))
                entry.spool.add([("", name, taker.shaper.shape(value, entry.tally))])
                count += 1
        return count

    def _broken(self, entry: Taken, error: Exception) -> None:
        """A task that ended with an error: a full disk ends the collection, anything else only this list."""
        if isinstance(error, OSError):
            full = error.errno in _FULL
            message = f"{'no space left on the disk' if full else error.strerror or type(error).__name__} ({self.folder.parent})"
            if full:
                self.pace.stop(message)
        else:
            message = f"internal error ({type(error).__name__})"
        entry.requests.append(self._lost(entry, message))

    def _abandoned(self, entry: Taken) -> Taken:
        fresh = Taken(entry.resource, entry.spool)
        fresh.requests = [*entry.requests, self._lost(entry, "the collection ended before the list did")]
        return fresh

    def _lost(self, entry: Taken, message: str) -> Request:
        resource, objects = entry.resource, entry.spool.objects
        before = sum(request.objects for request in entry.requests)
        namespace = self._scopes(resource)[min(len(entry.requests), len(self._scopes(resource)) - 1)]
        outcome = "truncated" if objects > before else "failed"
        return Request.of(resource, namespace, outcome, status=None, message=message, pages=0, objects=max(0, objects - before))

    def logs(self, wanted: Sequence[Wanted], limits: LogLimits, threads: int) -> list[TakenLog]:
        """Takes logs in the order of `wanted`, until all together have `limits.total` bytes."""
        found: list[TakenLog] = []
        total = 0
        at = 0
        while at < len(wanted):
            batch = wanted[at : at + threads * 4]
            at += len(batch)
            for log in self._log_batch(batch, limits, threads, len(found), len(wanted)):
                if total + log.bytes > limits.total and log.path is not None:
                    log.path.unlink(missing_ok=True)
                    found.append(TakenLog(log.wanted, "skipped", left_out=None, message=f"all logs have {limits.total} bytes"))
                    continue
                total += log.bytes
                found.append(log)
            if total >= limits.total or self.pace.ended():
                break
        why = "the collection had ended" if self.pace.ended() else f"all logs have {limits.total} bytes"
        return found + [TakenLog(rest, "skipped", left_out=None, message=f"not asked for: {why}") for rest in wanted[at:]]

    def _log_batch(self, batch: Sequence[Wanted], limits: LogLimits, threads: int, before: int, total: int) -> Iterator[TakenLog]:
        def task(number: int, one: Wanted) -> Callable[[], TakenLog]:
            return lambda: logs.take(self.api, one, limits, self.folder / f"log{number:06d}")

        tasks = [task(before + index, one) for index, one in enumerate(batch)]
        results: dict[int, TakenLog] = {}
        for done in parallel.run(tasks, threads, self.pace):
            if done is None:
                continue
            if isinstance(done.error, OSError) and done.error.errno in _FULL:
                self.pace.stop(f"no space left on the disk ({self.folder.parent})")
            if done.value is not None:
                results[done.index] = done.value
            self.tell("logs", before + len(results), total)
        for index, one in enumerate(batch):
            yield results.get(index) or TakenLog(one, "failed", left_out=None, message="could not be read or written")
