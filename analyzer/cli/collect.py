"""`triage collect`: a live cluster into one redacted tarball."""

from __future__ import annotations

import enum
import errno
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer import times
from analyzer.bundle.errors import UsageError
from analyzer.cli import progress
from analyzer.render.escape import one_line

if TYPE_CHECKING:
    from analyzer.collect.run import Result

_SIZE = re.compile(r"(\d{1,12})\s*(?:([kmg])(?:i?b)?|b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_MAX_LOG = 64 << 20
"""The largest cap for one log: it is masked in memory."""
_NAMED = 5
"""How many resources a warning names."""


class Compression(enum.StrEnum):
    """How the tarball is compressed."""

    gzip = "gzip"
    zstd = "zstd"


def collect(
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The bundle. Default: triage-CONTEXT-TIME.tar.gz here.",
            show_default=False,
        ),
    ] = None,
    namespaces: Annotated[
        list[str] | None,
        typer.Option(
            "-n",
            "--namespace",
            metavar="NS",
            help="Only this namespace (repeatable).",
            show_default=False,
        ),
    ] = None,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            "--kubeconfig",
            metavar="FILE",
            help="Default: $KUBECONFIG, else ~/.kube/config, else the account of the pod.",
            show_default=False,
        ),
    ] = None,
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="NAME",
            help="Context of the kubeconfig. Default: its current one.",
            show_default=False,
        ),
    ] = None,
    as_user: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="USER",
            help="Impersonate this user.",
            show_default=False,
        ),
    ] = None,
    as_groups: Annotated[
        list[str] | None,
        typer.Option(
            "--as-group",
            metavar="GROUP",
            help="Impersonate this group too (repeatable).",
            show_default=False,
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include",
            metavar="GROUP",
            help="A further API group, or RESOURCE.GROUP; * stands for any text (repeatable).",
            show_default=False,
        ),
    ] = None,
    include_secret_keys: Annotated[
        bool,
        typer.Option(
            "--include-secret-keys", help="Types and names of keys of Secrets too. Their values are read and thrown away."
        ),
    ] = False,
    no_logs: Annotated[bool, typer.Option("--no-logs", help="No logs at all.")] = False,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Only log lines younger than this, such as 6h or 2d.",
            show_default=False,
        ),
    ] = None,
    max_log_bytes: Annotated[
        str, typer.Option("--max-log-bytes", metavar="SIZE", help="At most this of one log, its newest part.")
    ] = "5M",
    max_total_log_bytes: Annotated[
        str, typer.Option("--max-total-log-bytes", metavar="SIZE", help="At most this of all logs together.")
    ] = "256M",
    compress: Annotated[Compression, typer.Option("--compress", help="How the tarball is compressed.")] = Compression.gzip,
    timeout: Annotated[
        str,
        typer.Option(
            "--timeout",
            metavar="TIME",
            help="For the whole collection; what was read by then is kept.",
        ),
    ] = "15m",
    request_timeout: Annotated[str, typer.Option("--request-timeout", metavar="TIME", help="For one request.")] = "60s",
    rate: Annotated[int, typer.Option("--qps", min=1, max=1000, metavar="N", help="Requests a second at most.")] = 25,
    threads: Annotated[int, typer.Option("--concurrency", min=1, max=32, metavar="N", help="Lists taken at the same time.")] = 4,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_script: Annotated[
        bool, typer.Option("--script", help="Print a shell script that does the same with kubectl alone; nothing is collected.")
    ] = False,
) -> None:
    """Collect a live cluster into one redacted tarball, reading only. Secrets' values never leave the server."""
    if as_script:
        from analyzer.collect.script import script

        sys.stdout.write(script())
        return
    from analyzer.collect.connect import Identity, require_client

    require_client()
    from analyzer.collect import run
    from analyzer.collect.logs import LogLimits

    for name in namespaces or ():
        if not _NAMESPACE.fullmatch(name):
            raise UsageError(f"-n {name!r} is no name of a namespace")
    if as_groups and not as_user:
        raise UsageError("--as-group needs --as")
    limits = None
    if not no_logs:
        seconds = _seconds("--since", since) if since is not None else None
        each = _bytes("--max-log-bytes", max_log_bytes)
        if each > _MAX_LOG:
            raise UsageError(f"--max-log-bytes is at most {_MAX_LOG >> 20}M")
        limits = LogLimits(seconds, each, _bytes("--max-total-log-bytes", max_total_log_bytes))
    options = run.Options(
        identity=Identity(kubeconfig, context, as_user, tuple(as_groups or ())),
        namespaces=tuple(dict.fromkeys(namespaces)) if namespaces else None,
        include=tuple(include or ()),
        secret_keys=include_secret_keys,
        logs=limits,
        request_timeout=float(_seconds("--request-timeout", request_timeout)),
        total_timeout=float(_seconds("--timeout", timeout)),
        rate=float(rate),
        threads=threads,
        compression=compress.value,
    )
    try:
        with progress.shown() as tell:
            result = run.collect(options, out, lambda path: _check(path, force=force), tell)
    except OSError as error:
        # A full disk has an error message of its own.
        if error.errno == errno.ENOSPC:
            raise
        raise UsageError(f"the bundle cannot be written: {error.strerror or error}") from error
    _summary(result)


