"""What is known of a Job that a JobSet made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from analyzer.facts.told import Condition


@dataclass(frozen=True, slots=True)
class Child:
    """A Job that a JobSet made."""

    object_id: int
    jobset_id: int
    name: str
    group: str | None
    index: int | None
    attempt: int | None
    old: bool
    state: str
    condition: Condition | None
    created_at: datetime | None
    counts: Mapping[str, int]
