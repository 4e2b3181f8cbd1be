"""What the parts of `analyzer.logs` hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from analyzer.bundle.text import one_line

ROLES = ("head", "workers", "submitter")
"""Parts of a Ray object whose logs can be asked for."""


class NoLogError(Exception):
    """There is nothing to print; the message says `not found` or `not collected`, and why."""


@dataclass(frozen=True, slots=True)
class Container:
    """A container as its Pod tells of it.

    Attributes:
        name: its name.
        known: the Pod has a status for it.
        restarts: restartCount, None where it is not known.
        ended: a previous run is recorded (lastState.terminated).
        waiting: why it has not started, empty where it has or nothing says.
    """

    name: str
    known: bool = False
    restarts: int | None = None
    ended: bool = False
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod whose logs are meant; one that only its logs tell of has no labels and no containers.

    `only` is the one container that is meant, empty for all.
    """

    namespace: str
    name: str
    labels: dict[str, str] = field(default_factory=dict)
    containers: tuple[Container, ...] = ()
    only: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    """One row of table `logs` with its file.

    Attributes:
        index: which entry of the input its file is.
        alone: it is all of its file, and not one of the blocks in it.
    """

    log_id: int
    source: str
    input: int
    path: str
    index: int
    size: int
    alone: bool
    first_line: int
    bytes: int
    lines: int
    first_at: datetime | None
    tail: str


@dataclass(frozen=True, slots=True)
class Series:
    """The log of one container in the order it was written: what was rotated away, then the run that was asked for."""

    pod: str
    container: str
    logs: tuple[Log, ...]

    @property
    def prefix(self) -> str:
        """What stands before its lines where several are printed."""
        name = f"{self.pod}/{self.container}" if self.container else self.pod
        return f"[{one_line(name)}] "