def _check(path: Path, *, force: bool) -> None:
    """Can the bundle be written there; told before anything is collected."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder: give the name of a file")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no file that could be replaced")
    if path.exists() and not force:
        raise UsageError(f"{path} exists: give another -o FILE, or --force to replace it")
    probe = path.with_name(f".{path.name}.probe")
    try:
        probe.open("xb").close()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or type(error).__name__}") from error


def _summary(result: Result) -> None:
    outcome = result.outcome
    objects = sum(request.objects for request in outcome.requests)
    logs = sum(1 for log in outcome.logs if log.path is not None)
    megabytes = result.path.stat().st_size / (1 << 20)
    typer.echo(f"{one_line(str(result.path))}: {objects} objects, {logs} logs, {megabytes:.1f} MB")
    for what, why in sorted(outcome.left_out):
        if what.startswith("--include "):
            _warn(f"{what}: {why}")
    if outcome.interrupted:
        _warn(f"the collection ended early ({outcome.interrupted}): the bundle holds what there was until then")
    for name, words in (("forbidden", "forbidden"), ("other", "not complete")):
        lists = sorted(
            {
                f"{request.resource}.{request.group}" if request.group else request.resource
                for request in outcome.requests
                if request.outcome not in {"ok", "not-served"} and (request.outcome == "forbidden") == (name == "forbidden")
            }
        )
        if lists:
            more = f" and {len(lists) - _NAMED} more" if len(lists) > _NAMED else ""
            _warn(f"{len(lists)} {'lists' if len(lists) > 1 else 'list'} {words}: {', '.join(lists[:_NAMED])}{more}")
    refused = sum(1 for log in outcome.logs if log.outcome in {"forbidden", "failed", "timed-out", "skipped"})
    if refused:
        _warn(f"{refused} {'logs' if refused > 1 else 'log'} could not be taken; triage-manifest.json in the bundle says why")


def _warn(text: str) -> None:
    print(f"warning: {one_line(text)}", file=sys.stderr)


def _seconds(option: str, text: str) -> int:
    try:
        seconds = int(times.duration(text).total_seconds())
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option} takes a time such as 30s, 10m, 6h or 2d, not {text!r}") from error
    if not 1 <= seconds <= 10**9:
        raise UsageError(f"{option} is at least a second")
    return seconds


def _bytes(option: str, text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    size = int(found[1]) * _UNITS[(found[2] or "").lower()] if found else 0
    if not 1024 <= size <= 1 << 40:
        raise UsageError(f"{option} takes a size of at least 1K, such as 500K, 5M or 1G, not {text!r}")
    return size
