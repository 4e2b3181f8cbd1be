"""What `triage show` has to say, frozen: made by the sections from SQL, printed by `printing`.

Texts may hold anything that a bundle holds; printing makes them harmless. Words of the cluster stand in quotation marks in them
(`words.quoted`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "error", "warning", "info", "good", "dim", "bold"]
"""How a text looks on a terminal with colours; nothing is said by colour alone."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `depth` is how far it is indented, in steps of two columns, and `columns` by how many more."""

    text: str
    depth: int = 0
    tone: Tone = ""
    columns: int = 0


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and what it says; labels that follow one another are aligned."""

    label: str
    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head; the last column takes the room that is left, and wraps."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    tones: tuple[Tone, ...] = ()
    """One a row, where there are any."""


Item = Text | Fact | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with its title; one without items is left out."""

    title: str
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """The whole page: its first line, the facts below it, and the sections."""

    title: str
    head: tuple[Item, ...]
    sections: tuple[Section, ...]
