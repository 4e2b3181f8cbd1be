"""Takes one list: page by page, item by item, onto the disk. A whole list is never in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import orjson

from analyzer.collect.api import JSON, Api, TooLargeError, path_of
from analyzer.collect.discovery import Resource
from analyzer.collect.errors import RequestError, Stopped
from analyzer.collect.objects import Shaper, Tally
from analyzer.collect.spool import Spool

PARTIAL = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
ALL = "*"
MAX_RESTARTS = 1
"""How often a list whose continue token has expired is begun anew; then what there is counts as a part."""
MAX_PAGES = 100_000

Seen = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Request:
    """How one list went: see the manifest in docs/bundle-format.md."""

    resource: str
    group: str
    version: str
    kind: str
    namespaced: bool
    namespace: str
    outcome: str
    status: int | None
    message: str | None
    pages: int
    objects: int

    @classmethod
    def of(
        cls,
        resource: Resource,
        namespace: str,
        outcome: str,
        *,
        status: int | None,
        message: str | None,
        pages: int,
        objects: int,
    ) -> Request:
        """How asking for a resource went."""
        what = (resource.plural, resource.group, resource.version, resource.kind, resource.namespaced)
        return cls(*what, namespace, outcome, status, message, pages, objects)


class _ListMeta(msgspec.Struct):
    continue_: str | None = msgspec.field(name="continue", default=None)
    resource_version: str | None = msgspec.field(name="resourceVersion", default=None)


class _Page(msgspec.Struct):
    kind: str | None = None
    message: str | None = None
    metadata: _ListMeta | None = None
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


_DECODER = msgspec.json.Decoder(_Page)


@dataclass(slots=True)
class Taker:
    """Takes the lists of one resource into its spool.

    Attributes:
        api: the cluster.
        shaper: makes an object fit for the bundle.
        spool: where the objects go.
        seen: is shown every object as the server sent it, before it is shaped.
        page: how many objects are asked for at a time.
        partial: ask for metadata only.
        restarted: is told that the list begins anew: `seen` will be shown its objects again.
    """

    api: Api
    shaper: Shaper
    spool: Spool
    seen: Seen | None
    page: int
    partial: bool
    restarted: Callable[[], None] | None = None

    def take(self, resource: Resource, namespace: str, tally: Tally) -> Request:
        """Takes the list of one namespace (`*`: of all, "": of a cluster-scoped resource). Never raises but for a full disk.

        Raises:
            OSError: the temporary folder is full or gone.
        """
        state, counts = _State(limit=self.page), Tally()
        outcome: str = "ok"
        status: int | None = 200
        message: str | None = None
        restarts = 0
        while True:
            try:
                self._pages(resource, namespace, counts, state)
                break
            except RequestError as error:
                if error.outcome == "expired" and state.pages and restarts < MAX_RESTARTS and namespace in {ALL, ""}:
                    restarts += 1
                    self.spool.clear()
                    if self.restarted:
                        self.restarted()
                    state, counts = _State(limit=state.limit), Tally()
                    continue
                outcome, status, message = _after(error, state)
                break
            except Stopped:
                outcome, status = ("truncated" if state.pages else "timed-out"), None
                message = (
                    "the collection ended before the list did"
                    if state.pages
                    else "the collection ended before there was an answer"
                )
                break
        tally.add(counts)
        return Request.of(resource, namespace, outcome, status=status, message=message, pages=state.pages, objects=state.objects)

    def _pages(self, resource: Resource, namespace: str, tally: Tally, state: _State) -> None:
        path = path_of(resource.group, resource.version, resource.plural, "" if namespace == ALL else namespace)
        while True:
            query = {"limit": str(state.limit)}
            if state.token:
                query["continue"] = state.token
            try:
                body = self.api.get(path, query, f"{PARTIAL},{JSON}" if self.partial else JSON)
            except TooLargeError as error:
                if state.limit == 1:
                    raise RequestError("truncated", 200, "an object is too large to be read") from error
                state.limit = max(1, state.limit // 8)
                continue
            page = _decode(body)
            del body
            if page.metadata and page.metadata.resource_version and not self.spool.resource_version:
                self.spool.resource_version = page.metadata.resource_version
            lines, skipped = self._shaped(_items(page), tally, namespaced=resource.namespaced)
            self.spool.add(lines)
            state.pages += 1
            state.objects += len(lines)
            if skipped:
                raise RequestError("truncated", 200, f"{skipped} items of a page are no objects")
            token = page.metadata.continue_ if page.metadata else None
            if not token:
                return
            if token == state.token or state.pages >= MAX_PAGES:
                raise RequestError("truncated", 200, "the server's list has no end")
            state.token = token

    def _shaped(self, items: list[msgspec.Raw], tally: Tally, *, namespaced: bool) -> tuple[list[tuple[str, str, bytes]], int]:
        lines: list[tuple[str, str, bytes]] = []
        skipped = 0
        for raw in items:
            try:
                value = orjson.loads(memoryview(raw))
            except orjson.JSONDecodeError:
                value = None
            if not isinstance(value, dict):
                skipped += 1
                continue
            if self.seen:
                self.seen(value)
            metadata = value.get("metadata")
            named = metadata if isinstance(metadata, dict) else {}
            namespace = _text(named.get("namespace")) if namespaced else ""
            name = _text(named.get("name"))
            try:
                line = self.shaper.shape(value, tally)
            except (TypeError, ValueError, RecursionError):
                skipped += 1
                continue
            lines.append(
                (namespace if namespaced and isinstance(namespace, str) else "", name if isinstance(name, str) else "", line)
            )
        return lines, skipped


@dataclass(slots=True)
class _State:
    limit: int
    token: str = ""
    pages: int = 0
    objects: int = 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _decode(body: bytes) -> _Page:
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RequestError("failed", 200, f"the answer is no list: {error}") from error


def _items(page: _Page) -> list[msgspec.Raw]:
    """The objects of a page. An answer without any is a list only where it says so: a proxy's 200 proves nothing."""
    if page.items is not msgspec.UNSET:
        return page.items or []
    if (page.kind or "").endswith("List"):
        return []
    raise RequestError("failed", 200, f"the answer is no list: {page.message or page.kind or 'it has no items'}")


def _after(error: RequestError, state: _State) -> tuple[str, int | None, str]:
    """What a failure makes of the list: with pages before it, a part."""
    if not state.pages:
        return ("failed" if error.outcome == "expired" else error.outcome), error.status, error.message
    return "truncated", error.status, error.message
