"""OME: what the model of `analyzer.ome` finds for every InferenceService, as tables, states and relations.

Sources of all meanings: OME's API types, its controller and its kubectl plugin (ome.io/v1beta1, up to v1.3).
"""

from __future__ import annotations

import duckdb

from analyzer.facts.ome import edges, lines, models, pods, services, told, workloads
from analyzer.facts.rows import insert_rows
from analyzer.ome.source import world_of
from analyzer.ome.world import GROUP


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of OME, and its rows of `states` and `relations`.

    Needs `coverage` (only a whole list says that there is no such object), `conditions`, `events`, `owners` and `pods`.
    """
    if not con.execute("SELECT 1 FROM objects WHERE api_group = ? LIMIT 1", [GROUP]).fetchone():
        return
    world = world_of(con)
    evaluated = services.evaluate(con, world)
    insert_rows(con, "ome_services", services.rows(con, world, evaluated))
    insert_rows(con, "ome_components", services.component_rows(world, evaluated))
    insert_rows(con, "ome_issues", services.issue_rows(evaluated))
    insert_rows(con, "ome_candidates", services.candidate_rows(evaluated))
    insert_rows(con, "ome_models", models.rows(con, world))
    workloads.derive(con)
    pods.derive(con, world)
    told.derive(con, world)
    lines.derive(con)
    edges.derive(con)
    con.execute(
        f"""
        INSERT INTO states
        SELECT object_id, '{GROUP}', 'InferenceService', namespace, name, state, ready_reason, ready_message, since
        FROM ome_services ORDER BY object_id
        """  # noqa: S608 - a constant
    )
