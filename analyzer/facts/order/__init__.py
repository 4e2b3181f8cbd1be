"""Inference orders: the closed set of reasons for which an order is not ready, held against everything that the bundle has.

The module of the cluster that fulfils orders publishes no source; its reasons and their meaning are those of its FAQ.
"""

from __future__ import annotations

import duckdb

from analyzer.facts.order import edges, findings, gather, store

_ANY = """
SELECT EXISTS (SELECT 1 FROM objects WHERE kind IN ('InferenceService', 'InferenceServiceClass', 'PhysicalGPU')
        OR (kind IN ('Model', 'ClusterModel') AND api_group = 'ai.deckhouse.io'))
    OR EXISTS (SELECT 1 FROM events WHERE about_kind = 'InferenceService')
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills the tables of `analyzer.store.tables.order` and the orders' rows of `states` and `relations`.

    Orders and what belongs to them have rules of their own: they are taken out of `custom_faults`, whatever their API group.
    Needs `coverage`, `pods`, `controllers`, `log_ends`, `pod_claims`, `claims`, `devices`, `events` and `custom_faults`.
    """
    if not con.execute(_ANY).fetchall()[0][0]:
        return
    known = gather.load(con)
    store.write(con, known)
    findings.derive(con, known)
    edges.derive(con)
    con.execute(
        "DELETE FROM custom_faults WHERE object_id IN (SELECT object_id FROM orders "
        "UNION ALL SELECT object_id FROM order_classes "
        "UNION ALL SELECT object_id FROM order_models UNION ALL SELECT object_id FROM order_gpus)"
    )
