"""The report as text: the table, its wide form, JSON and YAML, as OME's command prints them."""

from __future__ import annotations

from analyzer.ome.cells import columns, end, middle
from analyzer.ome.envelope import machine
from analyzer.ome.report import Component, Report
from analyzer.ome.requests import Requests

_CLASS_WIDTH = 16
_REQUESTS_WIDTH = 18
_POLICY = {"FirstAvailable": "FirstAvail"}
_NOTHING = {"NotConfigured": "None", "NotReported": "Unknown", "Unavailable": "Unknown"}
_SELECTION = {"NotReported": "Missing", "NotConfigured": "None", "Unavailable": "Unavail"}


def render(report: Report, form: str) -> str:
    """The report in one of `envelope.FORMATS`, with a line break at its end."""
    if form in ("json", "yaml"):
        return machine(report.as_dict(), form)
    return columns(wide_rows(report) if form == "wide" else table_rows(report))


def table_rows(report: Report) -> list[tuple[str, ...]]:
    """The cells of the table, its head first."""
    rows: list[tuple[str, ...]] = [("COMP", "POLICY", "CLASS", "SEL", "REQUESTS", "ISS")]
    for one in report.components:
        policy = "Explicit" if one.intent.state == "Class" else _POLICY.get(one.intent.policy, one.intent.policy) or "-"
        name = middle(one.selected or one.intent.declared_class, _CLASS_WIDTH) or "-"
        selection = _SELECTION.get(one.selection, one.selection)
        rows.append((one.type, policy, name, selection, _requests(one), str(report.issue_count(one))))
    return rows


def _requests(one: Component) -> str:
    if one.base.state != "Available":
        return "base:Invalid" if one.base.state == "Invalid" else "base:Unknown"
    if one.effective:
        return _first(one.effective)
    if one.base.requests:
        return end(f"base:{_first(one.base.requests)}", _REQUESTS_WIDTH)
    return _NOTHING.get(one.effective_state, one.effective_state)


def _first(requests: Requests) -> str:
    name, amount = requests[0]
    return end(f"{name}={amount}" + (f",+{len(requests) - 1}" if len(requests) > 1 else ""), _REQUESTS_WIDTH)


def wide_rows(report: Report) -> list[tuple[str, ...]]:
    """The cells of the wide table, its head first."""
    rows: list[tuple[str, ...]] = [
        ("SCOPE", "COMP", "FIELD", "VALUE", "EVIDENCE"),
        ("SUMMARY", "-", "STATE", report.state, "Computed"),
        ("SUMMARY", "-", "STATUS_FRESHNESS", report.freshness, "Computed"),
    ]
    for one in report.components:
        rows += _component(one)
    rows += [("ISSUE", issue.component or "-", issue.code, "-", "Computed") for issue in report.issues]
    for source in report.sources:
        rows += [
            ("SOURCE", source.kind, "NAME", source.path, source.evidence),
            ("SOURCE", source.kind, "GENERATION", str(source.generation or "-"), source.evidence),
            ("SOURCE", source.kind, "COLLECTED_AT", report.collected_at, source.evidence),
        ]
        if source.reason:
            rows.append(("SOURCE", source.kind, "UNAVAILABLE_REASON", source.reason, source.evidence))
    return rows + [("WARNING", "-", "CODE", code, "Computed") for code in report.warnings]


def _component(one: Component) -> list[tuple[str, ...]]:
    kind, intent = one.type, one.intent
    told = {"Reported": "Reported", "NotConfigured": "Declared"}
    class_evidence = {"Observed": "Observed", "NotRequested": "-"}.get(one.class_state, "Unavailable")
    base_evidence = "Computed" if one.base.state == "Available" else "Unavailable"
    rows: list[tuple[str, ...]] = [("INTENT", kind, "MODE", intent.state, "Declared")]
    if intent.policy:
        rows.append(("INTENT", kind, "POLICY", intent.policy, f"Declared/{intent.policy_source}"))
    if intent.declared_class:
        rows.append(("INTENT", kind, "CLASS", intent.declared_class, f"Declared/{intent.class_source}"))
    rows.append(("SELECTION", kind, "STATE", one.selection, told.get(one.selection, "Unavailable")))
    if one.selected:
        rows.append(("SELECTION", kind, "CLASS", one.selected, "Reported"))
    rows.append(("SELECTION", kind, "REASON_STATE", one.reason, "Reported" if one.reason == "Reported" else "Unavailable"))
    if one.digest:
        rows.append(("SELECTION", kind, "REASON_DIGEST", one.digest, "Reported/Redacted"))
    rows.append(("CLASS", kind, "STATE", one.class_state, class_evidence))
    if one.selected:
        rows.append(("CLASS", kind, "NAME", one.selected, class_evidence))
    rows.append(("REQUEST", kind, "BASE_STATE", one.base.state, base_evidence))
    if one.base.state == "Available":
        rows.append(("REQUEST", kind, "BASE", _all(one.base.requests), "Computed"))
    rows.append(("REQUEST", kind, "EFFECTIVE_STATE", one.effective_state, told.get(one.effective_state, "Unavailable")))
    if one.effective_state == "Reported":
        rows.append(("REQUEST", kind, "EFFECTIVE", _all(one.effective), "Reported"))
    return rows


def _all(requests: Requests) -> str:
    return ",".join(f"{name}={amount}" for name, amount in requests) or "None"
