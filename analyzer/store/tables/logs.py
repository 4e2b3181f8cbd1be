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
        "log_hits",
        "parts",
        "Lines of logs that a signature of the rule packs knows: per log and signature the first 50 and the newest 150.",
        """
log_id BIGINT the log
file_id INTEGER the file
signature VARCHAR id of the signature
line BIGINT line of the file
at TIMESTAMP time of the line, null where nothing tells its zone (a reserved word: write `h.at` or `"at"`)
text VARCHAR the line, cut at 2 KB
before VARCHAR up to 3 lines before it
after VARCHAR up to 3 lines after it, or as many as its signature asks for (below)
fields JSON what the named groups of the signature's pattern matched
""",
    ),
    table(
        "log_hit_counts",
        "parts",
        "How often each signature hit in each log in which it did; where hits is more than kept, log_hits holds not all of them.",
        """
log_id BIGINT the log
signature VARCHAR id of the signature
hits BIGINT lines that it hit, all of them
kept INTEGER how many of them are in log_hits
first_line BIGINT line of the file of the first hit
last_line BIGINT line of the file of the last hit
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
