"""The case in a few plain lines, for a ticket that takes no markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from analyzer.engine.model import Report
from analyzer.render import words
from analyzer.render.escape import clip, cut, one_line
from analyzer.render.json import single_rules
from analyzer.render.view import IncidentView, missing

INCIDENTS: Final = 6


def ticket(report: Report, views: Sequence[IncidentView]) -> str:
    """The verdict, the first incidents and what is missing, as plain text."""
    made = [f"triage {report.tool_version}"]
    made += [f"{words.FORMAT.get(item.format, item.format)} {clip(one_line(item.path), 80)}" for item in report.inputs[:2]]
    made.append(f"collected {words.stamp(report.collected_at)}")
    lines = [one_line(report.verdict), f"({', '.join(made)})", ""]
    for view in views[:INCIDENTS]:
        lines.append(f"{view.number}. {view.severity.upper()}  {clip(view.title, 300)}")
        if view.alike:
            lines.append(f"   {words.number(len(view.alike))} incidents: {view.named}.")
        says = [f"Who acts: {view.owner.lower()}.", f"Does waiting help: {view.waiting.lower()}.", f"Since: {view.since}."]
        if view.broken:
            says.insert(0, f"Broken now: {', '.join(view.broken)}.")
        lines.append("   " + " ".join(says))
        if view.first_step:
            lines.append(f"   First: {cut(one_line(view.first_step), 200)}")
    if len(views) > INCIDENTS:
        lines.append(f"{words.number(len(views) - INCIDENTS)} more in the report.")
    open_rules = len({item.code for item in single_rules(report)})
    if open_rules:
        needs = words.listed((cut(need, 60) for need in missing(report)), 6)
        because = f" Missing: {needs}." if needs else ""
        lines += ["", f"Not evaluated: {open_rules} of {words.plural(report.rules.count, 'rule')}.{because}"]
    return "\n".join(lines)
