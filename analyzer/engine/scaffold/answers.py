"""What is asked about a new rule, and whether an answer can be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from analyzer import times
from analyzer.bundle import kinds
from analyzer.bundle.errors import UsageError
from analyzer.bundle.signatures.model import MAX_WORD_BYTES, MIN_WORD_BYTES
from analyzer.engine.model import Owner, Severity, Waiting
from analyzer.engine.rule import CODE

MAX_ANSWER = 2_000
"""Characters of one answer."""

_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}\Z")
_GROUP = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\Z")
_WORD = re.compile(r"[A-Za-z][\w./:-]{0,315}\Z")
_STEP = re.compile(r"""(?:^|\.)([A-Za-z_$][\w$/-]*)|\["([^"\\\[\]]{1,316})"\]|\[(\*|[0-9]{1,2})\]""")
_STATUSES = ("True", "False", "Unknown")


@dataclass(frozen=True, slots=True)
class KindName:
    """A kind of object."""

    group: str
    kind: str
    namespaced: bool = True

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in the status of objects of a kind; without a reason any will do."""

    kind: KindName
    type: str
    status: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An event about objects of a kind."""

    kind: KindName
    reason: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of objects of a kind: it has a value, lacks one, or is not there (`value` is None).

    `steps` are its keys and positions; a `*` stands for every item of a list.
    """

    kind: KindName
    steps: tuple[str | int, ...]
    value: str | None
    lacks: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """A state as in the table `states`."""

    kind: KindName
    state: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A text in the logs of pods; upper and lower case matter."""

    text: str


Shape = Condition | Event | Field | State | LogLine


@dataclass(frozen=True, slots=True)
class Answers:
    """All that a new rule is made of."""

    code: str
    shape: Shape
    severity: Severity
    after: str | None
    owner: Owner
    waiting: Waiting
    title: str
    next: tuple[str, ...]
    why: str
    references: tuple[str, ...]


def code(text: str) -> str:
    """A code such as `acme/MirrorFull`.

    Raises:
        UsageError: it is spelled in another way.
    """
    if not CODE.match(text):
        raise UsageError(f"{text!r} is no code: a domain in lower case, a slash and a name, such as acme/MirrorFull")
    return text


def kind(text: str) -> KindName:
    """A kind, with its group where it is not built into Kubernetes: `Pod`, `Deployment`, `Widget.example.com`.

    Raises:
        UsageError: it is no kind, or one without a group that is not known.
    """
    name, _, group = text.strip().partition(".")
    found = next((one for one in kinds.RESOURCES if one.kind.lower() == name.lower() and group in ("", one.group)), None)
    if found:
        return KindName(found.group, found.kind, found.namespaced)
    if not _KIND.match(name) or (group and not _GROUP.match(group)):
        raise UsageError(f"{text!r} is no kind such as Pod or Widget.example.com")
    if not group:
        raise UsageError(f"no built-in kind is called {name}; give a custom one with its group, such as {name}.example.com")
    return KindName(group, name)


def condition(kind: KindName, text: str) -> Condition:
    """A condition as `TYPE=STATUS` or `TYPE=STATUS/REASON`.

    Raises:
        UsageError: it is written in another way.
    """
    type_, equals, rest = text.strip().partition("=")
    status, _, reason = rest.partition("/")
    if not equals or not _WORD.match(type_) or status not in _STATUSES or (reason and not _WORD.match(reason)):
        raise UsageError(f"{text!r} is no condition: TYPE=STATUS or TYPE=STATUS/REASON, such as Ready=False/QuotaSpent")
    return Condition(kind, type_, status, reason or None)


def event(kind: KindName, text: str) -> Event:
    """An event by its reason.

    Raises:
        UsageError: it is no reason of an event.
    """
    if not _WORD.match(text.strip()):
        raise UsageError(f"{text!r} is no reason of an event, such as FailedMount")
    return Event(kind, text.strip())


