"""A collection from beginning to end: connect, look what there is, take lists, then logs, then write the bundle."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from analyzer.bundle.errors import UsageError
from analyzer.collect import archive, leftover, plan, write
from analyzer.collect.api import Api, TooLargeError
from analyzer.collect.connect import Connection, Identity, connect
from analyzer.collect.contents import Contents
from analyzer.collect.discovery import WHOLE_GROUP, Discovered, discover
from analyzer.collect.errors import ClusterError, RequestError, Stopped
from analyzer.collect.gather import Gatherer, Taken
from analyzer.collect.identity import placeholder_key
from analyzer.collect.lists import Request
from analyzer.collect.logs import LogLimits, TakenLog, total_masked
from analyzer.collect.manifest import Cluster, Outcome, Times
from analyzer.collect.objects import Tally
from analyzer.collect.pace import Pace
from analyzer.collect.pods import MAX_PER_OWNER, MAX_PODS, PodWatch
from analyzer.redact import configure

Progress = Callable[[str, int, int], None]
BURST = 20
"""Requests that are made at once before the rate limit counts."""
LOG_THREADS = 8


@dataclass(frozen=True, slots=True)
class Options:
    """What a collection is to do.

    Attributes:
        identity: how the cluster is reached.
        namespaces: only these (None: the whole cluster).
        include: further groups or resources (GROUP or PLURAL.GROUP, patterns).
        secret_keys: keep types and key names of Secrets; their values then pass through this process.
        logs: how much of logs; None: none.
        request_timeout: seconds for one request.
        total_timeout: seconds for the whole.
        rate: requests a second.
        threads: lists taken at the same time.
        compression: `gzip` or `zstd`.
    """

    identity: Identity
    namespaces: tuple[str, ...] | None
    include: tuple[str, ...]
    secret_keys: bool
    logs: LogLimits | None
    request_timeout: float
    total_timeout: float
    rate: float
    threads: int
    compression: str


@dataclass(frozen=True, slots=True)
class Result:
    """The bundle that was written, and how the collection went."""

    path: Path
    outcome: Outcome


def collect(options: Options, target: Path | None, check: Callable[[Path], None], tell: Progress) -> Result:
    """Collects a cluster into one tarball.

    Args:
        options: what to do.
        target: where the bundle goes; None: a name of its own in the current folder.
        check: is called with the final name before the cluster is asked for more than its version.
        tell: progress: stage, done, total.

    Raises:
        UsageError: the configuration is wrong, or no namespace of that name is there.
        ClusterError: the cluster cannot be reached, or nothing of it may be read.
        OSError: the bundle cannot be written.
    """
    started = datetime.now(UTC)
    connection = connect(options.identity, options.threads + LOG_THREADS)
    path = target or Path(default_name(connection, started, options.compression))
    check(path)
    pace = Pace(options.rate, BURST, options.total_timeout)
    api = Api(connection, pace, options.request_timeout)
    leftover.sweep(path)
    with tempfile.TemporaryDirectory(prefix=leftover.PREFIX, ignore_cleanup_errors=True) as folder:
        with _first_interrupt_ends(pace):
            cluster, found = _look(api, pace, connection, options, tell)
            gathered = _gather(api, pace, connection, options, found, Path(folder), tell)
        outcome = Outcome(
            cluster=cluster,
            times=Times(started, datetime.now(UTC), api.clock.first, api.clock.last),
            namespaces=options.namespaces,
            options=_option_values(options, connection),
            interrupted=pace.reason,
            requests=gathered.requests,
            logs=gathered.logs,
            left_out=gathered.left_out,
            redacted=gathered.redacted,
        )
        _something(outcome)
        tell("writing the bundle", 0, 0)
        with archive.writing(path, options.compression) as bundle:
            write.bundle(bundle, outcome, gathered.taken)
    return Result(path, outcome)


@contextmanager
def _first_interrupt_ends(pace: Pace) -> Iterator[None]:
    """The first Ctrl-C ends the collection, which keeps what there is; the second one ends the program."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def end(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        pace.stop("Ctrl-C")

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _look(api: Api, pace: Pace, connection: Connection, options: Options, tell: Progress) -> tuple[Cluster, Discovered]:
    """Which cluster it is and what it serves.

    Raises:
        ClusterError, UsageError: as `collect`.
    """
    tell("asking the API server", 0, 0)
    try:
        cluster = _cluster(api, connection)
        # Before the server's words are masked, which stand in the manifest.
        configure(placeholder_key(cluster.uid))
        _check_namespaces(api, options.namespaces)
        return cluster, discover(api, plan.load(), options.include)
    except Stopped as error:
        raise ClusterError(f"nothing was collected: {pace.reason}") from error
    except RequestError as error:
        raise ClusterError(f"the API server does not say what it serves: {error.message}") from error


@dataclass(slots=True)
class _Gathered:
    taken: list[Taken]
    requests: list[Request]
    logs: list[TakenLog]
    left_out: Counter[tuple[str, str]]
    redacted: Counter[str]


