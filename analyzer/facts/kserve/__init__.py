"""KServe: services with their state and what is to blame for it, the choice of their runtime, and the edges to what serves them.

Only the API group serving.kserve.io is meant: OME and others have InferenceServices of their own. Sources of all meanings:
KServe's API types and controllers, versions 0.8 to 0.20, in Knative and Standard mode.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.kserve import choice, components, edges, others, pods, runtimes, services
from analyzer.facts.kserve.base import GROUP
from analyzer.facts.kserve.config import Config, read_config
from analyzer.facts.rows import insert_rows
from analyzer.facts.whole import Whole

MAX_CANDIDATES = 200
"""Runtimes that are listed for one service; those that fit, and those for its format, come first."""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of KServe, and its rows of `states` and `relations`.

    Needs `coverage` (only a complete list says that no runtime fits), `conditions`, `owners`, `pods` and `containers`.
    """
    if not con.execute("SELECT 1 FROM objects WHERE api_group = ? LIMIT 1", [GROUP]).fetchone():
        return
    lists, config = Whole.read(con), read_config(con)
    known = runtimes.read(con)
    pods.derive(con)
    read = list(services.read(con, config))
    chosen = _choices(read, known, lists)
    _services(con, read, chosen, config)
    insert_rows(con, "kserve_candidates", (row for one in read for row in _candidate_rows(one, chosen[one.item.object_id])))
    counts = {
        (service, component): (count, ready)
        for service, component, count, ready in con.execute(
            "SELECT k.service_id, k.component, count(*), count(*) FILTER (p.ready) FROM kserve_pods k "
            "JOIN pods p USING (object_id) WHERE p.phase NOT IN ('Succeeded', 'Failed') GROUP BY ALL"
        ).fetchall()
    }
    insert_rows(con, "kserve_components", (row for one in read for row in components.rows(one, counts)))
    revisions = {
        (namespace, name): object_id
        for namespace, name, object_id in con.execute(
            "SELECT namespace, name, object_id FROM objects WHERE api_group = 'serving.knative.dev' AND kind = 'Revision'"
        ).fetchall()
    }
    insert_rows(con, "kserve_traffic", (row for one in read for row in components.traffic_rows(one, revisions)))
    insert_rows(con, "kserve_others", others.rows(con))
    insert_rows(con, "kserve_references", others.reference_rows(con, lists))
    edges.derive(con)
    con.execute(
        f"""
        INSERT INTO states
        SELECT object_id, '{GROUP}', 'InferenceService', namespace, name, state, reason, message, since FROM kserve_services
        UNION ALL SELECT object_id, '{GROUP}', kind, namespace, name, state, reason, message, since FROM kserve_others
        ORDER BY object_id
        """  # noqa: S608 - a constant
    )


def _services(
    con: duckdb.DuckDBPyConnection,
    read: list[services.Service],
    chosen: dict[int, choice.Choice | None],
    config: Config,
) -> None:
    rows = []
    for one in read:
        row = services.row(one, chosen[one.item.object_id], config)
        stuck = components.blocked(one)
        if stuck is not None:
            row |= {
                "blocked": stuck.words,
                "blocked_message": stuck.message,
                "blocked_path": stuck.path,
                "blocked_since": stuck.since,
            }
        rows.append(row)
    insert_rows(con, "kserve_services", rows)


def _choices(read: list[services.Service], known: runtimes.Runtimes, lists: Whole) -> dict[int, choice.Choice | None]:
    """The choice for each service, None where its predictor brings its own containers. Equal ones are made once."""
    made: dict[tuple[str, choice.Model], choice.Choice] = {}
    chosen: dict[int, choice.Choice | None] = {}
    for one in read:
        namespace, model = one.item.namespace, one.model
        if model is None:
            chosen[one.item.object_id] = None
            continue
        key = (namespace, model)
        if key not in made:
            unknown = [runtimes.LOCAL] if not lists.has(GROUP, runtimes.LOCAL, namespace) else []
            unknown += [runtimes.CLUSTER] if not lists.has(GROUP, runtimes.CLUSTER) else []
            made[key] = choice.choose(model, known.local.get(namespace, []), known.cluster, unknown)
        chosen[one.item.object_id] = made[key]
    return chosen


def _candidate_rows(one: services.Service, made: choice.Choice | None) -> list[dict[str, object]]:
    if made is None or one.model is None:
        return []
    return [
        {
            "object_id": one.item.object_id,
            "place": place,
            "runtime_id": candidate.runtime.object_id if candidate.runtime else None,
            "kind": candidate.kind,
            "runtime": candidate.name,
            "chosen": candidate is made.chosen,
            "fits": candidate.fits,
            "near": candidate.near,
            "filters": [each.name for each in candidate.filters],
            "words": " and ".join(each.words for each in candidate.filters) or None,
            "path": next((each.path for each in candidate.filters if each.path), None),
            "value": next((each.value for each in candidate.filters if each.path), None),
            "priority": candidate.runtime.priority(one.model.format) if candidate.runtime else None,
            "protocols": list(candidate.runtime.protocols) if candidate.runtime else [],
        }
        for place, candidate in enumerate(made.candidates[:MAX_CANDIDATES], 1)
    ]
