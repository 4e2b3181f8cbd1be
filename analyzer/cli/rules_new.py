"""`triage rules new`: a rule and its cases from flags, or from questions where there is a terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from analyzer.bundle.errors import UsageError
from analyzer.cli import paths

if TYPE_CHECKING:
    from analyzer.engine.scaffold.answers import Shape

DEFAULT_PACK = Path("triage-rules")
"""The pack in the working directory that new rules go to."""

WHAT = "What to look for"

T = TypeVar("T")

SHAPES = {
    "condition": "a condition in the status, such as Ready=False/QuotaSpent",
    "event": "an event with a reason, such as FailedMount",
    "field": "a field that has a value, lacks it or is not set",
    "log": "a text in the log of a pod",
    "state": "a state, as in the table states of triage sql",
}
MODES = {"has": "has a value", "lacks": "does not have a value", "unset": "is not set"}


@dataclass(frozen=True, slots=True)
class _Flags:
    """What was given of the shape."""

    kind: str | None
    condition: str | None
    event: str | None
    field: str | None
    has: str | None
    lacks: str | None
    unset: bool
    state: str | None
    log: str | None

    @property
    def chosen(self) -> list[str]:
        """The shapes that were given."""
        return [name for name in SHAPES if getattr(self, name) is not None]


def new(
    code: Annotated[str, typer.Argument(metavar="CODE", help="DOMAIN/Name, such as acme/MirrorFull.", show_default=False)],
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Pod, Deployment, Widget.example.com …", rich_help_panel=WHAT)
    ] = None,
    condition: Annotated[
        str | None,
        typer.Option("--condition", metavar="TYPE=STATUS[/REASON]", help="A condition of its status.", rich_help_panel=WHAT),
    ] = None,
    event: Annotated[
        str | None, typer.Option("--event", metavar="REASON", help="An event about it.", rich_help_panel=WHAT)
    ] = None,
    field: Annotated[
        str | None, typer.Option("--field", metavar="PATH", help="A field: spec.containers[*].image.", rich_help_panel=WHAT)
    ] = None,
    has: Annotated[str | None, typer.Option("--has", metavar="VALUE", help="… has this value.", rich_help_panel=WHAT)] = None,
    lacks: Annotated[
        str | None, typer.Option("--lacks", metavar="VALUE", help="… does not have this value.", rich_help_panel=WHAT)
    ] = None,
    unset: Annotated[bool, typer.Option("--unset", help="… is not set.", rich_help_panel=WHAT)] = False,
    state: Annotated[
        str | None, typer.Option("--state", metavar="STATE", help="A state, such as 'Crash looping'.", rich_help_panel=WHAT)
    ] = None,
    log: Annotated[
        str | None, typer.Option("--log", metavar="TEXT", help="A text in the log of a pod.", rich_help_panel=WHAT)
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="What is wrong, in one line; {{ about }} is the object.")
    ] = None,
    why: Annotated[str | None, typer.Option("--why", metavar="TEXT", help="What a reader needs to understand it.")] = None,
    steps: Annotated[
        list[str] | None, typer.Option("--next", metavar="TEXT", help="What to do (repeatable); {{ about }}, {{ name }} …")
    ] = None,
    references: Annotated[
        list[str] | None, typer.Option("--reference", metavar="URL", help="Where to read more (repeatable).")
    ] = None,
    severity: Annotated[str | None, typer.Option("--severity", metavar="WORD", help="error, warning (default) or info.")] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="AGE", help="How long it must last, such as 10m. Default: at once.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="WORD", help="workload, queue, class, cluster, platform, hardware or nobody.")
    ] = None,
    waiting: Annotated[
        str | None, typer.Option("--waiting", metavar="WORD", help="Does waiting help: yes, no or unknown (default).")
    ] = None,
    folder: Annotated[Path, typer.Option("--dir", metavar="DIR", parser=paths.given, help="The rule pack.")] = DEFAULT_PACK,
) -> None:
    """A new rule with cases that pass. What is not given is asked.

    Where there is no terminal to ask on, what to look for, --title, --why, --next, --reference and --owner must be given.
    """
    from analyzer.engine.scaffold import answers
    from analyzer.engine.scaffold.write import check_free, write

    code = answers.code(code)
    check_free(code, folder)
    flags = _Flags(kind, condition, event, field, has, lacks, unset, state, log)
    ask = _Asker(sys.stdin.isatty() and sys.stdout.isatty())
    if not ask.terminal:
        _refuse_missing(flags, {"--title": title, "--why": why, "--next": steps, "--reference": references, "--owner": owner})
    shape = _shape(flags, ask)
    timeless = isinstance(shape, answers.Field)
    if after and timeless:
        raise UsageError("--after is of no use with --field: nothing says since when a field is as it is")
    given = answers.Answers(
        code=code,
        shape=shape,
        title=ask.one(title, "What is wrong, in a few words", answers.title),
        why=ask.one(why, "Why, for a reader who does not know", lambda text: answers.sentence("why", text)),
        next=ask.several(steps, "What to do", lambda text: answers.sentence("next", text)),
        references=ask.several(references, "Where to read more (https://…)", answers.reference),
        severity=ask.one(severity, "Severity: error, warning or info", answers.severity, "warning"),
        after=None if timeless else ask.one(after, "How long must it last, such as 10m", answers.after, "0s"),
        owner=ask.one(owner, "Who can act: workload, queue, class, cluster, platform, hardware or nobody", answers.owner),
        waiting=ask.one(waiting, "Does waiting help: yes, no or unknown", answers.waiting, "unknown"),
    )
    made = write(given, folder)
    for path in made.files:
        typer.echo(f"wrote {path}")
    typer.echo(f"rules: {made.cases} cases pass; run them again with: triage rules test {shlex.quote(str(folder))}")


def _refuse_missing(flags: _Flags, others: dict[str, object]) -> None:
    """Ends where answers are missing that nobody can be asked for.

    Raises:
        UsageError: with all of them.
    """
    missing = [] if flags.kind or flags.log else ["--kind"]
    if not flags.chosen:
        missing.append(f"one of {', '.join(f'--{name}' for name in SHAPES)}")
    missing += [name for name, value in others.items() if not value]
    if missing:
        raise UsageError(f"no terminal to ask on, and missing are: {', '.join(missing)}")


def _shape(flags: _Flags, ask: _Asker) -> Shape:
    """What the rule looks for.

    Raises:
        UsageError: flags that do not go together, or a wrong value.
    """
    from analyzer.engine.scaffold import answers

    if len(flags.chosen) > 1:
        raise UsageError(f"a rule looks for one thing: --{' or --'.join(flags.chosen)}")
    how = [f"--{name}" for name in ("has", "lacks", "unset") if getattr(flags, name) not in (None, False)]
    if len(how) > 1 or (how and flags.field is None and flags.chosen):
        raise UsageError(f"{' and '.join(how)}: only with --field, and only one of them")
    if flags.field is not None and not how and not ask.terminal:
        raise UsageError("--field needs --has VALUE, --lacks VALUE or --unset")
    name = flags.chosen[0] if flags.chosen else "field" if how else ask.choice("Look for", SHAPES)
    if name == "log":
        return ask.one(flags.log, "Text of the log line, as it stands there", answers.log)
    kind = ask.one(flags.kind, "Of which kind, such as Pod or Widget.example.com", answers.kind)
    if name == "condition":
        return ask.one(
            flags.condition, "Condition, as TYPE=STATUS or TYPE=STATUS/REASON", lambda text: answers.condition(kind, text)
        )
    if name == "event":
        return ask.one(flags.event, "Reason of the event", lambda text: answers.event(kind, text))
    if name == "state":
        return ask.one(flags.state, "State", lambda text: answers.state(kind, text))
    path = ask.one(flags.field, "Field, such as spec.containers[*].image", answers.path)
    mode = how[0].removeprefix("--") if how else ask.choice("That field", MODES)
    if mode == "unset":
        return answers.Field(kind, path, None)
    value = ask.one(flags.has or flags.lacks, "Value", lambda text: answers.sentence("value", text))
    return answers.Field(kind, path, value, mode == "lacks")


class _Asker:
    """Takes what was given and asks for the rest, where there is a terminal."""

    def __init__(self, terminal: bool) -> None:
        self.terminal = terminal

    def one(self, given: str | None, question: str, check: Callable[[str], T], default: str | None = None) -> T:
        """One answer, checked; a wrong one from a terminal is asked for again.

        Raises:
            UsageError: what was given is wrong.
        """
        if given is not None or not self.terminal:
            return check(given if given is not None else default or "")
        while True:
            try:
                return check(str(typer.prompt(question, default=default)))
            except UsageError as error:
                typer.echo(str(error))

    def several(self, given: list[str] | None, question: str, check: Callable[[str], T]) -> tuple[T, ...]:
        """One answer or more; an empty line ends them."""
        if given or not self.terminal:
            return tuple(check(text) for text in given or ())
        found = [self.one(None, question, check)]
        while text := str(typer.prompt("… and (empty: no more)", default="", show_default=False)).strip():
            try:
                found.append(check(text))
            except UsageError as error:
                typer.echo(str(error))
        return tuple(found)

    def choice(self, question: str, choices: dict[str, str]) -> str:
        """One of several, by name or number."""
        for number, (name, words) in enumerate(choices.items(), 1):
            typer.echo(f"  {number}  {name.ljust(max(map(len, choices)))}  {words}")
        names = list(choices)

        def check(text: str) -> str:
            text = text.strip().lower()
            if text.isdecimal() and text.isascii() and 0 < int(text) <= len(names):
                return names[int(text) - 1]
            if text in names:
                return text
            raise UsageError(f"one of {', '.join(names)}")

        return self.one(None, question, check)
