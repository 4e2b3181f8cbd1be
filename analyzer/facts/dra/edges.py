"""Edges of devices: Node → ResourceSlice → ResourceClaim → Pod, along which trouble spreads."""

from __future__ import annotations

import duckdb

_SLICE = """
SELECT DISTINCT n.object_id, d.slice_id, 'slice' FROM devices d JOIN nodes n ON n.input = d.input AND n.name = d.node
"""
_DEVICE = """
SELECT DISTINCT d.slice_id, c.object_id, 'device'
FROM claim_devices h JOIN claims c USING (object_id)
JOIN devices d ON d.input = c.input AND d.driver = h.driver AND d.pool = h.pool AND d.device = h.device
"""
_CLAIM = "SELECT DISTINCT claim_id, object_id, 'claim' FROM pod_claims WHERE claim_id IS NOT NULL"


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Adds the edges `slice`, `device` and `claim` to `relations`; needs `devices`, `claim_devices` and `pod_claims`."""
    for query in (_SLICE, _DEVICE, _CLAIM):
        con.execute(f"INSERT INTO relations {query}")
