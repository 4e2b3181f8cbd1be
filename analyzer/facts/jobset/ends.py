"""Why the Job that failed first failed: its first failed pod, and how that ended."""

from __future__ import annotations

import duckdb

_FIRST_POD = """
UPDATE jobsets SET failed_pod = e.pod, failed_pod_id = e.pod_id, failed_container = e.container, failed_words = e.end_words,
    failed_path = e.end_path, failed_code = e.end_code, failed_log_id = e.end_log_id
FROM (
    SELECT s.object_id AS jobset_id, p.name AS pod, p.object_id AS pod_id,
        c.container, c.end_words, c.end_path, c.end_code, c.end_log_id
    FROM jobsets s
    JOIN owners w ON w.owner_id = s.failed_job_id
    JOIN pods p ON p.object_id = w.object_id AND p.phase = 'Failed'
    LEFT JOIN containers c ON c.object_id = p.object_id AND c.type IN ('init', 'main', 'sidecar') AND c.end_code <> 0
    QUALIFY row_number() OVER (PARTITION BY s.object_id
        ORDER BY p.since NULLS LAST, p.name, c.type = 'sidecar', c.ended_at NULLS LAST, c.idx) = 1
) e
WHERE jobsets.object_id = e.jobset_id AND jobsets.failed_job_note IS NULL
"""


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Completes `jobsets` by the pod that failed first. Needs `owners`, `pods` and `containers`."""
    con.execute(_FIRST_POD)