def path(text: str) -> tuple[str | int, ...]:
    """The steps of a path: `spec.replicas`, `metadata.labels["example.com/role"]`, `spec.containers[*].image`.

    Raises:
        UsageError: it is no path, or has more than one `[*]`.
    """
    steps: list[str | int] = []
    end = 0
    for step in _STEP.finditer(text.strip()):
        if step.start() != end:
            break
        end = step.end()
        name, quoted, position = step.groups()
        steps.append(name or quoted or (position if position == "*" else int(position)))
    if not steps or end != len(text.strip()) or not isinstance(steps[0], str) or steps[0] == "*" or not text.isprintable():
        raise UsageError(f"{text!r} is no path of a field, such as spec.replicas or spec.containers[*].image")
    if steps.count("*") > 1:
        raise UsageError(f"{text!r} has more than one [*]")
    return tuple(steps)


def state(kind: KindName, text: str) -> State:
    """A state as in the table `states`; whether there is such a one is seen when a sample of it is looked for."""
    return State(kind, sentence("state", text))


def log(text: str) -> LogLine:
    """A text in a log line.

    Raises:
        UsageError: it is too short or too long to be looked for, or holds what cannot be printed.
    """
    if (
        not text.isprintable()
        or text != text.strip()
        or not MIN_WORD_BYTES <= len(text.encode("utf-8", "replace")) <= MAX_WORD_BYTES
    ):
        raise UsageError(
            f"the text of a log line must be printable, {MIN_WORD_BYTES} to {MAX_WORD_BYTES} bytes, without space around it"
        )
    return LogLine(text)


def severity(text: str) -> Severity:
    """Error, warning or info.

    Raises:
        UsageError: it is another word.
    """
    return _one_of("severity", text, get_args(Severity))  # type: ignore[return-value]


def owner(text: str) -> Owner:
    """Who can act.

    Raises:
        UsageError: it is another word.
    """
    return _one_of("owner", text, get_args(Owner))  # type: ignore[return-value]


def waiting(text: str) -> Waiting:
    """Does waiting help.

    Raises:
        UsageError: it is another word.
    """
    return _one_of("waiting", text, get_args(Waiting))  # type: ignore[return-value]


def after(text: str) -> str | None:
    """An age such as `5m`; None for none.

    Raises:
        UsageError: it is no duration.
    """
    text = text.strip()
    if text in ("", "0", "0s"):
        return None
    try:
        seconds = times.duration(text).total_seconds()
    except (ValueError, OverflowError):
        seconds = -1.0
    if not 0 < seconds <= 30 * 86400:
        raise UsageError(f"after is {text!r}, must be a duration of at most 30 days, such as 5m")
    return text


def sentence(name: str, text: str) -> str:
    """A text on one line.

    Raises:
        UsageError: it is empty, too long, or holds what cannot be printed.
    """
    text = " ".join(text.split())
    if not text:
        raise UsageError(f"{name} is empty")
    if len(text) > MAX_ANSWER:
        raise UsageError(f"{name} is longer than {MAX_ANSWER} characters")
    if not text.isprintable():
        raise UsageError(f"{name} holds characters that cannot be printed")
    return text


def title(text: str) -> str:
    """A title: no full stop at its end.

    Raises:
        UsageError: it is empty, or too long.
    """
    return sentence("title", text).rstrip(".")


def reference(text: str) -> str:
    """An https address.

    Raises:
        UsageError: it is something else.
    """
    text = sentence("reference", text)
    if not re.match(r"https://[^\s/]+\.[^\s]+\Z", text):
        raise UsageError(f"reference is {text!r}, must be an address that begins with https://")
    return text


def _one_of(name: str, text: str, allowed: Sequence[str]) -> str:
    if text.strip().lower() not in allowed:
        raise UsageError(f"{name} is {text!r}, must be one of {', '.join(allowed)}")
    return text.strip().lower()
