"""`triage rules list|show|test|new`: the rule catalogue, its documentation, its tests, and a new rule."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.bundle.errors import UsageError
from analyzer.cli import paths
from analyzer.cli.rules_new import new
from analyzer.render.escape import one_line, opening, visible

if TYPE_CHECKING:
    from analyzer.engine.rule import Cause, Rule

rules_app = typer.Typer(no_args_is_help=True, help="The rule catalogue, its documentation, its tests; a new rule.")
rules_app.command("new")(new)

_LEAST_WORDS = 60
"""Columns that the words of a rule need beside the rest of its line; with fewer they go below it."""

_CODE = re.compile(r"^code:\s*[\"']?([\w-]+)/", re.MULTILINE)

PackOption = Annotated[
    list[Path] | None, typer.Option("--rules", metavar="DIR", parser=paths.given, help="A further rule pack (repeatable).")
]


@rules_app.command("list")
def list_rules(
    words: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help="Only rules with this in code or words, such as gpu/.", show_default=False),
    ] = None,
    rules: PackOption = None,
) -> None:
    """Every rule: code, severity, age from which it stands, what it is about."""
    from analyzer.engine.pack import load_packs
    from analyzer.engine.rulewords import stands

    packs = load_packs(rules or [])
    wanted = (words or "").lower()
    rows = sorted(
        (rule.code, rule.severity, stands(rule), _plain(rule.why))
        for pack in packs
        for rule in pack.rules
        if wanted in f"{rule.code} {rule.why} {rule.title.source}".lower()
    )
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    # A pipe gets the sentence whole: nothing there has an edge.
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    beside = edge - sum(widths) - 6
    for row in rows:
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False))
        # Beside the columns a narrow terminal has no room for a sentence; below them it has.
        below = beside < _LEAST_WORDS
        typer.echo(f"{line.rstrip()}\n    {opening(row[3], edge - 4)}" if below else f"{line}  {opening(row[3], beside)}")
    broken = [one for pack in packs for one in pack.broken if wanted in one.code.lower()]
    for one in broken:
        typer.echo(f"broken: {one.code}: {one_line(str(one))}")
    typer.echo(f"rules: {len(rows)}{f', {len(broken)} broken' if broken else ''}")


@rules_app.command("show")
def show(
    code: Annotated[str, typer.Argument(metavar="CODE", help="Such as pod/CrashLooping.", show_default=False)],
    rules: PackOption = None,
) -> None:
    """One rule: what it means, what it needs, its thresholds, its sources and its query."""
    from analyzer.engine.pack import load_packs

    packs = load_packs(rules or [])
    code = _whole_code(code, [code for pack in packs for code in pack.codes])
    for pack in packs:
        for rule in pack.rules:
            if rule.code == code:
                typer.echo(_described(rule, pack.folder))
                return
        for broken in pack.broken:
            if broken.code == code:
                typer.echo(f"{broken.code} is broken: {one_line(str(broken))}")
                raise typer.Exit(1)


def _whole_code(asked: str, codes: Iterable[str]) -> str:
    """The code that is meant, whatever its case; its domain may be left out where only one has a rule of that name.

    Raises:
        UsageError: there is none, or there are several.
    """
    wanted = asked.lower()
    found = sorted({code for code in codes if wanted in (code.lower(), code.lower().partition("/")[2])})
    if not found:
        raise UsageError(f"no rule has the code {asked!r}; `triage rules list` shows them all")
    if len(found) > 1:
        raise UsageError(f"several rules are called {asked!r}: {', '.join(found)}")
    return found[0]


@rules_app.command("test")
def run_cases(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="[PATH]", parser=paths.given, help="A rule pack, a rule or a cases file.", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=16, metavar="N", help="Processes.")] = 2,
) -> None:
    """Run the rules' cases and hold every rule to what it must have. Exit 1 where something fails."""
    from analyzer.engine.case_run import run_all

    folder, codes = _selected(path)
    passed, failed = 0, 0
    for outcome in run_all(folder, codes, jobs):
        if outcome.problems:
            failed += 1
            for problem in outcome.problems:
                typer.echo(one_line(problem))
        else:
            passed += outcome.cases
    if failed:
        typer.echo(f"rules: {failed} {'rule fails' if failed == 1 else 'rules fail'}, {passed} cases of the others pass")
        raise typer.Exit(1)
    if not passed:
        raise UsageError(f"no rules at {path}" if path else "no rules")
    typer.echo(f"rules: {passed} cases pass")


def _selected(path: Path | None) -> tuple[Path | None, tuple[str, ...]]:
    """The pack that a path lies in, and the codes that it means: a pack, a domain's folder, a rule or its cases."""
    from analyzer.engine.pack import CASES_SUFFIX, code_of, no_rules, rule_files
    from analyzer.engine.signature_file import SUFFIX as SIGNATURES_SUFFIX

    if path is None:
        return None, ()
    given, path = path, path.resolve()
    if path.is_file() and path.name.endswith(SIGNATURES_SUFFIX):
        path = path.parent
    if path.is_file() and path.suffix == ".yaml":
        return path.parent.parent, (code_of(path),)
    if not path.is_dir():
        raise UsageError(f"no rules at {path}")
    if rule_files(path):
        return path, ()
    files = [one for one in sorted(path.glob("*.yaml")) if not one.name.endswith((CASES_SUFFIX, SIGNATURES_SUFFIX))]
    if all(_domain_said(one) not in (None, path.name) for one in files):
        raise no_rules(given)
    return path.parent, tuple(code_of(one) for one in files)


def _domain_said(path: Path) -> str | None:
    """The domain in the code that a rule file gives itself, None where it gives none that can be read."""
    try:
        found = _CODE.search(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return found[1] if found else None


def _plain(text: str) -> str:
    """A text on one line, everything in it visible."""
    return one_line(text)


def _described(rule: Rule, folder: Path) -> str:
    from analyzer.engine.rulewords import needs, stands

    lines = [
        rule.code,
        "",
        f"Severity    {rule.severity}",
        f"Stands      {stands(rule)}",
        f"Who acts    {rule.owner}; waiting helps: {rule.waiting}; {rule.basis}",
        f"Needs       {needs(rule)}",
        f"File        {rule.place}",
        f"Cases       {_cases(rule, folder)}",
        "",
        f"Title (template)  {_plain(rule.title.source)}",
        "",
        rule.why,
        *_section("What to do (templates)", [_plain(step.source) for step in rule.next]),
        *_section("Explains", _linked(rule.explains)),
        *_section("Explained by", _linked(rule.explained_by)),
        *_section("Read more", rule.references),
        *_section("Query", rule.query.splitlines()),
        *_section("Abstains for", rule.abstain.splitlines() if rule.abstain else []),
    ]
    return visible("\n".join(lines))


def _section(title: str, lines: Sequence[str]) -> list[str]:
    """A heading and its lines; nothing where there are none."""
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def _linked(causes: Sequence[Cause]) -> list[str]:
    return [f"{', '.join(one.codes)} along {', '.join(one.along) or 'the same object'}" for one in causes]


def _cases(rule: Rule, folder: Path) -> str:
    """How many cases a rule has, and where."""
    from analyzer.engine.case_file import read_cases
    from analyzer.engine.pack import CASES_SUFFIX
    from analyzer.engine.yamltext import YamlError

    path = folder / f"{rule.code}{CASES_SUFFIX}"
    try:
        return f"{len(read_cases(path, path.name))} in {path.name}" if path.is_file() else "none"
    except YamlError as error:
        return f"cannot be read: {error}"
