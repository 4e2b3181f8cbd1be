"""status.conditions of an object, what is wrong first.

Which way round a condition is bad follows the Kubernetes API conventions: most types are good when True; types that name a fault
(`…Pressure`, `Degraded`, `…Failed`) are bad when True.
"""

from __future__ import annotations

import re
from typing import Any, Final

import duckdb

from analyzer.facts.values import mappings, moment, text
from analyzer.show import words
from analyzer.show.model import Section, Table, Tone
from analyzer.show.subject import Subject

SHOWN = 60
_FAULT = re.compile(
    r"Pressure|Unavailable|Degraded|Fail|Stalled|Error|Evicted|Conflict|Terminating|Orphaned|Invalid|Remaining|Rejected|Lost|"
    r"Stuck|Problem|Disruption|Deactivat|Expired|Inadmissible|Unhealthy|Deadlock|NotFound|Missing|Exceeded"
)
_GOOD: Final = re.compile(
    r"(Ready|Available|Healthy|Initialized|Scheduled|Established|Accepted|Programmed|Bound|Active|Synced|Reconciled|Admitted|"
    r"QuotaReserved|AbleToScale|ScalingActive|Valid|Succeeded|Connected|Running|Upgradeable|DisruptionAllowed|Resolved|Planned)$"
)


def is_bad(kind: str, status: str) -> bool | None:
    """Whether a condition of this type and status is bad; None where nothing says (a step that is not reached, a switch)."""
    if status == "Unknown":
        return True
    if _FAULT.search(kind):
        return status == "True"
    if _GOOD.search(kind):
        return status == "False"
    return None


def conditions(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The conditions, bad ones first, each in the cluster's words."""
    found = [one for one in mappings(it.status.get("conditions")) if text(one.get("type"))]
    order = {True: 0, None: 1, False: 2}
    found.sort(key=lambda one: order[_bad(one)])
    rows = tuple(_row(one, it) for one in found[:SHOWN])
    tones: tuple[Tone, ...] = tuple("warning" if _bad(one) else "" for one in found[:SHOWN])
    if not rows:
        return Section("Conditions")
    left = words.left_out(len(found), SHOWN, "condition")
    title = f"Conditions ({left})" if left else "Conditions"
    return Section(title, (Table(("", "type", "status", "since", "says"), rows, tones),))


def _bad(condition: dict[str, Any]) -> bool | None:
    return is_bad(str(condition.get("type")), str(condition.get("status")))


def _row(condition: dict[str, Any], it: Subject) -> tuple[str, ...]:
    began = moment(condition.get("lastTransitionTime"))
    lasted = words.age(began, it.as_of)
    return (
        "!" if _bad(condition) else "",
        words.short(condition.get("type"), 80),
        words.short(condition.get("status"), 20),
        lasted or ("unknown" if began is None else words.since(began, None)),
        words.said(text(condition.get("reason")), text(condition.get("message"))),
    )
