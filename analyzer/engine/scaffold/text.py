"""A rule and its cases as the text of their files."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import yaml

from analyzer.engine.scaffold.answers import Answers
from analyzer.engine.scaffold.material import Material

WIDTH = 120

# No word that YAML or our reader takes for something else, nothing that begins or ends a value.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./()-]+)*\Z")
_URL = re.compile(r"https://[\w./#?=&%~+-]+\Z")
_BRACES = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


def rule_text(answers: Answers, made: Material) -> str:
    """The rule's file."""
    lines = [f"code: {answers.code}", f"severity: {answers.severity}"]
    if answers.after:
        lines.append(f"after: {answers.after}")
    lines += [f"owner: {answers.owner}", f"waiting: {answers.waiting}", "basis: observed"]
    lines += _block("title", _with_object(answers, made)) + _block("message", made.message)
    lines += ["next:", *_items(answers.next), *_block("why", answers.why), "references:", *_items(answers.references)]
    lines += [
        f"needs: {_flow(list(made.needs))}",
        "query: |",
        *(f"  {line.rstrip()}" for line in made.query.strip().splitlines()),
    ]
    return "\n".join(lines) + "\n"


def cases_text(made: Material) -> str:
    """The cases' file."""
    lines = ["cases:"]
    for case in made.cases:
        lines.append(f"  - name: {_scalar(case['name'])}")
        lines.append(f"    at: {case['at']}")
        for key in ("logs", "objects"):
            if case.get(key):
                lines.append(f"    {key}:")
                for item in case[key]:
                    lines += _mapping(item)
        if case.get("missing"):
            lines.append(f"    missing: {_flow(case['missing'])}")
        expect = case["expect"]
        if "findings" in expect:
            lines += ["    expect:", "      findings:", *(f"        - {_flow(found)}" for found in expect["findings"])]
        else:
            lines.append(f"    expect: {_flow(expect)}")
    return "\n".join(lines) + "\n"


def signatures_text(made: Material) -> str:
    """The file of the signatures that the rule looks for; empty where it looks for none."""
    if not made.signatures:
        return ""
    return "\n".join(["signatures:", *(line.removeprefix("    ") for one in made.signatures for line in _mapping(one))]) + "\n"


def _with_object(answers: Answers, made: Material) -> str:
    """The title, with the object in front where it names none."""
    return answers.title if "{{" in answers.title else f"{made.subject} {{{{ about }}}}: {answers.title}"


def _mapping(value: dict[str, Any]) -> list[str]:
    """An item of a list: one key a line."""
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, str) and "\n" in item:
            lines += [f"{key}: |", *(f"  {line}" for line in item.splitlines())]
        else:
            lines.append(f"{key}: {_flow(item)}")
    return [f"      {'- ' if number == 0 else '  '}{line}" for number, line in enumerate(lines)]


def _block(key: str, text: str) -> list[str]:
    """A folded text."""
    return [f"{key}: >-", *_wrapped(text, "  ")]


def _items(texts: tuple[str, ...]) -> list[str]:
    """A list of texts."""
    lines: list[str] = []
    for text in texts:
        lines += [f"  - {text}"] if _is_plain(text) or _URL.match(text) else ["  - >-", *_wrapped(text, "    ")]
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    """The text on lines of bounded width; what stands in braces stays together."""
    text = _BRACES.sub(lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"{indent}{line}".replace("\0", " ") for line in lines]


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.match(text)) and text.lower() not in _WORDS


def _scalar(text: str) -> str:
    return text if _is_plain(text) else _flow(text)


def _flow(value: Any) -> str:
    """A value on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")
