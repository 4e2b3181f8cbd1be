"""What was read, as it was read: inputs, files, objects with their sources, lists, documents."""

from __future__ import annotations

from analyzer.store.tables import collection
from analyzer.store.tables.base import WHOLE_OBJECT, Table, table

TABLES: tuple[Table, ...] = (
    table(
        "inputs",
        "parts",
        "The inputs of this case, in the order given.",
        """
input INTEGER index, from 0
path VARCHAR as given on the command line
format VARCHAR must-gather, inspect, cluster-info, support-bundle, plain, log, …
sha256 VARCHAR of the input file, null for a directory
bytes BIGINT size of the input
format_at TIMESTAMP the end of the collection as the format itself says, null where it does not
format_source VARCHAR where that time stands
collected_at TIMESTAMP the end of the collection, null where nothing says
collected_source VARCHAR where that time comes from, in words
as_of TIMESTAMP the moment ages are measured at: collected_at, or what --as-of says
complete BOOLEAN false where the input itself is cut
error VARCHAR what is wrong with the input as a whole, null where nothing is
""",
    ),
    table(
        "files",
        "parts",
        "Every file of the inputs.",
        """
file_id INTEGER index over all inputs, from 0
input INTEGER the input it is in
path VARCHAR as in the input
bytes BIGINT size
root VARCHAR folder of the bundle in the input that it belongs to, empty for the input itself
format VARCHAR format of that root
role VARCHAR objects, log, document, errors, meta, skipped (known, not read) or unsafe
status VARCHAR read, empty, skipped, partial or unread
line INTEGER line of the first problem
error VARCHAR what went wrong, or why it was skipped
lost INTEGER how many objects are known to be lost, null where unknown
sha256 VARCHAR digest of its bytes, where the bundle lists digests to hold it against; else null
""",
    ),
    table(
        "objects",
        "parts",
        "Every Kubernetes object once, as in its newest source; with several inputs as in the newest of them.",
        WHOLE_OBJECT,
    ),
    table(
        "gone_objects",
        "facts",
        "With several inputs: objects that a newer input's complete list lacks. They are in no finding and in no table of facts.",
        WHOLE_OBJECT + "gone_by INTEGER the newer input that no longer has it\n",
    ),
    table(
        "sources",
        "parts",
        "Every place where an object was read.",
        """
object_id BIGINT the object, in objects or gone_objects
file_id INTEGER the file
idx INTEGER position among the objects of that file, from 0
line INTEGER its first line there
resource_version VARCHAR as read there
chosen BOOLEAN true for the source that objects shows
differs BOOLEAN true where this source has another resourceVersion than the chosen one
""",
    ),
    table(
        "lists",
        "parts",
        "Every list of objects in the bundle, also empty ones: what lets anything say that there are none.",
        """
file_id INTEGER the file
api_group VARCHAR API group of the items
kind VARCHAR kind of the items
namespace VARCHAR the namespace covered; * for all namespaces or a cluster-scoped kind
objects INTEGER items read
complete BOOLEAN read to its end, nothing cut
""",
    ),
    table(
        "documents",
        "parts",
        "Files that are no Kubernetes objects but that rules read.",
        """
file_id INTEGER the file
role VARCHAR what it is; older-… where a newer input has one of the same role
json JSON its content
""",
    ),
    table(
        "collect_errors",
        "parts",
        "What the collection itself says it could not get.",
        """
file_id INTEGER the file that says so
line INTEGER the line
kind VARCHAR failed, forbidden, not-served or timeout
subject VARCHAR what could not be got
message VARCHAR its words
""",
    ),
    *collection.TABLES,
)
