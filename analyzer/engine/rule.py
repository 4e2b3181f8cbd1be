"""One rule: what its file holds, checked. Every mistake is told with its file and line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast, get_args

from analyzer import times
from analyzer.engine.model import Basis, Owner, Severity, Waiting
from analyzer.engine.templates import Template, TemplateError
from analyzer.engine.yamltext import Document, Place
from analyzer.store.schema import BY_NAME

CODE = re.compile(r"[a-z][a-z0-9]*/[A-Z][A-Za-z0-9]{1,80}\Z")
_KEYS = frozenset(
    {
        "code",
        "severity",
        "after",
        "fades",
        "terminal",
        "owner",
        "waiting",
        "basis",
        "title",
        "message",
        "next",
        "why",
        "references",
        "needs",
        "any_of",
        "query",
        "fold",
        "explains",
        "explained_by",
        "abstain",
        "last",
        "past",
        "override",
        "trace",
        "ask",
        "ru",
    }
)
TRANSLATED = ("title", "message", "next", "why")
"""What a rule may say in a second language too, in a block named after it (`ru`): all of these, or none."""
_REQUIRED = ("code", "severity", "owner", "title", "message", "query", "why")


@dataclass(frozen=True, slots=True)
class Need:
    """What a rule cannot do without: a kind, the logs (`kind` is "logs"), custom resources of any kind (`kind` is
    "custom-resources") or a document (`kind` is "document").

    `name` is the role of the document; `status` tells that objects without a status are of no use; `table` names a table of facts
    whose rows will do too, where a kind is known by its shape in any API group, or a log of a host does as well.
    """

    kind: str
    group: str = ""
    name: str = ""
    status: bool = False
    table: str = ""

    def __str__(self) -> str:
        if self.kind in ("logs", "document", "custom-resources"):
            return f"document:{self.name}" if self.name else self.kind
        return f"{self.kind}.{self.group}" if self.group else self.kind


def fits(code: str, name: str) -> bool:
    """Whether a code is the one named; a `*` ends a name that stands for several."""
    return code == name or (name.endswith("*") and code.startswith(name[:-1]))


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of `explains` or `explained_by`: codes (a `*` ends one), and the kinds of relations between.

    `any_time` is for effects that outlive their causes: they may have begun before what keeps them up now. `apart` is for
    effects that are shown at what they hit: being about the same object says nothing of a cause then.
    """

    codes: tuple[str, ...]
    along: tuple[str, ...] = ()
    any_time: bool = False
    apart: bool = False

    def matches(self, code: str) -> bool:
        """Whether a finding of that code is meant."""
        return any(fits(code, known) for known in self.codes)


