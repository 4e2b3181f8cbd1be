"""`report.md`: the case as a ticket takes it, in GitHub Flavored Markdown.

No table and no raw HTML: lists and fenced text survive every ticket system. Text of a bundle stands in a line that
has begun with words of ours, escaped, or in a code span or fence that it cannot close (analyzer.render.escape).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from analyzer.engine.model import Finding, Report
from analyzer.render import words
from analyzer.render.covered import capped
from analyzer.render.escape import clip, cut, md_code, md_fence, md_text, one_line, short_path
from analyzer.render.json import single_rules
from analyzer.render.markdown_cluster import cluster_blocks
from analyzer.render.tree import Step
from analyzer.render.view import (
    IncidentView,
    asks,
    every_one,
    full_views,
    in_incidents,
    incident_views,
    measured_at,
    not_shown,
    quotes,
    unknown_domains,
)

Flavor = Literal["gfm"]

STEPS: Final = 12
DEPTH: Final = 4
QUOTES: Final = 3
WHY: Final = 400
"""Characters of what a rule says about why it matters."""
_NOTE: Final = 120
"""Characters that the note of a cut text takes at most, with what joins it."""
MAX_CHARS: Final = 32_000
"""Without another limit: what the fields of ticket systems take (Jira's text fields end at 32,767 characters)."""
OTHERS: Final = 200
ASKS: Final = 60
CODES: Final = 12
LISTED: Final = 20
_KEEP, _INCIDENT, _NEXT, _EVIDENCE, _OPEN, _CHAIN, _OTHER, _COVERAGE, _CLUSTER, _WHY = range(10)


@dataclass(frozen=True, slots=True)
class _Block:
    """A piece of the text that stays or goes as a whole; a lower `rank` stays longer where there is a limit.

    `findings` is how many it lists.
    """

    rank: int
    text: str
    findings: int = 0


def report_markdown(report: Report, flavor: Flavor = "gfm", max_chars: int = MAX_CHARS) -> str:
    """The report as Markdown, the verdict in its first line.

    Args:
        report: the frozen result; every text in it may be hostile.
        flavor: `gfm`.
        max_chars: at most so many characters; what matters least goes first, and the text says that it is cut.

    Raises:
        ValueError: the flavor is not known.
    """
    if flavor != "gfm":
        raise ValueError(f"unknown flavor of Markdown: {flavor!r}")
    blocks = _blocks(report)
    text = _joined(blocks)
    if len(text) <= max_chars:
        return text
    return _cut(blocks, max_chars)


def _joined(blocks: list[_Block]) -> str:
    return "\n\n".join(block.text for block in blocks) + "\n"


def _cut(blocks: list[_Block], limit: int) -> str:
    """The blocks that fit, those of a lower rank first, in their own order; the first that does not fit ends it."""
    left = limit - _NOTE
    kept: set[int] = set()
    for index in sorted(range(len(blocks)), key=lambda index: (blocks[index].rank, index)):
        cost = len(blocks[index].text) + 2
        if cost > left:
            break
        kept.add(index)
        left -= cost
    gone = sum(block.findings for index, block in enumerate(blocks) if index not in kept)
    lost = f"{words.plural(gone, 'finding')} of the list left out; " if gone else ""
    note = _Block(_KEEP, f"Cut to fit: {lost}the whole report is in `report.html` and `report.json`.")
    text = _joined([*(block for index, block in enumerate(blocks) if index in kept), note])
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "\n"


def _blocks(report: Report) -> list[_Block]:
    views = incident_views(report)
    full = full_views(views)
    blocks = [_Block(_KEEP, f"**{md_text(report.verdict) or 'no verdict'}**"), _Block(_KEEP, _counts(report, views))]
    shown: set[str] = set()
    for view in full:
        blocks += _incident(report, view, shown)
    blocks += _others(report, views, shown)
    blocks += _open(report)
    blocks += [_Block(_CLUSTER, text) for text in cluster_blocks(report)]
    blocks.append(_Block(_COVERAGE, _coverage(report)))
    blocks.append(_Block(_KEEP, _made(report)))
    return [block for block in blocks if block.text]


def _counts(report: Report, views: tuple[IncidentView, ...]) -> str:
    open_rules = len({item.code for item in single_rules(report)})
    return (
        f"{words.counts(report)} {', '.join(in_incidents(report, views))}; "
        f"{words.number(open_rules)} of {words.plural(report.rules.count, 'rule')} could not be evaluated."
    )


def _incident(report: Report, view: IncidentView, shown: set[str]) -> list[_Block]:
    head = ["## Causes", ""] if view.number == 1 else []
    head += [f"### {view.number}. {words.SEVERITY[view.severity]}: {md_text(view.title)}", "", md_text(view.message), ""]
    if view.broken:
        head.append(f"- **Broken now:** {md_text(', '.join(view.broken))}")
    head += [
        f"- **Who acts:** {view.owner}",
        f"- **Does waiting help:** {view.waiting}",
        f"- **Since:** {md_text(view.since)}",
        f"- **Basis:** {view.basis}",
        f"- **Cause:** {md_code(words.thing(view.root.object))}, rule {md_code(view.root.code)}",
    ]
    if view.alike:
        head[-1] = f"- **Rule:** {md_code(view.root.code)}"
        head.append(f"- **All {words.number(len(view.alike))} incidents:** {md_code(every_one(view))}")
        shown.update(view.incident.findings)
    blocks = [_Block(_INCIDENT, "\n".join(head))]
    shown.add(view.root.id)
    effects = view.steps[1 : STEPS + 1]
    if effects:
        rows = [_effect(report, step) for step in effects]
        rest = len(view.steps) - 1 - len(effects)
        if rest:
            rows.append(f"- and {words.number(rest)} more, see below")
        blocks.append(_Block(_CHAIN, f"**What {'one of them' if view.alike else 'it'} leads to:**\n\n" + "\n".join(rows)))
        shown.update(step.finding.id for step in effects)
    evidence = _evidence(report, view.root, 1 if view.alike else QUOTES)
    if evidence:
        blocks.append(_Block(_EVIDENCE, evidence))
    if view.next:
        rows = [_next(text, index) for index, text in enumerate(view.next, 1)]
        blocks.append(_Block(_NEXT, f"**Do next{', of the first' if view.alike else ''}:**\n\n" + "\n\n".join(rows)))
    if view.root.why.strip():
        blocks.append(_Block(_WHY, f"**Background:** {md_text(cut(one_line(view.root.why), WHY))}"))
    return blocks


def _effect(report: Report, step: Step) -> str:
    finding = step.finding
    since = words.when(finding.since, report.collected_at)
    indent = "  " * min(step.depth - 1, DEPTH)
    return f"{indent}- {_mark(finding)} {md_code(words.thing(finding.object))}{_folds(finding)}, since {since}"


def _mark(finding: Finding) -> str:
    """The title as a sentence of its own: it may end in brackets or a quote."""
    return f"{words.SEVERITY[finding.severity]}: {md_text(clip(one_line(finding.title), 300).rstrip('.'))}."


def _folds(finding: Finding) -> str:
    return f" and {words.number(finding.count - 1)} more" if finding.count > 1 else ""


def _evidence(report: Report, finding: Finding, most: int) -> str:
    found = quotes(report, finding)
    rows = []
    for item in found[:most]:
        field = f", field {md_code(item.field)}" if item.field else ""
        rows.append(f"- {item.kind} in {md_code(item.place or 'no file')}{field}")
        if item.text:
            rows.append("\n" + md_fence(item.text, "  ") + "\n")
    if not rows:
        return ""
    if len(found) > most:
        rows.append(f"- {words.number(len(found) - most)} more in report.json")
    return "**Evidence:**\n\n" + "\n".join(rows).rstrip()


def _next(text: str, number: int) -> str:
    prefix = f"{number}. "
    line, rows = "", []
    for part in words.step_parts(text):
        if part.kind == "command":
            rows += [line.strip(), "", md_fence(part.text, " " * len(prefix)), ""] if line.strip() else [
                "", md_fence(part.text, " " * len(prefix)), "",
            ]  # fmt: skip
            line = ""
        elif part.kind == "code":
            line += md_code(part.text)
        else:
            line += (" " if part.text[:1].isspace() and line else "") + md_text(part.text)
            line += " " if part.text[-1:].isspace() else ""
    if line.strip():
        rows.append(line.strip() if not rows else " " * len(prefix) + line.strip())
    if rows and not rows[0]:
        rows[0] = "Run:"
        rows.insert(1, "")
    return (prefix + "\n".join(rows)).rstrip()


def _others(report: Report, views: tuple[IncidentView, ...], shown: set[str]) -> list[_Block]:
    """Every finding that no incident above has shown, one line each, worst first."""
    incident = {name: view for view in views for name in view.incident.findings}
    rest = [finding for finding in report.findings if finding.id not in shown]
    if not rest:
        return []
    rest.sort(key=lambda finding: words.RANK[finding.severity])
    rows = []
    for finding in rest[:OTHERS]:
        view = incident.get(finding.id)
        belongs = f", incident {view.number}" if view and view.root.id != finding.id else ""
        rows.append(
            f"- {_mark(finding)} {md_code(words.thing(finding.object))}{_folds(finding)}, {md_code(finding.code)}, "
            f"{words.lasted(finding.age_seconds)}, {words.OWNER[finding.owner].lower()}{belongs}"
        )
    more = not_shown(len(rest), OTHERS, "finding")
    if more:
        rows.append(f"- {more} in report.json")
    chunks = ["\n".join(rows[at : at + 20]) for at in range(0, len(rows), 20)]
    chunks[0] = f"## Other findings\n\n{chunks[0]}"
    return [_Block(_OTHER, chunk, min(20, len(rest) - 20 * at)) for at, chunk in enumerate(chunks)]


def _open(report: Report) -> list[_Block]:
    questions, unknown = asks(report), md_text(unknown_domains(report))
    if not questions:
        text = unknown or "Every rule whose subject is in the bundle could be evaluated."
        return [_Block(_OPEN, f"## Not evaluated\n\n{text}")]
    blocks = [_Block(_OPEN, "## Not evaluated\n\nNothing here says that these are fine. Please send the output of the commands.")]
    for ask in questions[:ASKS]:
        codes = ", ".join(md_code(code) for code in ask.codes[:CODES])
        rest = f" and {len(ask.codes) - CODES} more" if len(ask.codes) > CODES else ""
        what = f"**{md_text(clip(ask.what, 200))}**: " if one_line(ask.what) else ""
        text = f"- {what}{md_text(clip(one_line(ask.reason), 600))}. Open because of it: {codes}{rest}."
        if ask.commands:
            text += "\n\n" + md_fence("\n".join(one_line(command) for command in ask.commands), "  ")
        blocks.append(_Block(_OPEN, text))
    more = not_shown(len(questions), ASKS, "question")
    if unknown:
        blocks.append(_Block(_OPEN, f"- {unknown}"))
    return [*blocks, *([_Block(_OPEN, f"- {more} in report.json")] if more else [])]


def _coverage(report: Report) -> str:
    coverage = report.coverage
    rows = []
    for status in ("partial", "forbidden", "not-collected", "removed"):
        kinds = [kind for kind in coverage.kinds if kind.status == status]
        if kinds:
            names = ", ".join(md_code(f"{kind.kind}.{kind.group}" if kind.group else kind.kind) for kind in kinds[:LISTED])
            rest = f" and {len(kinds) - LISTED} more" if len(kinds) > LISTED else ""
            rows.append(f"- {words.COVERAGE[status].capitalize()}: {names}{rest}")
    whole = sum(kind.status in ("complete", "absent") for kind in coverage.kinds)
    rows.append(f"- Complete or absent: {words.plural(whole, 'kind')}")
    rows.append(f"- Events: {words.number(sum(window.count for window in coverage.events))}")
    logs = coverage.logs
    rows.append(
        f"- Logs: {words.plural(sum(logs.files.values()), 'file')}; "
        f"{words.number(logs.pods_with_logs)} of {words.plural(logs.pods, 'pod')} have one"
    )
    rows += [f"- {md_text(text)}" for text in [capped(logs)] if text]
    for error in coverage.collect_errors[:LISTED]:
        place = md_code(words.place(error.file, error.line))
        rows.append(
            f"- The collection could not get {md_code(clip(error.subject or 'something', 160))}: "
            f"{md_text(words.NOT_GOT.get(error.kind, error.kind))}; {place}"
        )
    rows += [f"- {text}" for text in [not_shown(len(coverage.collect_errors), LISTED, "collection error")] if text]
    for file in report.files[:LISTED]:
        rows.append(
            f"- Not read in full: {md_code(file.path)} ({md_text(file.status)}): {md_text(clip(one_line(file.error), 300))}"
        )
    rows += [f"- {text} not read in full" for text in [not_shown(len(report.files), LISTED, "file")] if text]
    return "## Coverage\n\n" + "\n".join(rows)


def _made(report: Report) -> str:
    rules = words.plural(report.rules.count, "rule")
    rows = [f"- triage {md_text(report.tool_version)}, {rules}, digest {md_code(report.rules.digest)}"]
    for item in report.inputs:
        kind = ", ".join(text for text in (md_text(words.FORMAT.get(item.format, item.format)), words.size(item.bytes)) if text)
        digest = f", SHA-256 {md_code(item.sha256)}" if item.sha256 else ""
        rows.append(f"- Bundle {md_code(item.path)}: {kind}{digest}")
    source = f" ({md_text(short_path(one_line(report.collected_at_source)))})" if report.collected_at_source else ""
    rows.append(f"- Collected {words.stamp(report.collected_at)}{source}; ages measured at {measured_at(report)}")
    cluster = ", ".join(md_text(text) for text in (report.cluster.version, report.cluster.platform) if text)
    if cluster:
        rows.append(f"- Cluster: {cluster}")
    return "## How this was made\n\n" + "\n".join(rows)
