"""One file that a worker is to read."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.bundle.formats.base import Assignment


@dataclass(frozen=True, slots=True)
class Task:
    """One file to read: `index` is its entry in the container, `format` that of its root."""

    file_id: int
    index: int
    path: str
    size: int
    format: str
    assignment: Assignment
