"""What a table is: its columns with their types and meanings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its DuckDB type, and what it holds."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table; `stage` says who fills it: `parts` (the parse workers), `facts` or `result`."""

    name: str
    doc: str
    columns: tuple[Column, ...]
    stage: str

    def ddl(self) -> str:
        """The CREATE TABLE statement."""
        columns = ", ".join(f'"{column.name}" {column.type}' for column in self.columns)
        return f'CREATE TABLE "{self.name}" ({columns})'


def table(name: str, stage: str, doc: str, columns: str) -> Table:
    """A table from one `name TYPE what it holds` line a column."""
    rows = [line.split(None, 2) for line in columns.splitlines() if line.strip()]
    return Table(name, doc, tuple(Column(n, t, d) for n, t, d in rows), stage)


OBJECT = """
object_id BIGINT the object, see objects
api_group VARCHAR API group, empty for core
kind VARCHAR kind
namespace VARCHAR namespace, empty for cluster-scoped objects
name VARCHAR name
"""

WHOLE_OBJECT = """
object_id BIGINT identifies the object in this database
input INTEGER the input it was read from
api_group VARCHAR API group, empty for core
version VARCHAR API version without the group
kind VARCHAR kind
namespace VARCHAR namespace, empty for cluster-scoped objects
name VARCHAR name
uid VARCHAR metadata.uid, empty where there is none
resource_version VARCHAR metadata.resourceVersion
created_at TIMESTAMP metadata.creationTimestamp
deleted_at TIMESTAMP metadata.deletionTimestamp
file_id INTEGER the file of the newest source
line INTEGER its first line there
byte_offset BIGINT where its text starts there
byte_length BIGINT how long that text is
whole BOOLEAN false where it was salvaged from damaged text
json JSON the whole object, secrets masked
"""
