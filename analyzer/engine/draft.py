"""Rows of a rule's query become findings: ages, severities, folding, words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast, get_args

from analyzer import times
from analyzer.engine.model import SEVERITIES, Basis, EvidenceKind, ObjectRef, Owner, Severity, Waiting
from analyzer.engine.objects import Known, Objects
from analyzer.engine.query import Row
from analyzer.engine.rule import Rule
from analyzer.engine.templates import MAX_ROWS, TemplateError

MAX_TITLE = 300
MAX_NEXT = 1_000
MAX_EVIDENCE = 12
"""Quotes of one finding."""
MAX_PART = 200

_TWO_STOPS = re.compile(r'([.!?])"\.(?=\s|\Z)')
"""A quote that ends its sentence with a stop of its own needs no second one."""

_STATED: dict[str, str] = {"error": "an error", "warning": "a warning", "info": "information"}


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence as a query gave it: `origin` is object, log or file, `id` is its number there."""

    origin: str
    id: int
    line: int | None
    path: str
    value: str
    kind: EvidenceKind


@dataclass(slots=True)
class Draft:
    """A finding that still knows the database: its objects by id, its evidence without lines.

    `causes`: it may explain others, as its rule says; False where its row says that it cannot.
    """

    rule: Rule
    id: str
    about: Known
    members: list[Known]
    severity: Severity
    since: datetime | None
    age_seconds: int | None
    owner: Owner
    waiting: Waiting
    basis: Basis
    title: str
    message: str
    next: tuple[str, ...]
    quotes: list[Quote]
    why: str
    count: int = 1
    causes: bool = True

    @property
    def code(self) -> str:
        """The rule's code."""
        return self.rule.code


@dataclass(frozen=True, slots=True)
class Context:
    """What ages and words depend on beside the rows: the time of each input (aware), the newest of them, `kubectl` or `oc`, and
    the language of rules that have more than one.
    """

    as_of: dict[int, datetime]
    newest: datetime | None
    cli: str = "kubectl"
    language: str = "en"


@dataclass(slots=True)
class _Case:
    """One row that stands: with its object, age and severity."""

    row: Row
    known: Known
    since: datetime | None
    age: int | None
    severity: Severity
    note: str
    part: str
    fold_key: tuple[str, ...] | None = field(default=None)


class RowError(Exception):
    """A row of a rule cannot be used; the rule is broken."""


def drafts(rule: Rule, rows: Sequence[Row], objects: Objects, context: Context) -> tuple[list[Draft], list[str]]:
    """The findings that a rule's rows stand for.

    Args:
        rule: the rule.
        rows: what its query gave.
        objects: look-up of objects by id.
        context: what ages are measured at.

    Returns:
        The findings in the order of their first rows, and what was wrong with rows that could not be used.
    """
    _prefetch(rule, rows, objects)
    problems: dict[str, None] = {}
    groups: dict[Any, list[_Case]] = {}
    for number, row in enumerate(rows):
        try:
            case = _case(rule, row, objects, context)
        except RowError as error:
            problems.setdefault(str(error))
            continue
        if case is not None:
            groups.setdefault(case.fold_key or number, []).append(case)
    found = []
    for cases in groups.values():
        try:
            found.append(_draft(rule, cases, objects, context))
        except (RowError, TemplateError) as error:
            problems.setdefault(str(error))
    return found, list(problems)


def _prefetch(rule: Rule, rows: Sequence[Row], objects: Objects) -> None:
    columns = {"object_id", "fold_id", *(name for name in rule.fold if name.endswith("_id"))}
    objects.fetch(row[name] for row in rows for name in columns if isinstance(row.get(name), int))


def _case(rule: Rule, row: Row, objects: Objects, context: Context) -> _Case | None:
    """The row with its age and severity; None where it is too young to be a finding."""
    known = _object(row, objects)
    severity = cast("Severity", _override(row, "severity", get_args(Severity), rule.severity))
    since = _aware(row.get("since"))
    now = context.newest if known.input is None else context.as_of.get(known.input)
    age = int((now - since).total_seconds()) if now and since else None
    note = ""
    after = _after(rule, row)
    if age is None:
        terminal = row.get("terminal")
        if (after or rule.fades) and not (rule.terminal if terminal is None else terminal) and severity != "info":
            severity = SEVERITIES[SEVERITIES.index(severity) + 1]
            unknown = "Nothing says when the bundle was collected" if since else "Nothing says since when"
            note = f"{unknown}, so this counts as {_STATED[severity]} only."
    else:
        if age < 0:
            note = f"Its time lies {times.age(-age)} after the end of the collection: the clocks differ, the age counts as 0."
            age = 0
        if after and age < after:
            return None
        if rule.fades and age > rule.fades.total_seconds():
            severity = "info"
    part = str(row.get("part") or "")[:MAX_PART]
    return _Case(row, known, since, age, severity, note, part, _fold_key(rule, row, objects))


def _after(rule: Rule, row: Row) -> float:
    """The least age in seconds; a row may have its own (`after`, such as `10m`, or `0s` for at once)."""
    own = row.get("after")
    if own is None:
        return rule.after.total_seconds() if rule.after else 0.0
    if hasattr(own, "total_seconds"):
        return float(own.total_seconds())
    try:
        return times.duration(str(own)).total_seconds()
    except ValueError:
        raise RowError(f"column after is {own!r}, no duration such as 5m") from None


def _object(row: Row, objects: Objects) -> Known:
    number = row.get("object_id")
    if number is not None:
        known = objects.get(int(number))
        if known is None:
            raise RowError(f"object_id {number} is no object of the bundle")
        return known
    kind, name = row.get("object_kind"), row.get("object_name")
    if not kind or not name:
        raise RowError("a row names no object: object_id, or object_kind and object_name")
    ref = ObjectRef(str(row.get("object_group") or ""), str(kind), str(row.get("object_namespace") or ""), str(name))
    return Known(None, ref)