@dataclass(frozen=True, slots=True)
class Words:
    """What a rule says in another language than English."""

    title: Template
    message: Template
    next: tuple[Template, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as it runs. Ages are compared with `after` and `fades`; `last` rules see what the others found."""

    code: str
    severity: Severity
    owner: Owner
    waiting: Waiting
    basis: Basis
    title: Template
    message: Template
    next: tuple[Template, ...]
    why: str
    references: tuple[str, ...]
    needs: tuple[Need, ...]
    any_of: bool
    query: str
    abstain: str | None
    after: timedelta | None
    fades: timedelta | None
    terminal: bool
    fold: tuple[str, ...]
    explains: tuple[Cause, ...]
    explained_by: tuple[Cause, ...]
    last: bool
    past: bool
    override: bool
    trace: str | None
    ask: tuple[str, ...]
    ru: Words | None
    place: Place
    query_place: Place

    def words(self, language: str) -> Words:
        """What it says in a language; in English where it has no other words."""
        return self.ru if language == "ru" and self.ru else Words(self.title, self.message, self.next, self.why)

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that a bundle must show a trace of for this rule to be looked at."""
        return (self.domain, self.trace) if self.trace else (self.domain,)

    @property
    def domain(self) -> str:
        """The part of the code before the slash."""
        return self.code.split("/", 1)[0]


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule file that cannot be used: the code it stands for, where and why."""

    code: str
    place: Place
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class RuleError(Exception):
    """A rule file is wrong; `place` says where."""

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


def read_rule(document: Document, code: str, *, checked: bool = True) -> Rule:
    """The rule that a file holds.

    Args:
        document: the file.
        code: the code that its path stands for (`domain/Code`).
        checked: whether its templates are checked now, not when they are first used.

    Raises:
        RuleError: the first thing that is wrong with it.
    """
    reader = _Reader(document, checked=checked)
    if not isinstance(document.value, dict):
        raise reader.error("", "a rule is a mapping")
    for key in document.value:
        if key not in _KEYS:
            raise reader.error(key, f"unknown key {key!r}")
    for key in _REQUIRED:
        if key not in document.value:
            raise reader.error("", f"{key} is missing")
    found = reader.text("code")
    if not CODE.match(found):
        raise reader.error("code", f"{found!r} is no code such as pod/CrashLooping")
    if found != code:
        raise reader.error("code", f"is {found!r}, but the file's path says {code!r}")
    return Rule(
        code=code,
        severity=cast("Severity", reader.choice("severity", get_args(Severity))),
        owner=cast("Owner", reader.choice("owner", get_args(Owner))),
        waiting=cast("Waiting", reader.choice("waiting", get_args(Waiting), "unknown")),
        basis=cast("Basis", reader.choice("basis", get_args(Basis), "observed")),
        title=reader.template("title"),
        message=reader.template("message"),
        next=tuple(reader.template(f"next[{index}]", text) for index, text in enumerate(reader.texts("next"))),
        why=reader.text("why"),
        references=reader.texts("references"),
        needs=reader.needs(),
        any_of=reader.flag("any_of"),
        query=reader.text("query"),
        abstain=reader.text("abstain") if "abstain" in document.value else None,
        after=reader.duration("after"),
        fades=reader.duration("fades"),
        terminal=reader.flag("terminal"),
        fold=reader.fold(),
        explains=reader.causes("explains"),
        explained_by=reader.causes("explained_by"),
        last=reader.flag("last"),
        past=reader.flag("past"),
        override=reader.flag("override"),
        trace=reader.text("trace") if reader.has("trace") else None,
        ask=reader.texts("ask"),
        ru=reader.words("ru"),
        place=document.place("code"),
        query_place=document.place("query"),
    )


class _Reader:
    """Reads the fields of one rule file."""

    def __init__(self, document: Document, *, checked: bool) -> None:
        self._document = document
        self._checked = checked
        self._value: dict[str, Any] = document.value if isinstance(document.value, dict) else {}

    def error(self, path: str, problem: str) -> RuleError:
        return RuleError(self._document.place(path), problem)

    def text(self, key: str) -> str:
        value = self._value.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, f"{key} must be text")
        return value.strip()

    def has(self, key: str) -> bool:
        return key in self._value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._value.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(key, f"{key} must be a list of texts")
        return tuple(value)

    def flag(self, key: str) -> bool:
        value = self._value.get(key, False)
        if not isinstance(value, bool):
            raise self.error(key, f"{key} must be true or false")
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        value = self._value.get(key, default)
        if value not in allowed:
            raise self.error(key, f"{key} is {value!r}, must be one of {', '.join(allowed)}")
        return str(value)

    def duration(self, key: str) -> timedelta | None:
        if key not in self._value:
            return None
        try:
            return times.duration(str(self._value[key]))
        except ValueError:
            raise self.error(key, f"{key} is {self._value[key]!r}, must be a duration such as 5m") from None

    def template(self, path: str, source: str | None = None) -> Template:
        try:
            return Template(self.text(path) if source is None else source, checked=self._checked)
        except TemplateError as error:
            raise self.error(path, f"template of {path}: {error}") from None

    def words(self, key: str) -> Words | None:
        """The block of another language: every text of the rule, with as many steps."""
        block = self._value.get(key)
        if block is None:
            return None
        if not isinstance(block, dict) or set(block) != set(TRANSLATED):
            raise self.error(key, f"{key} holds {', '.join(TRANSLATED)}, all of them")
        steps = block["next"]
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            raise self.error(f"{key}.next", f"{key}.next must be a list of texts")
        if len(steps) != len(self.texts("next")):
            raise self.error(f"{key}.next", f"{key}.next has {len(steps)} steps, next has {len(self.texts('next'))}")
        for name in ("title", "message", "why"):
            if not isinstance(block[name], str) or not block[name].strip():
                raise self.error(f"{key}.{name}", f"{key}.{name} must be text")
        return Words(
            title=self.template(f"{key}.title", block["title"].strip()),
            message=self.template(f"{key}.message", block["message"].strip()),
            next=tuple(self.template(f"{key}.next[{index}]", step) for index, step in enumerate(steps)),
            why=block["why"].strip(),
        )

    def fold(self) -> tuple[str, ...]:
        value = self._value.get("fold")
        if value is None:
            return ()
        columns = value.get("by") if isinstance(value, dict) else None
        if not isinstance(columns, list) or not columns or not all(isinstance(item, str) for item in columns):
            raise self.error("fold", "fold must be {by: [column, …]}")
        return tuple(columns)

    def needs(self) -> tuple[Need, ...]:
        value = self._value.get("needs", [])
        if not isinstance(value, list):
            raise self.error("needs", "needs must be a list")
        return tuple(self._need(f"needs[{index}]", item) for index, item in enumerate(value))

    def _need(self, path: str, item: Any) -> Need:
        status, table = False, ""
        if isinstance(item, dict):
            table = item.get("table", "")
            if set(item) - {"kind", "status", "table"} or not isinstance(item.get("status", False), bool):
                raise self.error(path, "a need is a kind or {kind: …, status: true, table: …}")
            if not isinstance(table, str) or (table and (table not in BY_NAME or BY_NAME[table].stage != "facts")):
                raise self.error(path, f"table {table!r} is no table of facts")
            status, item = item.get("status", False), item.get("kind")
        if not isinstance(item, str) or not item:
            raise self.error(path, "a need is a kind, logs, custom-resources or document:ROLE")
        if item in ("logs", "custom-resources"):
            return Need(item, table=table)
        if item.startswith("document:"):
            return Need("document", name=item.removeprefix("document:"))
        kind, _, group = item.partition(".")
        return Need(kind, group, status=status, table=table)

    def causes(self, key: str) -> tuple[Cause, ...]:
        value = self._value.get(key, [])
        if not isinstance(value, list):
            raise self.error(key, f"{key} must be a list")
        causes = []
        for index, item in enumerate(value):
            codes = item.get("codes") if isinstance(item, dict) else None
            along = item.get("along", []) if isinstance(item, dict) else None
            if not _words(codes) or not _words(along, empty=True) or set(item) - {"codes", "along", "any_time", "apart"}:
                raise self.error(f"{key}[{index}]", f"an entry of {key} holds codes: […], along: […], any_time and apart")
            flags = {flag: item.get(flag, False) for flag in ("any_time", "apart")}
            if not all(isinstance(value, bool) for value in flags.values()):
                raise self.error(f"{key}[{index}]", "any_time and apart must be true or false")
            causes.append(Cause(tuple(codes or ()), tuple(along or ()), **flags))
        return tuple(causes)


def _words(value: Any, *, empty: bool = False) -> bool:
    return isinstance(value, list) and (empty or bool(value)) and all(isinstance(item, str) for item in value)
