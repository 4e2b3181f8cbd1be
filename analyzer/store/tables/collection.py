"""What our own collector says about itself: what it asked for, and what it wrote (the manifest of a triage bundle)."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

_REQUEST = """
file_id INTEGER the manifest that says so
api_group VARCHAR API group, empty for core
version VARCHAR API version without the group
kind VARCHAR kind
resource VARCHAR plural; * for what a whole API group serves
namespaced BOOLEAN whether its objects lie in namespaces
namespace VARCHAR the namespace asked for; * for all of them and for the cluster
outcome VARCHAR ok, forbidden, not-served, timed-out, truncated or failed
status INTEGER HTTP status, null where unknown
message VARCHAR the server's words, secrets masked
objects BIGINT objects in the answer, null where unknown
"""

_LOG = """
file_id INTEGER the manifest that says so
namespace VARCHAR namespace of the pod
pod VARCHAR pod
container VARCHAR container
previous BOOLEAN whether the log of the previous container was asked for
outcome VARCHAR ok, none (there is no such log), forbidden, timed-out, truncated, failed or skipped
bytes BIGINT bytes that were kept
left_out BIGINT bytes that were left out before them, null where unknown
message VARCHAR why, secrets masked
"""

_DIGEST = """
file_id INTEGER the manifest that says so
path VARCHAR path below the folder of the manifest
bytes BIGINT size
sha256 VARCHAR digest of the file's bytes
"""

PARTS: tuple[Table, ...] = (
    table("part_requests", "parts", "What a collector asked the API server for (manifest of a triage bundle).", _REQUEST),
    table("part_log_requests", "parts", "The logs that a collector asked for.", _LOG),
    table("part_digests", "parts", "The files that a collector wrote.", _DIGEST),
)

TABLES: tuple[Table, ...] = (
    table("requests", "parts", "What triage collect asked the API server for, and what came of it.", _REQUEST),
    table("log_requests", "parts", "The logs that triage collect asked for, and what came of it.", _LOG),
    table("digests", "parts", "The files that triage collect wrote, as its manifest names them.", _DIGEST),
)
