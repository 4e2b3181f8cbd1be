"""`python -m analyzer.engine.catalogue` writes docs/rules.md: every rule, from its file and its first case that fires.

`--check` writes nothing and says by its exit code whether the page is current.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from analyzer.engine.case_check import Bench, bench, report_of
from analyzer.engine.case_file import read_cases
from analyzer.engine.model import Finding, Report
from analyzer.engine.pack import CASES_SUFFIX, Pack, load_packs
from analyzer.engine.rule import Cause, Rule
from analyzer.engine.rulewords import needs, stands

_HEAD = """\
# The rules

<!-- Made by `python -m analyzer.engine.catalogue` from the files in rules/; change those, not this page. -->

Every rule that comes with triage. `triage rules show CODE` prints one with its query, [the format](rule-format.md) says what the
fields of its file mean, [writing rules](writing-rules.md) how to add one of your own.

*Stands* is the age from which a finding stands. *Needs* is what must be in the bundle; without it the rule is listed as not
evaluated. The example is what the rule says of the first of [its cases](rule-format.md#cases) that fires; all
names in it are invented.
"""

_MARKUP = re.compile(r"([\\`*_\[\]<>|~])")
_OWN = ("severity", "after", "owner", "waiting", "basis")
"""Columns by which a query gives another value than the rule's own."""


def page() -> Path:
    """docs/rules.md of this checkout."""
    return Path(__file__).resolve().parent.parent.parent / "docs" / "rules.md"


def catalogue(*, examples: bool = True) -> str:
    """The page as the rules have it now; without `examples` no case runs, and the page has none."""
    pack = load_packs()[0]
    rules = sorted(pack.rules, key=lambda rule: rule.code)
    shared = bench((pack,)) if examples else None
    lines = [_HEAD]
    lines += ["| code | severity | stands | about |", "| --- | --- | --- | --- |"]
    lines += [f"| [{rule.code}](#{anchor(rule.code)}) | {rule.severity} | {stands(rule)} | {_cell(rule.why)} |" for rule in rules]
    for domain, own in itertools.groupby(rules, key=lambda rule: rule.domain):
        lines += ["", f"## {domain}"]
        for rule in own:
            lines += ["", *section(rule, example(shared, pack, rule) if shared else None)]
    return "\n".join(lines) + "\n"


def anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def example(shared: Bench, pack: Pack, rule: Rule) -> Finding | None:
    """The finding of the first case of a rule that fires; None where none does.

    Raises:
        YamlError: its cases cannot be read.
    """
    path = pack.folder / f"{rule.code}{CASES_SUFFIX}"
    for case in read_cases(path, path.name) if path.is_file() else ():
        if case.fires:
            return first(report_of(shared, rule, case), rule)
    return None


def first(report: Report, rule: Rule) -> Finding | None:
    """The finding of a rule that stands first in a report."""
    return next((found for found in report.findings if found.code == rule.code), None)


def section(rule: Rule, found: Finding | None) -> list[str]:
    """The lines about one rule, with a finding as the example."""
    may_differ = [name for name in _OWN if re.search(rf"\bAS {name}\b", rule.query)]
    lines = [
        f"### {rule.code}",
        "",
        _text(rule.why),
        "",
        f"- **Severity**: {rule.severity}. **Stands**: {stands(rule)}. **Basis**: {rule.basis}.",
        f"- **Who acts**: {rule.owner}. **Waiting helps**: {rule.waiting}.",
    ]
    if may_differ:
        lines.append(f"- The query may give another {_listed(may_differ)}, case by case.")
    lines.append(f"- **Needs**: {_text(needs(rule))}")
    lines += [f"- **Explains**: {text}" for text in _links(rule.explains)]
    lines += [f"- **Explained by**: {text}" for text in _links(rule.explained_by)]
    lines.append(f"- **Read more**: {', '.join(f'<{link}>' for link in rule.references)}")
    lines.append(f"- **Files**: [rule](../rules/{rule.code}.yaml), [cases](../rules/{rule.code}{CASES_SUFFIX})")
    if found:
        lines += ["", f"Example: **{_text(found.title)}**", ""]
        lines += [f"{number}. {_text(step)}" for number, step in enumerate(found.next, 1)]
    return lines


def _links(causes: Sequence[Cause]) -> list[str]:
    return [f"{', '.join(f'`{code}`' for code in one.codes)} along {_listed(one.along) or 'the same object'}" for one in causes]


def _listed(words: Iterable[str]) -> str:
    return " or ".join(words)


def _text(text: str) -> str:
    """Text on one line that is nothing but text in Markdown."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _cell(text: str) -> str:
    """The first sentence."""
    return _text(re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(text.split()), maxsplit=1)[0])


def main() -> int:
    """Writes the page, or checks it; 1 where it is not current."""
    current = catalogue()
    if "--check" in sys.argv[1:]:
        return int(not page().is_file() or page().read_text(encoding="utf-8") != current)
    page().write_text(current, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
