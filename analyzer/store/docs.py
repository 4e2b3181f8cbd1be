"""`python -m analyzer.store.docs` writes the tables of the schema into docs/sql.md.

`--check` writes nothing and says by its exit code whether the page is current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from analyzer.store.schema import TABLES, Table

BEGIN = "<!-- tables: made by `python -m analyzer.store.docs` -->"
END = "<!-- end of tables -->"

_STAGES = {
    "parts": "Read from the bundle",
    "facts": "Facts: what the objects mean",
    "result": "What was found",
}


def page() -> Path:
    """docs/sql.md of this checkout."""
    return Path(__file__).resolve().parent.parent.parent / "docs" / "sql.md"


def tables_text() -> str:
    """The Markdown of all tables."""
    lines: list[str] = []
    for stage, title in _STAGES.items():
        lines += [f"### {title}", ""]
        for table in TABLES:
            if table.stage == stage:
                lines += _table(table)
    return "\n".join(lines)


def _table(table: Table) -> list[str]:
    rows = [f"| {column.name} | {column.type} | {_cell(column.doc)} |" for column in table.columns]
    return [f"#### {table.name}", "", table.doc, "", "| column | type | holds |", "| --- | --- | --- |", *rows, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")


def with_tables(text: str) -> str:
    """The page with its tables as the schema has them now.

    Raises:
        ValueError: the page has lost the marks between which they stand.
    """
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError("docs/sql.md has no marks for the tables")
    return f"{head}{BEGIN}\n\n{tables_text()}\n{END}{tail}"


def main() -> int:
    """Writes the page, or checks it; 1 where it is not current."""
    text = page().read_text(encoding="utf-8")
    current = with_tables(text)
    if "--check" in sys.argv[1:]:
        return int(text != current)
    page().write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
