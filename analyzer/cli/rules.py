"""`triage rules list|show|test|new`: the rule catalogue, its documentation, its tests, and a new rule."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.bundle.errors import UsageError
from analyzer.cli.rules_new import new
from analyzer.render.escape import opening

if TYPE_CHECKING:
    from analyzer.engine.rule import Rule

rules_app = typer.Typer(no_args_is_help=True, help="The rule catalogue, its documentation, its tests; a new rule.")
rules_app.command("new")(new)

_CODE = re.compile(r"^code:\s*[\"']?([\w-]+)/", re.MULTILINE)

PackOption = Annotated[list[Path] | None, typer.Option("--rules", metavar="DIR", help="A further rule pack (repeatable).")]


@rules_app.command("list")
def list_rules(rules: PackOption = None) -> None:
    """Every rule: code, severity, age from which it stands, what it is about."""
    from analyzer.engine.pack import load_packs

    packs = load_packs(rules or [])
    rows = sorted((rule.code, rule.severity, _ages(rule), _plain(rule.why)) for pack in packs for rule in pack.rules)
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    # A pipe gets the sentence whole: nothing there has an edge.
    room = max(20, shutil.get_terminal_size().columns - sum(widths) - 6) if sys.stdout.isatty() else sys.maxsize
    for row in rows:
        typer.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)) + f"  {opening(row[3], room)}")
    broken = [one for pack in packs for one in pack.broken]
    for one in broken:
        typer.echo(f"broken: {one.code}: {one}")
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
                typer.echo(_described(rule))
                return
        for broken in pack.broken:
            if broken.code == code:
                typer.echo(f"{broken.code} is broken: {broken}")
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
        Path | None, typer.Argument(metavar="[PATH]", help="A rule pack, a rule or a cases file.", show_default=False)
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
                typer.echo(problem)
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


def _ages(rule: Rule) -> str:
    """The age limits of a rule in words."""
    from analyzer import times

    parts = []
    if rule.after:
        parts.append(f"after {times.age(rule.after.total_seconds())}")
    if rule.fades:
        parts.append(f"info after {times.age(rule.fades.total_seconds())}")
    return ", ".join(parts) or "at once"


def _plain(text: str) -> str:
    """A text on one line, as it is written."""
    return " ".join(text.split())


def _described(rule: Rule) -> str:
    needs = ", ".join(str(need) for need in rule.needs) or "nothing in particular"
    lines = [
        rule.code,
        "",
        f"Severity    {rule.severity}",
        f"Stands      {_ages(rule)}",
        f"Who acts    {rule.owner}; waiting helps: {rule.waiting}; {rule.basis}",
        f"Needs       {needs}{' (one of them)' if rule.any_of else ''}",
        f"File        {rule.place}",
        "",
        f"Title (template)  {_plain(rule.title.source)}",
        "",
        rule.why,
        "",
        "Explains",
        *(f"  {', '.join(link.codes)} along {', '.join(link.along) or 'the same object'}" for link in rule.explains),
        "",
        "Read more",
        *(f"  {link}" for link in rule.references),
        "",
        "Query",
        *(f"  {line}" for line in rule.query.splitlines()),
    ]
    if not rule.explains:
        at = lines.index("Explains")
        del lines[at : at + 2]
    return "\n".join(lines)
