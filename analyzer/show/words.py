"""Words that the sections share: quotes, times, names, lists that are cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from analyzer import times
from analyzer.bundle.kinds import BUILT_IN
from analyzer.render import words
from analyzer.render.escape import clip, plain
from analyzer.show.model import Text

QUOTE = 600
"""Longest quote, in characters; longer ones are cut in the middle."""

_NAME = 300
"""Longest name that is shown whole; Kubernetes allows 253 characters, names of devices have three parts."""


def quoted(text: object, most: int = QUOTE) -> str:
    """Words of the cluster: made harmless, on one line, in quotation marks, cut in the middle where they are long."""
    return f'"{clip(plain(str(text)), most)}"'


def short(text: object, most: int = 200) -> str:
    """A name or a word of the cluster: made harmless, on one line, cut in the middle where it is long; None is empty."""
    return "" if text is None else clip(plain(str(text)), most)


def said(reason: str | None, message: str | None) -> str:
    """A reason and a message of the cluster: `Reason: "message"`, or the one that there is; empty without both."""
    told = quoted(message) if message else ""
    short = clip(plain(reason), 120) if reason else ""
    return f"{short}: {told}" if short and told else short or told


def why(reason: str | None, message: str | None, *, written: bool) -> str:
    """A reason, and a message that is quoted where the cluster has written it, else said to be ours."""
    if not message or written:
        return said(reason, message)
    concluded = f"Deduced: {short(message, QUOTE)}"
    return f"{short(reason, 120)}. {concluded}" if reason else concluded


def aware(moment: datetime | None) -> datetime | None:
    """A time of the tables (naive UTC) as an aware one."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def age(moment: datetime | None, as_of: datetime | None) -> str:
    """How long before the end of the collection: `5 min`; empty where one of the two is unknown."""
    return times.between(moment, as_of)


def ago(moment: datetime | None, as_of: datetime | None) -> str:
    """`5 min before (06:41:18)`, `at 06:41:18` without an age, `at an unknown time`."""
    if moment is None:
        return "at an unknown time"
    lasted = age(moment, as_of)
    clock = words.when(aware(moment), aware(as_of))
    return f"{lasted} before ({clock})" if lasted else f"at {clock}"


def since(moment: datetime | None, as_of: datetime | None) -> str:
    """`for 5 min, since 06:41:18`; `since an unknown time`."""
    if moment is None:
        return "since an unknown time"
    lasted = age(moment, as_of)
    clock = words.when(aware(moment), aware(as_of))
    return f"for {lasted}, since {clock}" if lasted else f"since {clock}"


def thing(group: str, kind: str, namespace: str, name: str, *, beside: str | None = None) -> str:
    """`Pod shop/app-0`; the namespace is left out where it is that of the object beside it."""
    where = f"{short(namespace)}/" if namespace and namespace != beside else ""
    return f"{kind_name(group, kind)} {where}{short(name, _NAME)}"


def kind_name(group: str, kind: str) -> str:
    """The kind, with its group where another project's kind of that name is well known."""
    return f"{kind}.{short(group)}" if kind in _SHARED and group not in BUILT_IN else short(kind, 100)


_SHARED = frozenset(
    {"Service", "Node", "Ingress", "Network", "Job", "Machine", "InferenceService", "Workload", "Queue", "Backup"}
)


def some(names: Iterable[str], most: int = 5) -> str:
    """`a, b, c and 4 more`."""
    return words.listed(names, most)


def left_out(total: int, shown: int, noun: str) -> str:
    """`and 12 more pods`; empty where all are shown."""
    left = total - shown
    return f"and {words.plural(left, f'more {noun}')}" if left > 0 else ""


def more(total: int, shown: int, noun: str) -> tuple[Text, ...]:
    """What stands below a list that is cut: how many it leaves out; nothing where all are shown."""
    left = left_out(total, shown, noun)
    return (Text(left, tone="dim"),) if left else ()


def amounts(pairs: Sequence[tuple[str, object]]) -> str:
    """`cpu 500m, memory 1Gi`."""
    return ", ".join(f"{name} {amount}" for name, amount in pairs)
