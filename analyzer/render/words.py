"""The words of the reports: numbers, sizes, times, owners, next steps. One place, so that all reports say it alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from analyzer.engine.model import ObjectRef, Owner, Report, Severity, Waiting
from analyzer.render.escape import clip, command_line
from analyzer.times import age

SEVERITY: Final[dict[Severity, str]] = {"error": "Error", "warning": "Warning", "info": "Info"}
RANK: Final[dict[Severity, int]] = {"error": 0, "warning": 1, "info": 2}
OWNER: Final[dict[Owner, str]] = {
    "workload": "Workload owner",
    "queue": "Queue administrator",
    "class": "Owner of the class",
    "cluster": "Cluster administrator",
    "platform": "Platform team",
    "hardware": "Hardware",
    "nobody": "Nobody",
}
WAITING: Final[dict[Waiting, str]] = {"yes": "Yes", "no": "No", "unknown": "Unknown"}
COVERAGE: Final[dict[str, str]] = {
    "complete": "complete",
    "absent": "absent: there are none",
    "partial": "partial",
    "not-collected": "not collected",
    "forbidden": "forbidden",
    "removed": "removed",
}
NOT_GOT: Final[dict[str, str]] = {
    "failed": "the request failed",
    "forbidden": "it was not allowed to read it",
    "not-served": "the API server does not serve it",
    "timeout": "it took too long",
}
"""Why the collection could not get something, by the kind of the error."""
FORMAT: Final[dict[str, str]] = {
    "triage": "triage bundle",
    "must-gather": "OpenShift must-gather",
    "inspect": "oc adm inspect",
    "cluster-info": "kubectl cluster-info dump",
    "support-bundle": "troubleshoot support bundle",
    "support-bundle-host": "troubleshoot support bundle of hosts only, without cluster resources",
    "sonobuoy": "Sonobuoy results",
    "gpu-operator": "must-gather of NVIDIA's GPU Operator",
    "plain": "plain manifests",
    "log": "log",
}
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_PROGRAMS = (
    "kubectl", "oc", "triage", "helm", "crictl", "ctr", "podman", "docker", "skopeo", "journalctl", "systemctl", "dmesg",
    "nvidia-smi", "curl", "etcdctl", "openssl", "ssh", "sudo", "dig", "nslookup", "ping", "ip", "df", "free", "top",
)  # fmt: skip
_PROGRAM = "|".join(re.escape(program) for program in _PROGRAMS)
_IS_COMMAND = re.compile(rf"(?:{_PROGRAM})(?: |$)")
_QUOTED = re.compile(r"(`+)(.+?)\1", re.DOTALL)
# Without backticks too: "Read its log: kubectl logs -n shop app-0 --previous; then ask". A command starts a step or stands
# after ": ", "; " or ", then ", and ends with the step or before "; ", ", ", " (" or a new sentence.
_BARE = re.compile(
    r"(?:^|(?<=: )|(?<=; )|(?<=, then ))"
    r"((?:kubectl|oc|triage|journalctl|etcdctl|helm|crictl) [^\s`][^`\n]*?)(?=; |, | \(|\. [A-Z]|\.?\s*$)"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a next step: `text`, inline `code`, or a `command` to copy."""

    kind: Literal["text", "code", "command"]
    text: str


def step_parts(step: str) -> tuple[Part, ...]:
    """A next step taken apart: commands, and what stands in backticks as code.

    A command stands in backticks and starts with a program, or stands where a sentence would go on with one.
    """
    parts: list[Part] = []

    def plain(piece: str) -> None:
        # What joins two commands in a sentence is no word of its own once they stand in blocks.
        if parts and parts[-1].kind == "command":
            piece = piece.lstrip(" ;,.")
        if piece.strip():
            parts.append(Part("text", piece))

    def text(piece: str) -> None:
        start = 0
        for found in _BARE.finditer(piece):
            plain(piece[start : found.start()])
            parts.append(Part("command", command_line(found[1])))
            start = found.end()
        plain(piece[start:])

    at = 0
    for found in _QUOTED.finditer(step):
        text(step[at : found.start()])
        inner = command_line(found[2])
        parts.append(Part("command" if _IS_COMMAND.match(inner) else "code", inner))
        at = found.end()
    text(step[at:])
    return tuple(parts)


