"""`triage analyze BUNDLE`: the main job."""

from __future__ import annotations

import enum
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer import times
from analyzer.bundle.errors import UsageError
from analyzer.bundle.stdin import STDIN
from analyzer.case import Options, analyze_case
from analyzer.cli import output, paths, prepare, progress
from analyzer.memory import parse_limit

if TYPE_CHECKING:
    from analyzer.engine.model import Report

FORMATS = ("html", "md", "json")


class FailOn(enum.StrEnum):
    """From which severity on the exit code is 1."""

    error = "error"
    warning = "warning"
    never = "never"


class Language(enum.StrEnum):
    """Languages that findings may be told in."""

    en = "en"
    ru = "ru"


def analyze(
    bundles: Annotated[
        list[Path],
        typer.Argument(
            metavar="BUNDLE...",
            parser=paths.given,
            help="A folder, an archive, a single file, or - for standard input. Several are one case.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", parser=paths.given, help="Where the reports go. Default: NAME.triage here."
        ),
    ] = None,
    formats: Annotated[str, typer.Option("--format", metavar="LIST", help="Which reports: html, md, json.")] = "html,md,json",
    rules: Annotated[
        list[Path] | None, typer.Option("--rules", metavar="DIR", parser=paths.given, help="A further rule pack (repeatable).")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="Measure ages at this time instead of the end of the collection."),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit 1 where a finding has this severity or a worse one.")
    ] = FailOn.never,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, max=64, metavar="N", help="Parse processes. Default: one per core.")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            "--memory-limit",
            metavar="SIZE",
            help="Memory to keep to, such as 2GB, in all. Default: 4GiB a parse process, 1GiB for the database.",
        ),
    ] = None,
    lang: Annotated[
        Language,
        typer.Option("--lang", help="Language of findings about inference orders; all others are told in English."),
    ] = Language.en,
) -> None:
    """Analyze the bundles of one case: DIR/report.html, report.md, report.json and bundle.duckdb, and a summary here."""
    from analyzer.engine.pack import load_packs

    chosen = _formats(formats)
    memory = None if memory_limit is None else parse_limit(memory_limit)
    options = Options(as_of=_time(as_of), jobs=jobs, memory_limit=memory, language=lang.value)
    packs = load_packs(rules or [])
    stored = [found for bundle in bundles if (found := prepare.stored_database(bundle))]
    if stored and len(bundles) > 1:
        raise UsageError("a report stands for a whole case and is given alone")
    if bundles.count(STDIN) > 1:
        raise UsageError("- stands for standard input and can be given once")
    folder = out or output.default_folder(stored[0].parent if stored else bundles[0])
    # A report may be made anew in its own place: all of it is read before it is replaced.
    output.check(folder, [] if stored else bundles)
    with output.replaced(folder) as staging, progress.shown() as tell:
        if stored:
            from analyzer.again import analyze_again

            report = analyze_again(stored[0], packs, staging / "bundle.duckdb", options, tell)
        else:
            report = analyze_case(bundles, packs, staging / "bundle.duckdb", options, tell)
        tell("writing reports", 0, 0)
        _write(report, staging, chosen)
    _summary(report, folder, chosen)
    worst = {FailOn.error: ("error",), FailOn.warning: ("error", "warning"), FailOn.never: ()}[fail_on]
    if any(finding.severity in worst for finding in report.findings):
        raise typer.Exit(1)


def _formats(text: str) -> tuple[str, ...]:
    asked = [part.strip().lower() for part in text.split(",") if part.strip()]
    unknown = [part for part in asked if part not in FORMATS]
    if unknown or not asked:
        raise UsageError(f"--format takes html, md and json, separated by commas, not {text!r}")
    return tuple(name for name in FORMATS if name in asked)


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    found = times.parse(text)
    if found is None:
        raise UsageError(f"--as-of takes a time such as 2026-11-01T12:00:00Z, not {text!r}")
    return found


def _write(report: Report, folder: Path, formats: tuple[str, ...]) -> None:
    from analyzer.render import html, json, markdown

    if "json" in formats:
        (folder / "report.json").write_bytes(json.report_json(report))
    if "md" in formats:
        (folder / "report.md").write_text(markdown.report_markdown(report), encoding="utf-8")
    if "html" in formats:
        (folder / "report.html").write_text(html.report_html(report), encoding="utf-8")


def _summary(report: Report, folder: Path, formats: tuple[str, ...]) -> None:
    from rich.console import Console

    from analyzer.render import terminal

    class Piped(Console):
        """A console whose reader may leave: Rich would end the program with the code of a finding."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    terminal.print_summary(report, folder, Piped(), formats)
