"""PyYAML's event parser: libyaml where PyYAML was built with it, else the slow one in Python. Same events, same results.

PyYAML's C extension makes its event objects by calling classes written in Python, which is a quarter of the time that
reading YAML takes. For the duration of one parse, `lean` gives it classes with the same fields that are made in C.
Whether this PyYAML can be given them is tried out when this module is imported; if not, its own classes stay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml.events
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner


class PythonEvents(Reader, Scanner, Parser):
    """Events without the C extension."""

    def __init__(self, text: bytes) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)


class _Scalar(msgspec.Struct, gc=False):
    anchor: Any
    tag: Any
    implicit: Any
    value: Any
    start_mark: Any = None
    end_mark: Any = None
    style: Any = None


class _MappingStart(msgspec.Struct, gc=False):
    anchor: Any
    tag: Any
    implicit: Any
    start_mark: Any = None
    end_mark: Any = None
    flow_style: Any = None


class _SequenceStart(_MappingStart, gc=False):
    pass


class _MappingEnd(msgspec.Struct, gc=False):
    start_mark: Any = None
    end_mark: Any = None


class _SequenceEnd(_MappingEnd, gc=False):
    pass


_OWN: dict[str, Any] = {
    name: getattr(yaml.events, name)
    for name in ("ScalarEvent", "MappingStartEvent", "SequenceStartEvent", "MappingEndEvent", "SequenceEndEvent")
}
_LEAN: dict[str, Any] = dict(zip(_OWN, (_Scalar, _MappingStart, _SequenceStart, _MappingEnd, _SequenceEnd), strict=True))
_TRIAL = b"a: [x, 'y']\nb: {c: d}\ne: |\n  z\n"

EventSource: Any
_extension: dict[str, Any] | None
try:
    from yaml import _yaml
    from yaml._yaml import CParser as EventSource

    _extension = vars(_yaml)
except ImportError:
    EventSource = PythonEvents
    _extension = None


@contextlib.contextmanager
def _swapped(classes: dict[str, Any]) -> Iterator[None]:
    if _extension is None or classes is _OWN:
        yield
        return
    _extension.update(classes)
    try:
        yield
    finally:
        _extension.update(_OWN)


def _tried(classes: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What the trial text gives with these classes: for each event its kind and what the builders read of it."""
    kinds = {made: name for name, made in classes.items()}
    with _swapped(classes):
        source, seen = EventSource(_TRIAL), []
        while (event := source.get_event()) is not None:
            mark = event.start_mark
            read = [getattr(event, name, None) for name in ("value", "anchor", "tag")]
            implicit = getattr(event, "implicit", None)
            plain = implicit[0] if isinstance(implicit, tuple) else None
            seen.append((kinds.get(type(event), type(event).__name__), *read, plain, mark and mark.line))
    return seen


def _usable() -> dict[str, Any]:
    """The lean classes where they give the same as PyYAML's own."""
    if _extension is None or not all(_extension.get(name) is made for name, made in _OWN.items()):
        return _OWN
    try:
        return _LEAN if _tried(_LEAN) == _tried(_OWN) else _OWN
    except Exception:  # noqa: BLE001 - another PyYAML may call its classes in any other way
        return _OWN


CLASSES = _usable()
"""The classes of the events that a parse within `lean` gives, by PyYAML's names."""


def lean() -> contextlib.AbstractContextManager[None]:
    """Within it, the C extension makes events of `CLASSES`. Nothing else may read YAML meanwhile: workers have one thread."""
    return _swapped(CLASSES)
