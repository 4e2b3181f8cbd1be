"""`triage logs`: the whole log of a pod, or those of a workload's pods merged by time."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.bundle.errors import UsageError
from analyzer.case import loaded
from analyzer.cli import paths, prepare, progress
from analyzer.cli.errors import UNREADABLE, fail
from analyzer.render.escape import one_line
from analyzer.workspace import workspace

if TYPE_CHECKING:
    import duckdb

    from analyzer.logs.model import Log, Pod
    from analyzer.logs.originals import Lost, Original
    from analyzer.store.lookup import Asked

_MAX_LISTED = 20

WhatArgument = Annotated[
    str,
    typer.Argument(
        metavar="KIND/NAME",
        parser=paths.word,
        help="pod/NAME, or what makes pods: deployment/NAME, job/NAME…",
        show_default=False,
    ),
]


def logs(
    bundle: paths.BundleArgument,
    what: WhatArgument,
    namespace: Annotated[
        str | None, typer.Option("-n", "--namespace", metavar="NS", parser=paths.word, help="Its namespace.", show_default=False)
    ] = None,
    container: Annotated[
        str | None,
        typer.Option(
            "-c", "--container", metavar="CONTAINER", parser=paths.word, help="Only this container.", show_default=False
        ),
    ] = None,
    previous: Annotated[bool, typer.Option("-p", "--previous", help="The run before the present one.")] = False,
    role: Annotated[
        str | None,
        typer.Option("--role", metavar="ROLE", help="Of a Ray object: head, workers or submitter.", show_default=False),
    ] = None,
    bundles: Annotated[
        list[Path] | None,
        typer.Option(
            "--bundle",
            metavar="PATH",
            parser=paths.given,
            help="Of a report: where its bundle lies now (repeatable).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print the logs that the bundle has of a pod, or merged by time those of a workload's pods. Secrets are masked."""
    from analyzer.cli import target
    from analyzer.logs.model import ROLES, NoLogError
    from analyzer.store.lookup import asked

    wanted = asked(what)
    if role is not None and role not in ROLES:
        raise UsageError(f"unknown role {role!r}: one of {', '.join(ROLES)}")
    stored = prepare.stored_database(bundle)
    if bundles and not stored:
        raise UsageError("--bundle tells where the bundle of a report lies, and BUNDLE is no report")
    with _opened(bundle, stored) as case:
        from analyzer.logs import choose, output
        from analyzer.logs.merge import Clock

        try:
            pods, workload = _whose(case.con, wanted, namespace, role)
            series, missing = choose.series_of(case.con, pods, container or None, previous=previous)
            sources = _sources(case, stored, bundles or [], [log for one in series for log in one.logs])
            clock = Clock(_collected(case.con)) if workload else None
            for words in missing:
                _tell(words)
            output.print_logs(series, sources, case.folder, output.Out(sys.stdout.write, _tell), clock)
        except NoLogError as error:
            fail(str(error), target.NOT_THERE)
        except output.NothingStoredError as error:
            fail(str(error), UNREADABLE)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A database to look things up in; `bundle` is where its input lies, None for a report, whose inputs are to be found."""

    con: duckdb.DuckDBPyConnection
    bundle: Path | None
    folder: Path


@contextlib.contextmanager
def _opened(bundle: Path, stored: Path | None) -> Iterator[_Opened]:
    """A report's database as it is, or one of any other input with its objects and logs."""
    if stored:
        from analyzer.store.reading import reading

        with workspace() as folder, reading(stored) as con:
            yield _Opened(con, None, folder)
        return
    with progress.shown() as tell:
        # The bar is gone before the first line is printed.
        context = loaded(bundle, tell)
        case = context.__enter__()
    with contextlib.ExitStack() as stack:
        stack.push(context.__exit__)
        yield _Opened(case.con, case.path, case.folder)


def _whose(con: duckdb.DuckDBPyConnection, wanted: Asked, namespace: str | None, role: str | None) -> tuple[list[Pod], bool]:
    """The pods that are meant, and whether they are those of a workload. A pod may be known by its logs alone."""
    from analyzer.cli import target
    from analyzer.logs import choose, pods
    from analyzer.logs.model import Pod
    from analyzer.store.lookup import AmbiguousError, NotInBundleError, kinds_meant, lookup

    try:
        lookup(con, wanted, namespace)
    except NotInBundleError:
        found = choose.namespaces_with(con, wanted.name, namespace or None) if ("", "Pod") in kinds_meant(con, wanted) else []
        if len(found) > 1:
            there = ", ".join(found[:_MAX_LISTED])
            raise UsageError(f"there are logs of pods {wanted.name} in several namespaces, say which with -n: {there}") from None
        if found:
            return [Pod(found[0], wanted.name)], False
    except AmbiguousError:
        # Told of below.
        pass
    one = target.find(con, wanted, namespace)
    if (one.group, one.kind) == ("", "Pod"):
        if role is not None:
            pods.check_role(one, role)
        return [pods.the_pod(con, one)], False
    return pods.pods_of(con, one, role), True


def _sources(case: _Opened, stored: Path | None, given: list[Path], needed: list[Log]) -> dict[int, Original | Lost]:
    """Where each input of the logs can be read."""
    from analyzer.logs.originals import Original, originals

    if stored is None and case.bundle is not None:
        return {0: Original(case.bundle)}
    if stored is None:
        return {}
    made_by = dict(case.con.execute("SELECT key, value FROM meta").fetchall()).get("tool-version")
    return originals(case.con, stored, given, needed, made_by)


def _collected(con: duckdb.DuckDBPyConnection) -> datetime | None:
    row = con.execute("SELECT max(collected_at) FROM inputs").fetchone()
    return row[0] if row else None


def _tell(words: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(f"note: {one_line(words)}", file=sys.stderr)