def _gather(
    api: Api, pace: Pace, connection: Connection, options: Options, found: Discovered, folder: Path, tell: Progress
) -> _Gathered:
    rules = plan.load()
    watch = PodWatch(rules.logs, rules.configmaps.of_nodes, api.clock.last or datetime.now(UTC))
    contents = Contents(rules.configmaps, of_nodes=watch.of_nodes)
    gatherer = Gatherer(
        api=api,
        pace=pace,
        plan=rules,
        contents=contents,
        watch=watch,
        folder=folder,
        namespaces=options.namespaces,
        fallback=connection.namespace,
        secret_keys=options.secret_keys,
        threads=options.threads,
        tell=tell,
    )
    taken = gatherer.lists(found.resources)
    logs: list[TakenLog] = []
    left_out: Counter[tuple[str, str]] = Counter()
    if options.logs is not None:
        logs = gatherer.logs(watch.wanted(), options.logs, LOG_THREADS)
        left_out["logs of pods", "nothing is wrong with them and no rule reads them"] += watch.healthy
        left_out["logs of pods", f"more than {MAX_PER_OWNER} unhealthy pods of one owner"] += watch.crowded
        left_out["logs of pods", f"more than {MAX_PODS} pods"] += watch.too_many
    else:
        left_out["logs", "--no-logs"] += 1
    tally = Tally()
    for entry in taken:
        tally.add(entry.tally)
    left_out.update(tally.left_out)
    for name, why in found.never:
        left_out[name, why] += 1
    for name in found.unplanned:
        left_out[name, "not in the plan; --include takes it"] += 1
    for name in found.unknown:
        left_out[f"--include {name}", "the cluster has no such group or resource"] += 1
    for name, why in gatherer.instead:
        left_out[name, why] += 1
    groups = [
        Request(WHOLE_GROUP, entry.group, entry.version, "", False, "", entry.outcome, entry.status, entry.message, 0, 0)  # noqa: FBT003
        for entry in found.groups
    ]
    return _Gathered(
        taken,
        [request for entry in taken for request in entry.requests] + groups,
        logs,
        +left_out,
        tally.masked + total_masked(logs),
    )


def default_name(connection: Connection, started: datetime, compression: str) -> str:
    """`triage-CONTEXT-TIME.tar.gz`; without a context the cluster's name, or the server's."""
    name = connection.context or connection.cluster or urlsplit(connection.host).hostname or "cluster"
    safe = "".join(char if char.isalnum() or char in "._-" else "-" for char in name)[:100].strip(".-") or "cluster"
    return f"triage-{safe}-{started:%Y%m%dT%H%M%SZ}{archive.ENDINGS[compression]}"


def _cluster(api: Api, connection: Connection) -> Cluster:
    """Which cluster answers.

    Raises:
        ClusterError: none does, or it does not know who asks.
    """
    version: dict[str, Any] = {}
    try:
        version = _object(api.get("/version"))
    except RequestError as error:
        if error.status is None or error.status == 401 or error.status >= 500:
            raise ClusterError(_unreachable(error, connection)) from error
    except TooLargeError as error:
        raise ClusterError(f"what answers at {_shown(connection)} is no API server") from error
    uid: object = None
    try:
        uid = (_object(api.get("/api/v1/namespaces/kube-system")).get("metadata") or {}).get("uid")
    except RequestError as error:
        if error.status == 401:
            raise ClusterError(_unreachable(error, connection)) from error
    except (TooLargeError, AttributeError):
        pass
    return Cluster(_text(uid), _text(version.get("gitVersion")), _text(version.get("platform")))


def _unreachable(error: RequestError, connection: Connection) -> str:
    where = _shown(connection)
    if error.status == 401:
        return f"{where} does not accept these credentials (401 {error.message}): log in anew, or use another --context"
    if error.status is None:
        return f"{where} cannot be reached: {error.message}"
    return f"{where} answers with {error.status}: {error.message}"


def _shown(connection: Connection) -> str:
    """The server, without what may be secret in its URL."""
    parts = urlsplit(connection.host)
    return f"{parts.scheme}://{parts.hostname or '?'}" + (f":{parts.port}" if parts.port else "")


def _check_namespaces(api: Api, namespaces: Sequence[str] | None) -> None:
    for name in namespaces or ():
        try:
            api.get(f"/api/v1/namespaces/{quote(name, safe='')}")
        except RequestError as error:
            if error.status == 404:
                raise UsageError(f"the cluster has no namespace {name}") from error
        except TooLargeError:
            continue


def _something(outcome: Outcome) -> None:
    """Raises `ClusterError` where nothing at all could be read: a bundle of that would say nothing."""
    if any(request.objects or request.outcome == "ok" for request in outcome.requests):
        return
    first = next((entry for entry in outcome.requests if entry.outcome == "forbidden"), None)
    if first is not None:
        raise ClusterError(f"no permission to read anything of the cluster: {first.message}")
    message = next((entry.message for entry in outcome.requests if entry.message), None) or "it serves nothing of the plan"
    raise ClusterError(f"nothing was collected: {outcome.interrupted or message}")


def _option_values(options: Options, connection: Connection) -> dict[str, Any]:
    logs = options.logs
    return {
        "includeSecretKeys": options.secret_keys,
        "since": f"{logs.since}s" if logs and logs.since is not None else None,
        "maxLogBytes": logs.each if logs else 0,
        "maxTotalLogBytes": logs.total if logs else 0,
        "include": sorted(options.include),
        "as": connection.user,
    }


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
