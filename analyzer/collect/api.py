"""Requests to the API server: GET only, raw bytes, bounded in size, time and number.

Retried are answers that mean "later" (429, 5xx) and connections that break, as the API server's documentation of
priority and fairness asks clients to: after the time that Retry-After names, else after a growing pause.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode

import orjson
import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError, SSLError

from analyzer import __version__
from analyzer.collect.connect import Connection
from analyzer.collect.errors import RequestError
from analyzer.collect.pace import Pace

MAX_BODY = 64 << 20
"""Largest answer, in bytes, unpacked. A page of 500 pods has 5 MB; larger pages are asked for again with fewer objects."""
MAX_ATTEMPTS = 4
MAX_WAIT = 30.0
"""Longest pause before a request is made again, in seconds, whatever the server asks for."""
CONNECT_TIMEOUT = 10.0
JSON = "application/json"

_CHUNK = 1 << 18
_WHERE = re.compile(r" ?\(_ssl\.c:\d+\)")
_LATER = {429, 500, 502, 503, 504}
_OUTCOMES = {403: "forbidden", 404: "not-served", 405: "not-served", 410: "expired", 504: "timed-out"}


class TooLargeError(Exception):
    """An answer is larger than `MAX_BODY`."""


@dataclass(slots=True)
class Clock:
    """The server's clock: the dates of its first and its last answer."""

    first: datetime | None = None
    last: datetime | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, date: str | None) -> None:
        """Takes in the Date header of an answer."""
        try:
            moment = parsedate_to_datetime(date or "").astimezone(UTC)
        except (ValueError, TypeError, OverflowError):
            return
        with self.lock:
            self.first = moment if self.first is None else min(self.first, moment)
            self.last = moment if self.last is None else max(self.last, moment)