def step_says(step: str) -> str:
    """The first step for a table: its words before the first command, without a colon at the end."""
    said = ""
    for part in step_parts(step):
        if part.kind == "command":
            if said.strip():
                break
            return part.text
        said += part.text
    return said.strip().rstrip(":,").removesuffix(" with").strip()


def number(value: int) -> str:
    """With a comma between thousands."""
    return f"{value:,}"


def plural(count: int, noun: str) -> str:
    """`1 pod`, `3 pods`, `2 policies`, `2 ingresses`; nouns that end in s, x, ch or sh get -es, Endpoints is plural already."""
    if count == 1:
        return f"1 {noun}"
    if noun.lower() == "endpoints":
        return f"{number(count)} {noun}"
    if re.search(r"[^aeiouAEIOU]y$", noun):
        noun = noun[:-1] + "ies"
    elif noun.endswith(("s", "x", "ch", "sh")):
        noun += "es"
    else:
        noun += "s"
    return f"{number(count)} {noun}"


def listed(parts: Iterable[str], most: int = 4) -> str:
    """`a, b, c, d and 3 more`."""
    names = list(parts)
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {number(more)} more" if more > 0 else "")


def counts(report: Report) -> str:
    """`5 errors, 8 warnings, 2 info`."""
    return ", ".join(
        [*(plural(report.count(name), name) for name in ("error", "warning")), f"{number(report.count('info'))} info"]
    )


def series(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def size(value: int | None) -> str:
    """A size in decimal units: `412 MB`; empty where it is not known."""
    if value is None:
        return ""
    amount = float(value)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{value} bytes" if unit == "bytes" else f"{amount:.1f} {unit}" if amount < 10 else f"{amount:.0f} {unit}"


def clock(moment: datetime) -> str:
    """`06:41:18`, in UTC."""
    return moment.astimezone(UTC).strftime("%H:%M:%S")


def day(moment: datetime, base: datetime | None) -> str:
    """`31 Oct`, with the year where it is not the base's; empty on the base's day."""
    moment = moment.astimezone(UTC)
    base = base.astimezone(UTC) if base else None
    if base and moment.date() == base.date():
        return ""
    text = f"{moment.day} {MONTHS[moment.month - 1]}"
    return text if base and moment.year == base.year else f"{text} {moment.year}"


def when(moment: datetime | None, base: datetime | None) -> str:
    """A time in words, UTC: `06:41:18`, with the day only where it is another than the collection's."""
    if moment is None:
        return "unknown"
    return f"{day(moment, base)} {clock(moment)}".strip()


def lasted(seconds: float | None) -> str:
    """`for 5 min`; `for an unknown time` where no age is known."""
    return f"for {'an unknown time' if seconds is None else age(seconds)}"


def stamp(moment: datetime | None) -> str:
    """`2026-11-01 12:00:00 UTC`, or `unknown`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if moment else "unknown"


NAME: Final = 320
"""Characters of an object's name in a report: a namespace has 63 at most, a name 253."""


def object_name(ref: ObjectRef) -> str:
    """`namespace/name`, or the name alone; a thing without a name is named by its kind. Cut where no cluster has such a name."""
    return clip(f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name or ref.kind, NAME)


def thing(ref: ObjectRef) -> str:
    """`Pod shop/app-0`; a thing without a name is named by its kind."""
    return f"{clip(ref.kind, NAME)} {object_name(ref)}" if ref.name else clip(ref.kind, NAME)


def place(file: str, line: int | None) -> str:
    """`file:line`, or the file alone."""
    return file if line is None else f"{file}:{line}"
