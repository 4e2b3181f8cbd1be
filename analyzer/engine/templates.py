"""The words of a rule: Jinja2 over a row, for packs that nobody vouches for.

Values of a bundle are data here, never templates. The sandbox alone does not bound time and memory, so a template
may use only what is named here: no call but a few methods of text, no loop in a loop in a loop, no power or
repetition of text, filters from a list.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from analyzer import times

MAX_TEMPLATE = 8_000
"""Characters of one template."""
MAX_OUTPUT = 4_000
"""Characters of one text made from a template; what is longer is cut."""
MAX_ROWS = 500
"""Rows and names of a folded finding that a template sees."""
MAX_ASSIGNMENTS = 8
MAX_LOOP_DEPTH = 2

_SPACES = re.compile(r"[ \t]{2,}")
_METHODS = frozenset(
    {
        "startswith",
        "endswith",
        "split",
        "splitlines",
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "items",
        "keys",
        "values",
        "get",
    }
)
_BUILTIN_FILTERS = frozenset(
    {
        "abs",
        "capitalize",
        "count",
        "d",
        "default",
        "dictsort",
        "first",
        "float",
        "int",
        "items",
        "last",
        "length",
        "list",
        "lower",
        "map",
        "max",
        "min",
        "reject",
        "rejectattr",
        "reverse",
        "round",
        "select",
        "selectattr",
        "sort",
        "string",
        "sum",
        "title",
        "trim",
        "truncate",
        "unique",
        "upper",
    }
)


class TemplateError(Exception):
    """A template cannot be used or cannot be filled in."""


def clip(value: Any, limit: int = 300) -> str:
    """The text, cut in the middle with … where it is longer than `limit` characters."""
    text = _text(value)
    limit = max(int(limit), 3)
    if len(text) <= limit:
        return text
    head = (limit - 1 + 1) // 2
    return f"{text[:head].rstrip()}…{text[len(text) - (limit - 1 - head) :].lstrip()}"


def quote(value: Any) -> str:
    """The text on one line, in quotes."""
    return f'"{" ".join(_text(value).split())}"'


def plural(count: Any, word: str, many: str | None = None) -> str:
    """The number with its word: `1 pod`, `5 pods`, `2 entries`; `many` is the plural where it is irregular."""
    number = int(count)
    if number == 1:
        return f"1 {word}"
    if many is None:
        if word.lower() == "endpoints":
            many = word
        elif word.endswith("y") and word[-2:-1] not in "aeiou":
            many = word[:-1] + "ies"
        elif word.endswith(("s", "x", "ch", "sh")):
            many = word + "es"
        else:
            many = word + "s"
    return f"{number} {many}"


def listing(values: Any, limit: int = 5) -> str:
    """The values as words: `a`, `a and b`, `a, b and c`, `a, b and 3 more`."""
    if isinstance(values, str):
        values = [values]
    texts = [_text(value) for value in (values or [])]
    if len(texts) > limit:
        texts = [*texts[: max(limit - 1, 1)], f"{len(texts) - max(limit - 1, 1)} more"]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def when(value: Any) -> str:
    """A time as `2026-08-18 13:06:00 UTC`; `an unknown time` for nothing."""
    if not isinstance(value, datetime):
        return "an unknown time" if value is None else _text(value)
    moment = value.astimezone(UTC) if value.tzinfo else value
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _duration(value: Any) -> str:
    """Seconds in words; `unknown` for nothing."""
    if hasattr(value, "total_seconds"):
        value = value.total_seconds()
    return times.age(None if value is None else float(value))


def _replace(value: Any, old: str, new: str) -> str:
    """The text with `old` replaced, bounded in length."""
    return _text(value)[:MAX_OUTPUT].replace(old, new[:MAX_OUTPUT], 100) if old else _text(value)


def _join(values: Any, separator: str = "", attribute: str | None = None) -> str:
    """The values as one text, bounded in number and length."""
    first = itertools.islice(values, MAX_ROWS)
    picked = [value.get(attribute) if attribute and isinstance(value, dict) else value for value in first]
    return str(separator)[:100].join(_text(value)[:MAX_OUTPUT] for value in picked)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, with arithmetic that cannot blow up."""

    intercepted_binops = frozenset(["*", "**", "%", "+"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002 - Jinja's signature
        """Arithmetic on numbers only; adding also joins short texts."""
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            if operator == "**":
                raise TemplateError("** is not allowed")
            return self.binop_table[operator](left, right)
        if operator == "+" and isinstance(left, str) and isinstance(right, str):
            return (left + right)[:MAX_OUTPUT]
        raise TemplateError(f"{operator} needs two numbers")


@lru_cache(maxsize=1)
def _environment() -> _Environment:
    environment = _Environment(autoescape=False, undefined=jinja2.StrictUndefined, finalize=_final, cache_size=0)
    environment.filters = {name: function for name, function in environment.filters.items() if name in _BUILTIN_FILTERS}
    environment.filters |= {
        "clip": clip,
        "quote": quote,
        "plural": plural,
        "listing": listing,
        "duration": _duration,
        "when": when,
        "replace": _replace,
        "join": _join,
    }
    environment.globals = {}
    return environment


def _final(value: Any) -> Any:
    """Nothing is shown as nothing, not as the word None."""
    return "" if value is None else value


class Template:
    """One template, checked before it is used."""

    __slots__ = ("_checked", "_compiled", "source")

    def __init__(self, source: str, *, checked: bool = True) -> None:
        """Checks it; it is compiled when it is first used.

        Args:
            source: its text.
            checked: false leaves the check to its first use: a start must not wait for a thousand templates whose
                rules were tested before they were shipped.

        Raises:
            TemplateError: it is no template, or uses what is not allowed.
        """
        self.source = source
        self._compiled: jinja2.Template | None = None
        self._checked = False
        if checked:
            self._check()

    def _check(self) -> nodes.Template:
        """Checks it and says how it is built."""
        if len(self.source) > MAX_TEMPLATE:
            raise TemplateError(f"is longer than {MAX_TEMPLATE} characters")
        try:
            tree = _environment().parse(self.source)
            _check(tree)
        except jinja2.TemplateError as error:
            raise TemplateError(str(error)) from None
        except RecursionError:
            raise TemplateError("is nested too deep") from None
        self._checked = True
        return tree

    def render(self, values: Mapping[str, Any], limit: int = MAX_OUTPUT) -> str:
        """The text, on the lines it has, without runs of spaces or space around it, at most `limit` characters.

        Raises:
            TemplateError: a name is not defined, or a filter cannot take its value; the template was not checked, and
                fails the check.
        """
        # What is checked only now need not be read twice.
        tree = None if self._checked else self._check()
        pieces, length = [], 0
        try:
            if self._compiled is None:
                self._compiled = _environment().from_string(tree or self.source)
            for piece in self._compiled.generate(values):
                pieces.append(piece)
                length += len(piece)
                if length > MAX_OUTPUT * 4:
                    break
        except TemplateError:
            raise
        except Exception as error:  # noqa: BLE001 - a stranger's template may fail in any way
            raise TemplateError(f"{type(error).__name__}: {error}"[:300]) from None
        return clip(_SPACES.sub(" ", "".join(pieces)).strip(), limit)


_FORBIDDEN = (nodes.Macro, nodes.CallBlock, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Pow)


def _check(tree: nodes.Template) -> None:
    """Refuses what could take unbounded time or memory. There are many templates: each is walked once."""
    filters, tests = _environment().filters, _environment().tests
    assignments = 0
    for node in tree.find_all(nodes.Node):
        if isinstance(node, _FORBIDDEN):
            raise TemplateError(f"{type(node).__name__} is not allowed")
        if isinstance(node, nodes.Filter | nodes.Test):
            if node.name not in (filters if isinstance(node, nodes.Filter) else tests):
                raise TemplateError(f"no {type(node).__name__.lower()} named {node.name!r}")
        elif isinstance(node, nodes.Call):
            if not (isinstance(node.node, nodes.Getattr) and node.node.attr in _METHODS):
                raise TemplateError("a call is not allowed")
        elif isinstance(node, nodes.Assign):
            assignments += 1
    if assignments > MAX_ASSIGNMENTS:
        raise TemplateError(f"more than {MAX_ASSIGNMENTS} assignments")
    if _loop_depth(tree) > MAX_LOOP_DEPTH:
        raise TemplateError(f"loops are nested deeper than {MAX_LOOP_DEPTH}")


def _loop_depth(node: nodes.Node) -> int:
    inner = max((_loop_depth(child) for child in node.iter_child_nodes()), default=0)
    return inner + isinstance(node, nodes.For)
