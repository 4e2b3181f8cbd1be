"""What the parse workers write: one NDJSON file a worker and table, keys as the columns."""

from __future__ import annotations

from analyzer.store.tables import collection
from analyzer.store.tables.base import Table, table

PARTS: tuple[Table, ...] = (
    table(
        "part_objects",
        "parts",
        "One row for each place where an object was read; the same object may be there several times.",
        """
file_id INTEGER the file it was read from, see files
idx INTEGER position among the objects of that file, from 0
line INTEGER line of the object's first byte, from 1
byte_offset BIGINT where the object's text starts in the (decompressed) file
byte_length BIGINT how long that text is
api_group VARCHAR API group, empty for core
version VARCHAR API version without the group
kind VARCHAR kind
namespace VARCHAR namespace, empty for cluster-scoped objects
name VARCHAR name
uid VARCHAR metadata.uid, empty where there is none
resource_version VARCHAR metadata.resourceVersion, empty where there is none
whole BOOLEAN false where the object was salvaged from damaged text and may lack fields
json JSON the object, secrets masked, managedFields dropped
""",
    ),
    table(
        "part_lists",
        "parts",
        "One row for each list of objects that a file holds (or stands for), also for empty ones.",
        """
file_id INTEGER the file
api_group VARCHAR API group of the items
kind VARCHAR kind of the items
namespace VARCHAR the namespace that the list covers; '*' for all namespaces or a cluster-scoped kind
objects INTEGER items read
complete BOOLEAN true where the list was read to its end and nothing says that it was cut
""",
    ),
    table(
        "part_logs",
        "parts",
        "One row for each log file with at least one byte, or known to be empty on purpose.",
        """
file_id INTEGER the file
part INTEGER several logs in one file (cluster-info dump): 0, 1, 2…
namespace VARCHAR namespace of the pod, empty where the log is no container's
pod VARCHAR pod, empty where the log is no container's
container VARCHAR container, empty where the log is no container's
source VARCHAR current, previous, rotated, service (of a host), audit or other
bytes BIGINT size of the text
lines BIGINT number of lines
first_line INTEGER line of the file where this log starts, from 1
first_at VARCHAR time of the first line that has one, RFC 3339 UTC, or null
last_at VARCHAR time of the last line that has one, RFC 3339 UTC, or null
tail VARCHAR the last 50 lines, at most 8 KB, secrets masked, control characters replaced
tail_line BIGINT line of the file where the tail starts, from 1
""",
    ),
    table(
        "part_log_hits",
        "parts",
        "Lines of logs that a signature of a rule pack knows: per log and signature the first and the newest ones.",
        """
file_id INTEGER the file
part INTEGER the log in that file, see part_logs
signature VARCHAR id of the signature
line BIGINT line of the file, from 1
at VARCHAR time of the line, RFC 3339 UTC, or null
text VARCHAR the line, at most 2 KB, secrets masked, control characters replaced
before VARCHAR up to 3 lines before it, likewise
after VARCHAR up to 3 lines after it, likewise
fields JSON what the named groups of the signature's pattern matched, secrets masked
""",
    ),
    table(
        "part_log_counts",
        "parts",
        "How often each signature hit in each log in which it did.",
        """
file_id INTEGER the file
part INTEGER the log in that file, see part_logs
signature VARCHAR id of the signature
hits BIGINT lines that it hit, all of them
kept INTEGER how many of them are in part_log_hits
first_line BIGINT line of the file of the first hit
last_line BIGINT line of the file of the last hit
""",
    ),
    table(
        "part_documents",
        "parts",
        "Files of a bundle that are no Kubernetes objects but that rules read, whole, as JSON.",
        """
file_id INTEGER the file
role VARCHAR alerts, prometheus-rules, etcd-endpoint-health, etcd-alarm-list, foreign-analysis, version, gpu-usage, …
json JSON the content, secrets masked
""",
    ),
    table(
        "part_files",
        "parts",
        "What became of each file that was to be read.",
        """
file_id INTEGER the file
status VARCHAR read, partial or unread
line INTEGER line of the first problem, null where there is none
error VARCHAR what went wrong, in one line, null where nothing did
lost INTEGER how many objects or documents are known to be lost; null where that is not known
""",
    ),
    table(
        "part_errors",
        "parts",
        "What the collection itself says it could not get (gather.logs, *.stderr, *-errors.json).",
        """
file_id INTEGER the file that says so
line INTEGER the line
kind VARCHAR failed, forbidden, not-served or timeout
subject VARCHAR what could not be got: a plural with group, a namespace, a path; empty where unknown
message VARCHAR the words of the file, secrets masked
""",
    ),
    *collection.PARTS,
)