class Api:
    """One cluster, asked by any number of threads."""

    def __init__(self, connection: Connection, pace: Pace, request_timeout: float) -> None:
        """`request_timeout`: longest time of one request in seconds, its answer read."""
        self._connection, self._pace, self._timeout = connection, pace, request_timeout
        self.clock = Clock()
        self.requests = 0
        self._count = threading.Lock()

    def get(self, path: str, query: Mapping[str, str] | None = None, accept: str = JSON) -> bytes:
        """The body of a GET, whole.

        Raises:
            RequestError: the server refused, or could not be reached, after all attempts.
            TooLargeError: the answer is larger than `MAX_BODY`.
            Stopped: the collection ends.
        """
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return b"".join(self._once(path, query, accept, MAX_BODY))
            except _Again as again:
                if attempt == MAX_ATTEMPTS:
                    raise again.error from again.__cause__
                self._pace.rest(min(MAX_WAIT, again.wait if again.wait is not None else 0.5 * 2 ** (attempt - 1)))
        raise AssertionError("unreachable")  # pragma: no cover

    def stream(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[bytes]:
        """The body of a GET in pieces, of any length, as they come; made again only before the first piece.

        Raises:
            RequestError, Stopped: as `get`; also in the middle of the answer.
        """
        for attempt in range(1, MAX_ATTEMPTS + 1):
            begun = False
            try:
                for piece in self._once(path, query, "*/*", None):
                    begun = True
                    yield piece
            except _Again as again:
                if begun or attempt == MAX_ATTEMPTS:
                    raise again.error from again.__cause__
                self._pace.rest(min(MAX_WAIT, again.wait if again.wait is not None else 0.5 * 2 ** (attempt - 1)))
            else:
                return

    def _once(self, path: str, query: Mapping[str, str] | None, accept: str, limit: int | None) -> Iterator[bytes]:
        self._pace.turn()
        with self._count:
            self.requests += 1
        url = self._connection.host + path + ("?" + urlencode(query) if query else "")
        end = time.monotonic() + min(self._timeout, self._pace.left())
        try:
            response = self._connection.pool.request(
                "GET",
                url,
                headers=self._headers(accept),
                preload_content=False,
                redirect=False,
                retries=False,
                timeout=urllib3.Timeout(connect=min(CONNECT_TIMEOUT, self._timeout), read=min(self._timeout, self._pace.left())),
            )
        except (HTTPError, OSError) as error:
            raise self._network(error) from error
        clean = False
        try:
            self.clock.note(response.headers.get("Date"))
            if response.status != 200:
                raise self._refused(response, end)
            yield from self._body(response, end, limit)
            clean = True
        finally:
            # A connection with an unread answer is of no use to the next request.
            if clean:
                response.release_conn()
            else:
                response.close()

    def _body(self, response: urllib3.BaseHTTPResponse, end: float, limit: int | None) -> Iterator[bytes]:
        got = 0
        try:
            # Not read(), which waits for the whole chunk and loses its beginning where the connection breaks.
            while piece := response.read1(_CHUNK, decode_content=True):
                self._pace.check()
                got += len(piece)
                if limit is not None and got > limit:
                    raise TooLargeError
                if time.monotonic() > end:
                    raise RequestError("timed-out", response.status, f"no whole answer within {self._timeout:g} s")
                yield piece
        except (HTTPError, OSError) as error:
            raise self._network(error) from error

    def _headers(self, accept: str) -> urllib3.HTTPHeaderDict:
        headers = urllib3.HTTPHeaderDict(
            {"Accept": accept, "Accept-Encoding": "gzip", "User-Agent": f"bundle-triage/{__version__}"}
        )
        for name, value in self._connection.headers():
            headers.add(name, value)
        return headers

    def _network(self, error: Exception) -> Exception:
        """What to raise for a connection that failed: `Stopped` where the end has come, else it is made again."""
        self._pace.check()
        # A refused connection is a kind of ConnectTimeoutError to urllib3.
        if isinstance(error, ConnectTimeoutError) and not isinstance(error, NewConnectionError):
            limit = min(CONNECT_TIMEOUT, self._timeout)
            return _Again(RequestError("timed-out", None, f"no connection within {limit:g} s"), None)
        if isinstance(error, ReadTimeoutError | TimeoutError):
            return _Again(RequestError("timed-out", None, f"no answer within {self._timeout:g} s"), None)
        failed = RequestError("failed", None, network_words(error))
        # A certificate does not get better by asking again.
        return failed if isinstance(error, SSLError) else _Again(failed, None)

    def _refused(self, response: urllib3.BaseHTTPResponse, end: float) -> Exception:
        body = b""
        with suppress(HTTPError, OSError):
            while len(body) < 1 << 16 and time.monotonic() < end and (piece := response.read1(1 << 16, decode_content=True)):
                body += piece
        status = response.status
        error = RequestError(
            _OUTCOMES.get(status, "failed"), status, _status_words(body) or str(response.reason or f"HTTP {status}")
        )
        if status not in _LATER:
            return error
        return _Again(error, _retry_after(response.headers.get("Retry-After")))


class _Again(Exception):  # noqa: N818 - a reason to try again
    """A request that may succeed later: what to raise if not, and how long to wait (None: our own pause)."""

    def __init__(self, error: RequestError, wait: float | None) -> None:
        super().__init__()
        self.error, self.wait = error, wait


def path_of(group: str, version: str, plural: str, namespace: str = "") -> str:
    """The path of a list: of all namespaces, or of one."""
    root = f"/apis/{quote(group, safe='')}/{quote(version, safe='')}" if group else f"/api/{quote(version, safe='')}"
    inner = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{root}{inner}/{quote(plural, safe='')}"


def network_words(error: BaseException) -> str:
    """What the network said, without the client's own names: `certificate has expired`, `Connection refused`."""
    inner: BaseException = error
    while True:
        deeper = getattr(inner, "reason", None)
        deeper = (
            deeper if isinstance(deeper, BaseException) else inner.__cause__ or (inner.__context__ if not str(inner) else None)
        )
        if deeper is None or deeper is inner:
            break
        inner = deeper
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror
    text = str(getattr(inner, "verify_message", "") or inner or type(inner).__name__)
    return _WHERE.sub("", text.rsplit(">: ", 1)[-1])


def _status_words(body: bytes) -> str:
    """The message of a Kubernetes Status; else the answer's own first words."""
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body[:300].decode("utf-8", "replace")
    message = value.get("message") if isinstance(value, dict) else None
    return message if isinstance(message, str) else ""


def _retry_after(text: str | None) -> float | None:
    """Seconds of a Retry-After header; a date in it is not used, since clocks differ."""
    return float(text) if text and text.isdecimal() and len(text) < 7 else None
