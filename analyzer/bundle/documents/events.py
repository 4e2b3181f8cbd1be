"""YAML text into plain values, built from the parser's events.

Events, not nodes: the loop below needs no recursion, so nothing that a file holds can exhaust the stack, and whatever
was complete when the text broke off is still there. Two loops do the same: `_build_simple` for text that has neither
anchors, tags nor merge keys (nearly all that Go prints), `builder.build` for everything; it also notes where the
elements of a list lie.
"""

from __future__ import annotations

import re
from typing import Any

from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import AliasEvent, DocumentStartEvent, StreamEndEvent
from yaml.reader import ReaderError

from analyzer.bundle.documents.backend import CLASSES, EventSource, lean
from analyzer.bundle.documents.builder import build
from analyzer.bundle.documents.parsed import KEYS, BadYamlError, BrokenError, Parsed, key_of
from analyzer.bundle.documents.scalars import VALUES, plain
from analyzer.bundle.limits import MAX_DOCUMENT_DEPTH

# Where an anchor, a tag or a merge key may begin. After a letter or the like `&` and `!` are part of a word.
_SPECIAL = re.compile(rb"(?<![A-Za-z0-9/=._%;?])(?:&[0-9A-Za-z_-]|!)|<<(?![A-Za-z'\"-])")
_UNKNOWN = object()
_SCALAR, _MAPPING, _SEQUENCE = CLASSES["ScalarEvent"], CLASSES["MappingStartEvent"], CLASSES["SequenceStartEvent"]
_MAPPING_END, _SEQUENCE_END = CLASSES["MappingEndEvent"], CLASSES["SequenceEndEvent"]
_QUOTED = re.compile(r"'[^']{4,}'|\"[^\"]{4,}\"")


def parse(text: bytes, *, spans: bool = False) -> Parsed:
    """The first (and only) document of a text.

    Args:
        text: UTF-8.
        spans: also note where the elements of its list lie.

    Raises:
        BadYamlError: the text is no YAML, or has more than one document, or goes over a limit.
    """
    found = Parsed()
    try:
        source = EventSource(text)
        if spans or _is_special(text):
            build(source, found, spans=spans)
        else:
            with lean():
                _build_simple(source, found)
    except BrokenError as broken:
        line, column = (broken.mark.line, broken.mark.column) if broken.mark is not None else (0, 0)
        raise BadYamlError(broken.reason, line, column, line, found) from None
    except ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else b""
        line = before.count(b"\n")
        raise BadYamlError(
            _QUOTED.sub("…", str(error.reason)), line, len(before) - before.rfind(b"\n") - 1, line, found
        ) from None
    except MarkedYAMLError as error:
        raise _marked(error, found) from None
    except YAMLError as error:
        raise BadYamlError(type(error).__name__, 0, 0, 0, found) from None
    return found


def _marked(error: MarkedYAMLError, found: Parsed) -> BadYamlError:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    opened = error.context_mark.line if error.context_mark is not None else line
    reason = ", ".join(part for part in (error.context, error.problem) if part)
    return BadYamlError(_QUOTED.sub("…", reason), line, column, min(opened, line), found)


def _is_special(text: bytes) -> bool:
    """Whether the simple loop is not enough; most texts are told apart by the first line, which is much cheaper."""
    return (b"&" in text or b"!" in text or b"<<" in text) and _SPECIAL.search(text) is not None


def _build_simple(source: Any, found: Parsed) -> None:  # noqa: C901, PLR0912, PLR0915 - the hot loop: calls cost more than branches
    """Build from events without anchors, tags, merge keys."""
    get_event = source.get_event
    scalar, mapping_start, sequence_start, mapping_end, sequence_end = _SCALAR, _MAPPING, _SEQUENCE, _MAPPING_END, _SEQUENCE_END
    known_keys, values, unknown = KEYS, VALUES, _UNKNOWN
    current: Any = found.roots
    in_mapping = False
    key: str | None = None
    stack: list[Any] = []
    documents = 0
    while True:
        event = get_event()
        kind = event.__class__
        if kind is scalar:
            value = event.value
            if in_mapping and key is None:
                key = (known_keys.get(value) or key_of(value)) if event.implicit[0] else value
                continue
            if event.implicit[0]:
                text = value
                value = values.get(text, unknown)
                if value is unknown:
                    value = plain(text)
            if in_mapping:
                current[key] = value
                key = None
            else:
                current.append(value)
        elif kind is mapping_end or kind is sequence_end:
            current = stack.pop()
            in_mapping = current.__class__ is dict
        elif kind is mapping_start or kind is sequence_start:
            made: Any = {} if kind is mapping_start else []
            if not in_mapping:
                current.append(made)
            elif key is None:
                raise BrokenError("a mapping or list as a key", event.start_mark)
            else:
                current[key] = made
                key = None
            stack.append(current)
            if len(stack) > MAX_DOCUMENT_DEPTH:
                raise BrokenError(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels", event.start_mark)
            current = made
            in_mapping = kind is mapping_start
        elif kind is StreamEndEvent or event is None:
            return
        elif kind is AliasEvent:
            raise BrokenError("an alias without its anchor", event.start_mark)
        elif kind is DocumentStartEvent:
            documents += 1
            if documents > 1:
                raise BrokenError("a second document", event.start_mark)


__all__ = ["BadYamlError", "Parsed", "parse"]