def _fold_key(rule: Rule, row: Row, objects: Objects) -> tuple[str, ...] | None:
    """What rows of one finding have in common, in words that hold over a new run; None where the row stands alone."""
    if not rule.fold:
        return None
    for name in rule.fold:
        if name not in row:
            raise RowError(f"fold names column {name}, which the query does not give")
    if row[rule.fold[0]] is None:
        return None
    return tuple(_stable(name, row[name], objects) for name in rule.fold)


def _stable(name: str, value: Any, objects: Objects) -> str:
    known = objects.get(value) if name.endswith("_id") and isinstance(value, int) else None
    return "/".join(known.key) if known else str(value)


def _draft(rule: Rule, cases: list[_Case], objects: Objects, context: Context) -> Draft:
    first = cases[0]
    members = _distinct(case.known for case in cases)
    about = first.known
    folded = len(members) > 1
    if folded:
        about = _shown_at(first.row, objects) or about
    dated = [case for case in cases if case.since is not None]
    oldest = min(dated, key=lambda case: cast("datetime", case.since)) if dated else first
    severity = min((case.severity for case in cases), key=SEVERITIES.index)
    names = [_name(known.ref) for known in members]
    values = dict(first.row) | {
        "object": {"group": about.ref.group, "kind": about.ref.kind, "namespace": about.ref.namespace, "name": about.ref.name},
        # It stands in sentences: "for 5 min", "5 min before the end".
        "age": "an unknown time" if oldest.age is None else times.age(oldest.age),
        "count": len(members),
        "names": names[:MAX_ROWS],
        "rows": [case.row for case in cases[:MAX_ROWS]],
        "platform_cli": context.cli,
    }
    words = rule.words(context.language)
    message = _TWO_STOPS.sub(r'\1"', words.message.render(values))
    note = next((case.note for case in cases if case.severity == severity), "")
    identity = [*(first.fold_key or ())] if folded else ["object", *first.known.key]
    return Draft(
        rule=rule,
        id=_digest([rule.code, *identity, "" if folded else first.part]),
        about=about,
        members=members,
        severity=severity,
        since=oldest.since,
        age_seconds=oldest.age,
        owner=_owner(rule, first.row, about, objects),
        waiting=cast("Waiting", _override(first.row, "waiting", get_args(Waiting), rule.waiting)),
        basis=cast("Basis", _override(first.row, "basis", get_args(Basis), rule.basis)),
        title=" ".join(words.title.render(values, MAX_TITLE).split()),
        message=f"{message} {note}".strip() if note else message,
        next=tuple(dict.fromkeys(text for step in words.next if (text := step.render(values, MAX_NEXT)))),
        quotes=_quotes(cases),
        why=words.why,
        count=len(members),
        causes=any(case.row.get("causes") is not False for case in cases),
    )


def _owner(rule: Rule, row: Row, about: Known, objects: Objects) -> Owner:
    """Who acts, as the row or the rule says; in namespaces of the platform no workload is one of a user."""
    owner = _override(row, "owner", get_args(Owner), rule.owner)
    return cast("Owner", (objects.platform_owner(about.ref) or owner) if owner == "workload" else owner)


def _shown_at(row: Row, objects: Objects) -> Known | None:
    """The object that a folded finding is shown at: `fold_id`, else by name (`fold_kind`…), for the bundle may lack it."""
    if row.get("fold_id") is not None:
        return objects.get(int(row["fold_id"]))
    kind, name = row.get("fold_kind"), row.get("fold_name")
    if not kind or not name:
        return None
    return Known(None, ObjectRef(str(row.get("fold_group") or ""), str(kind), str(row.get("fold_namespace") or ""), str(name)))


def _quotes(cases: list[_Case]) -> list[Quote]:
    """The evidence of the rows, each quote once, the first row's first."""
    seen: dict[Quote, None] = {}
    for case in cases:
        listed = case.row.get("evidence") or []
        if not isinstance(listed, list):
            raise RowError("column evidence is no list")
        for item in listed:
            if item is None or item.get("id") is None:
                continue
            if item.get("kind") not in get_args(EvidenceKind):
                raise RowError(f"evidence of kind {item.get('kind')!r}")
            if item.get("value") is None:  # A field that is not there.
                continue
            value = str(item["value"])
            seen.setdefault(Quote(item["origin"], item["id"], item.get("line"), item.get("path") or "", value, item["kind"]))
            if len(seen) >= MAX_EVIDENCE:
                return list(seen)
    return list(seen)


def _override(row: Row, column: str, allowed: tuple[str, ...], default: str) -> str:
    value = row.get(column)
    if value is None:
        return default
    if value not in allowed:
        raise RowError(f"column {column} is {value!r}, must be one of {', '.join(allowed)}")
    return str(value)


def _distinct(known: Iterable[Known]) -> list[Known]:
    first: dict[tuple[str, str, str, str], Known] = {}
    for one in known:
        first.setdefault(one.key, one)
    return list(first.values())


def _name(ref: ObjectRef) -> str:
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name


def _aware(value: Any) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise RowError(f"column since is {value!r}, no time")
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def _digest(parts: Iterable[str]) -> str:
    """The stable id of a finding: readable enough to be quoted, long enough not to meet another."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def unique_ids(found: Iterable[Draft], digest: Callable[[list[str]], str] = _digest) -> None:
    """Gives findings that would have the same id different ones, in the order of the list."""
    seen: dict[str, int] = {}
    for draft in found:
        number = seen.get(draft.id, 0)
        seen[draft.id] = number + 1
        if number:
            draft.id = digest([draft.id, str(number)])
