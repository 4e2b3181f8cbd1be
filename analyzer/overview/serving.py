"""Model serving: InferenceServices of KServe, OME and inference orders, LLMInferenceServices, graphs, models, Dynamo, pools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from analyzer.engine.sections import Cell, Section, machine, number, unknown, words
from analyzer.engine.sections import Row as Line
from analyzer.overview.marks import Marks, table
from analyzer.overview.read import Row, cut, foremost, place, rows, said, sentences
from analyzer.overview.seen import Seen, more_pods, not_all
from analyzer.overview.serving_others import lines as other_lines
from analyzer.render.words import listed, plural

if TYPE_CHECKING:
    import duckdb

_KSERVE: Final = "serving.kserve.io"
_OME: Final = "ome.io"

_FINE: Final = ("Ready", "Stopped", "Deleting")

_QUERY: Final = (
    "SELECT 'KServe' AS project, namespace, name, state, reason, message FROM kserve_services UNION ALL "
    "SELECT 'KServe ' || kind, namespace, name, state, reason, message FROM kserve_others UNION ALL "
    "SELECT 'OME', namespace, name, state, ready_reason, ready_message FROM ome_services UNION ALL "
    "SELECT 'Inference order', namespace, name, state, phase, NULL FROM orders UNION ALL "
    "SELECT kind, namespace, name, state, reason, message FROM states WHERE kind IN ('InferencePool', 'DynamoGraphDeployment', "
    "'DynamoComponentDeployment', 'DynamoModel', 'DynamoGraphDeploymentRequest') ORDER BY ALL"
)

_SERVICES: Final = """
WITH counted AS (
    SELECT object_id, sum(pods)::BIGINT AS pods, sum(pods_ready)::BIGINT AS pods_ready,
        list(component ORDER BY component) FILTER (ready IS DISTINCT FROM 'True') AS unready,
        list(component ORDER BY component) AS components
    FROM kserve_components GROUP BY object_id
), failing AS (
    SELECT k.service_id, count(*) AS failing, min(p.name) AS pod, arg_min(p.state, p.name) AS pod_state,
        arg_min(p.reason, p.name) AS pod_reason
    FROM kserve_pods k JOIN pods p USING (object_id) WHERE k.trouble = 'now' GROUP BY k.service_id
), dropped AS (
    SELECT object_id, list(runtime || ': ' || words ORDER BY place) AS dropped FROM kserve_candidates
    WHERE NOT fits AND near AND words IS NOT NULL GROUP BY object_id
)
SELECT s.*, c.pods, c.pods_ready, c.unready, c.components, f.failing, f.pod, f.pod_state, f.pod_reason, d.dropped
FROM kserve_services s LEFT JOIN counted c USING (object_id) LEFT JOIN failing f ON f.service_id = s.object_id
LEFT JOIN dropped d USING (object_id)
ORDER BY s.namespace, s.name
"""
_OTHERS: Final = """
WITH counted AS (
    SELECT k.service_id, count(*) AS pods, count(*) FILTER (p.ready) AS pods_ready,
        count(*) FILTER (k.trouble = 'now') AS failing, min(p.name) FILTER (k.trouble = 'now') AS pod,
        arg_min(p.state, p.name) FILTER (k.trouble = 'now') AS pod_state,
        arg_min(p.reason, p.name) FILTER (k.trouble = 'now') AS pod_reason
    FROM kserve_pods k JOIN pods p USING (object_id) GROUP BY k.service_id
)
SELECT o.*, c.pods, c.pods_ready, c.failing, c.pod, c.pod_state, c.pod_reason
FROM kserve_others o LEFT JOIN counted c ON c.service_id = o.object_id ORDER BY o.namespace, o.name, o.kind
"""
_OF_OME: Final = """
WITH counted AS (
    SELECT m.service_id, count(*) AS pods, count(*) FILTER (p.ready) AS pods_ready
    FROM ome_pods m JOIN pods p USING (object_id) WHERE m.running GROUP BY m.service_id
), parts AS (
    SELECT object_id, list(component ORDER BY component) AS components FROM ome_components GROUP BY object_id
)
SELECT s.*, c.pods, c.pods_ready, a.components
FROM ome_services s LEFT JOIN counted c ON c.service_id = s.object_id LEFT JOIN parts a USING (object_id)
WHERE s.object_id NOT IN (SELECT object_id FROM orders) ORDER BY s.namespace, s.name
"""
_ORDERS: Final = """
WITH first AS (
    SELECT object_id, arg_min(given, reason_id) AS reason, arg_min(told, reason_id) AS told, arg_min(since, reason_id) AS since
    FROM order_reasons WHERE condition IS NOT NULL GROUP BY object_id
)
SELECT o.*, o.class AS named, f.reason, f.told, CASE WHEN s.reason = f.reason THEN s.message END AS words, f.since
FROM orders o LEFT JOIN first f USING (object_id) LEFT JOIN states s USING (object_id)
ORDER BY o.namespace, o.name
"""


def sections(con: duckdb.DuckDBPyConnection, marks: Marks) -> tuple[Section, ...]:
    """Nothing where the bundle serves no models."""
    seen = Seen.read(con, marks)
    services = foremost(rows(con, _SERVICES), marks, (_KSERVE, "InferenceService"))
    of_ome = foremost(rows(con, _OF_OME), marks, (_OME, "InferenceService"))
    orders = list(rows(con, _ORDERS))
    others = list(rows(con, _OTHERS))
    more = list(other_lines(con, seen))
    lines = [
        *(_service(row, seen) for row in services[0]),
        *(_of_ome(row, seen) for row in of_ome[0]),
        *(_order(row, seen) for row in orders),
        *(_other(row, seen) for row in others),
        *more,
    ]
    if not lines:
        return ()
    counts = {"service": services[1], "OME service": of_ome[1], "order": len(orders), "other": len(others) + len(more)}
    columns = ("Service", "Of", "State", "Ready pods", "Runtime, model", "Why")
    shown = table("Inference services", columns, marks.ranked(lines), "services", total=sum(counts.values()))
    small = ", ".join(plural(count, noun) for noun, count in counts.items() if count)
    return (Section("serving", "Model serving", small, (shown,), tuple(_notes(con, seen)), _QUERY),)


def _notes(con: duckdb.DuckDBPyConnection, seen: Seen) -> Iterator[str]:
    if con.execute(
        "SELECT 1 FROM kserve_services WHERE url IS NOT NULL UNION ALL SELECT 1 FROM kserve_others LIMIT 1"
    ).fetchone():
        yield "Addresses stand without users, passwords, queries and fragments."
    yield from more_pods(seen.lists)
    for group, project, found in ((_KSERVE, "KServe", "kserve_services"), (_OME, "OME", "ome_services")):
        some = con.execute(f"SELECT 1 FROM {found} LIMIT 1").fetchone()  # noqa: S608 - a constant
        if some:
            yield from not_all(seen.lists, group, "InferenceService", f"InferenceServices of {project}")


def _state(row: Row, seen: Seen) -> Cell:
    """A service that is ready while a pod of it fails is said to be both."""
    return seen.state(row, ", failing" if row.failing and row.state == "Ready" else "")


def _pods(row: Row, seen: Seen) -> Cell:
    """`2 / 3` pods ready."""
    if not row.pods:
        return number("0 / 0") if seen.lists.has("", "Pod", row.namespace) else unknown("cannot tell")
    return number(f"{row.pods_ready or 0:,} / {row.pods:,}")


def _service(row: Row, seen: Seen) -> Line:
    why, words_of = row.reason, row.message
    note = ""
    if row.state in _FINE:
        why = words_of = None
        note = "stopped by its owner: no fault" if row.state == "Stopped" else ""
    if row.blocked and row.state == "Ready":
        note, words_of = f"the old version serves, the new one does not come up: {cut(row.blocked, 160)}", row.blocked_message
    elif row.failing and row.state == "Ready":
        note = _failing(row)
    elif row.state in _FINE:
        pass
    elif row.unready and row.components and len(row.components) > 1:
        note = f"not ready: {listed(row.unready)}"
    elif row.choice == "none":
        note = listed((cut(one, 160) for one in row.dropped), 2) if row.dropped else cut(row.choice_words or "", 200)
    elif row.choice == "cannot tell" and not row.recorded_runtime:
        note = f"cannot tell which runtime is chosen: {cut(row.choice_words or '', 200)}"
    cells = (
        machine(place(row.namespace, row.name), row.url or ""),
        words("KServe", row.mode or ""),
        _state(row, seen),
        _pods(row, seen),
        _runtime(row),
        words(note, said(why, words_of)),
    )
    return Line(cells, seen.marks.of(_KSERVE, "InferenceService", row.namespace, row.name))


def _failing(row: Row) -> str:
    others = f" and {row.failing - 1:,} more" if row.failing > 1 else ""
    why = f" ({cut(row.pod_reason, 80)})" if row.pod_reason and row.pod_reason != row.pod_state else ""
    return f"pod {row.pod}{others}: {row.pod_state}{why}"


def _runtime(row: Row) -> Cell:
    """The runtime that KServe recorded, else the one that its rules give, and the model."""
    form = " ".join(part for part in (row.model_format, row.model_version) if part)
    model = sentences(f"{form} model" if form else "", cut(row.storage or "", 120))
    if row.recorded_runtime:
        return machine(row.recorded_runtime, model)
    if row.chosen_runtime:
        return machine(row.chosen_runtime, sentences("deduced from KServe's rules", model))
    if row.choice == "none":
        return words("none fits", model)
    if row.choice == "cannot tell":
        return unknown("cannot tell", model)
    return words("containers of its own", model)


def _other(row: Row, seen: Seen) -> Line:
    stale = "Ready is True from before: what it was made from is not valid any more" if row.stale_ready else ""
    blamed = row.blamed if row.blamed and row.blamed != "Ready" else ""
    note = sentences(stale, _failing(row) if row.failing else "", blamed)
    pods = _pods(row, seen) if row.pods or row.kind == "LLMInferenceService" else Cell()
    cells = (
        machine(place(row.namespace, row.name), row.url or ""),
        words("KServe", row.kind),
        _state(row, seen),
        pods,
        machine(row.model or "", cut(row.storage or "", 120)),
        words(note, said(row.reason, row.message)),
    )
    return Line(cells, seen.marks.of(_KSERVE, row.kind, row.namespace, row.name))


def _of_ome(row: Row, seen: Seen) -> Line:
    parts = listed(row.components or ())
    runtime = (
        machine(row.source or "", sentences(row.active or "", row.model_name or "")) if row.source else unknown("cannot tell")
    )
    if not row.source and row.active == "Unavailable" and not row.unknown:
        runtime = words("none in force", row.model_name or "")
    ready = row.state == "Ready"
    why = "" if ready else said(row.ready_reason, row.ready_message)
    note = "" if ready else cut(row.unknown or row.active_why or "", 200) if row.active != "Available" else ""
    cells = (
        machine(place(row.namespace, row.name), parts),
        words("OME", row.deployment_mode or ""),
        seen.state(row),
        _pods(row, seen),
        runtime,
        words(note, why),
    )
    return Line(cells, seen.marks.of(_OME, "InferenceService", row.namespace, row.name))


def _order(row: Row, seen: Seen) -> Line:
    wanted = row.replicas if row.replicas is not None else row.pods
    pods = unknown("cannot tell") if wanted is None else number(f"{row.ready_pods or 0:,} / {wanted:,}")
    model = place(row.model_namespace, row.model) if row.model else ""
    # The operator's own words, short; the finding tells the rest.
    why = said(row.reason, row.words) if row.words else sentences(row.reason or "", cut(row.told or "", 300))
    cells = (
        machine(place(row.namespace, row.name), row.endpoint_type or ""),
        words("Inference order", f"class {row.named}" if row.named else ""),
        seen.state(row),
        pods,
        machine(model, row.source or ""),
        words(why) if row.state != "Ready" else words(""),
    )
    return Line(cells, seen.marks.of(row.api_group, "InferenceService", row.namespace, row.name))
