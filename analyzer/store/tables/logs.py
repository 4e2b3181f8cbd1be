"""Logs."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "logs",
        "parts",
        "Every log file, with its last lines.",
        """
log_id BIGINT identifies the log in this database
file_id INTEGER the file
namespace VARCHAR namespace of the pod, empty where it is no container's
pod VARCHAR pod
container VARCHAR container
source VARCHAR current, previous, rotated, service, audit or other
bytes BIGINT size
lines BIGINT number of lines
first_line INTEGER line of the file where it starts
first_at TIMESTAMP time of its first line
last_at TIMESTAMP time of its last line
tail VARCHAR the last lines
tail_line BIGINT line of the file where the tail starts
""",
    ),
    table(
        "log_ends",
        "facts",
        "Last words of containers that ended, fail or are not ready: the last 5 lines of the log, and the most telling one.",
        """
log_id BIGINT the log
line BIGINT line of the log's file
text VARCHAR the line, cut where it is long
words VARCHAR the line without a time in front
telling BOOLEAN the one line of this log that tells most: the last that speaks of an error, else the last
""",
    ),
)
