"""Words for many findings of one kind: what their titles have in common, with a count in the place of the names.

Titles of rules are written as `Object did what: why`; of a folded finding `5 pods of Deployment shop/web did what: why`.
Nothing here knows a rule: where a title is written otherwise, what differs becomes `…`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from analyzer.engine.draft import MAX_TITLE, Draft
from analyzer.engine.model import ObjectRef
from analyzer.engine.templates import clip, plural

GAP = "…"
"""Stands for what is not the same in all titles."""

_FOLDED = re.compile(
    r"(?<!\S)(?P<count>\d+) (?P<noun>[A-Za-z]\w*(?: claims)?)"
    r"(?: (?:of|in|on) (?P<kind>[A-Z]\w*|node|namespace) (?P<name>[^\s:;,]+))?"
)
_LOWER = {"Pod": "pod", "Node": "node"}
_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
_ADVERB = re.compile(r"(?:no longer|still|also|now) ")
_SECOND = re.compile(r"\b(and|but) (is|was|has|does|waits|runs)\b")
_ITS = re.compile(r"\bits\b")


@dataclass(frozen=True, slots=True)
class Said:
    """A title taken apart: `before` COUNT `noun` (of `kind` `name`) `after`: `cause`.

    `noun` is in the plural, and empty where the title names none of its objects; then `after` is all before the cause.
    """

    before: str
    noun: str
    kind: str
    name: str
    after: str
    cause: str

    @property
    def pattern(self) -> tuple[str, str, str]:
        """What titles of one kind have in common before the cause."""
        return self.before, self.noun, self.after


def said(draft: Draft) -> Said:
    """The title of a finding taken apart, names of its own objects in its cause replaced by `…`."""
    head, colon, cause = draft.title.partition(": ")
    ref = draft.about.ref
    masked = _masked(cause, ref) if colon else ""
    if draft.count > 1:
        for found in _FOLDED.finditer(head):
            if int(found["count"][:9]) == draft.count:
                before, after = head[: found.start()].strip(), head[found.end() :].strip()
                masked = _without(masked, found["name"] or "")
                return Said(before, _many(found["noun"]), found["kind"] or "", found["name"] or "", after, masked)
    elif (single := _single(head, ref)) is not None:
        before, noun, after = single
        return Said(before, noun, "", "", after, masked)
    return Said("", "", "", "", _masked(head, ref), masked)


def label(draft: Draft) -> str:
    """What tells this finding from others of its kind: the owner that its title names, else its object."""
    own = said(draft)
    return f"{own.kind} {own.name}" if own.name else str(draft.about.ref)


def title(drafts: Sequence[Draft]) -> str:
    """One title for findings of one kind: `1,000 Workloads of 200 ClusterQueues cannot be admitted: …`."""
    parts = [said(draft) for draft in drafts]
    cause = common([draft.title.partition(": ")[2] for draft in drafts])
    if GAP in cause:
        cause = common([part.cause for part in parts])
    nouns = {part.noun for part in parts}
    if len(nouns) == 1 and (noun := parts[0].noun):
        total = len({known.key for draft in drafts for known in draft.members})
        before, after = common([part.before for part in parts]), common([part.after for part in parts])
        head = " ".join(word for word in (before, f"{total:,} {noun}{_where(drafts, parts)}", after) if word)
        # What stands before is the subject; else the many are, and so is what is theirs.
        if not before:
            head, cause = _ITS.sub("their", head), cause if '"' in cause else _ITS.sub("their", cause)
    else:
        head = f"{common([draft.title.partition(': ')[0] for draft in drafts])} ({len(drafts):,} times)"
    whole = f"{head}: {cause}" if cause.strip(f"{GAP} ") else head
    return clip(whole, MAX_TITLE)


def common(texts: Sequence[str]) -> str:
    """The words that all texts share, in their order, and `…` for what lies between."""
    if len(set(texts)) == 1:
        return texts[0]
    rows = [text.split() for text in texts]
    if len({len(row) for row in rows}) == 1:
        words = [column[0] if len(set(column)) == 1 else GAP for column in zip(*rows, strict=True)]
    else:
        head = _shared(rows)
        tail = _shared([row[len(head) :][::-1] for row in rows])[::-1]
        words = [*head, GAP, *tail]
    kept = [word for at, word in enumerate(words) if word != GAP or words[at - 1 : at] != [GAP]]
    return " ".join(kept)


def _shared(rows: Sequence[Sequence[str]]) -> list[str]:
    """The words that all rows begin with."""
    words = []
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        words.append(column[0])
    return words


def _where(drafts: Sequence[Draft], parts: Sequence[Said]) -> str:
    kinds, owners = {part.kind for part in parts}, {part.name for part in parts}
    if len(kinds) == 1 and (kind := parts[0].kind):
        return f" of {len(owners):,} {_many(kind)}" if len(owners) > 1 else f" of {kind} {parts[0].name}"
    spaces = {draft.about.ref.namespace for draft in drafts}
    if "" in spaces:
        return ""
    return f" in {len(spaces):,} namespaces" if len(spaces) > 1 else f" in namespace {spaces.pop()}"


def _single(head: str, ref: ObjectRef) -> tuple[str, str, str] | None:
    """The words before the object, its noun in the plural, and what follows; None where the head does not name it."""
    if not ref.name:
        return None
    for name in (f"{ref.namespace}/{ref.name}", ref.name) if ref.namespace else (ref.name,):
        at = _place(head, name)
        if at < 0:
            continue
        words, after = head[:at].split(), head[at + len(name) :].strip()
        if len(words) <= 2 and all(word[:1].isupper() or word == "claim" for word in words):
            return "", _many(" ".join(words) or ref.kind), _plural_verbs(after)
        last = words[-1]
        if last == "PCI":  # An address of something, no noun that can be counted.
            return None
        noun = last if last[:1].isupper() or last in ("pod", "node", "claim") else ref.kind
        return " ".join(words[:-1] if noun == last else words), _many(noun), after
    return None


def _place(head: str, name: str) -> int:
    """Where the name stands as a word of its own; -1 where it does not."""
    at = head.find(name)
    while at >= 0:
        if head[:at][-1:] in ("", " ") and head[at + len(name) :][:1] in ("", " ", ",", ";", ":"):
            break
        at = head.find(name, at + 1)
    return at


def _plural_verbs(text: str) -> str:
    """What is said of one thing, of many: `waits for a node` becomes `wait for a node`."""
    adverb = _ADVERB.match(text)
    lead = adverb[0] if adverb else ""
    verb, space, rest = text[len(lead) :].partition(" ")
    if verb in _VERBS:
        verb = _VERBS[verb]
    elif re.fullmatch(r"[a-z]+(?:ch|sh|ss|x)es", verb):
        verb = verb[:-2]
    elif re.fullmatch(r"[a-z]{2,}[^\Ws]s", verb):
        verb = verb[:-1]
    words = f"{lead}{verb}{space}{rest}"
    return _SECOND.sub(lambda found: f"{found[1]} {_VERBS.get(found[2], found[2].removesuffix('s'))}", words)


@lru_cache(maxsize=1000)
def _many(noun: str) -> str:
    noun = _LOWER.get(noun, noun)
    return noun if noun.endswith("s") and not noun.endswith("ss") else plural(2, noun)[2:]


def _masked(text: str, ref: ObjectRef) -> str:
    for name in (f"{ref.namespace}/{ref.name}", ref.name, ref.namespace):
        text = _without(text, name)
    return text


def _without(text: str, name: str) -> str:
    """The text with `…` for each word that is this name."""
    if len(name) < 2 or name not in text:
        return text
    return " ".join(GAP if word.strip("\"'(),;.") == name else word for word in text.split(" "))
