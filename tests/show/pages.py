"""What the tests of `triage show` stand on: objects, and a page as lines of text."""

from __future__ import annotations

import io
from typing import Any

import duckdb

from analyzer.show import OLDER, view_of
from analyzer.show.printing import Pages, print_view
from analyzer.store.lookup import asked, lookup


def thing(api: str, kind: str, name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    """A Kubernetes object."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata | more.pop("metadata", {}), **more}


def owned(kind: str, name: str, uid: str, api: str = "apps/v1") -> dict[str, Any]:
    """The part of metadata that says that a controller owns the object."""
    return {"ownerReferences": [{"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": True}]}


def page(
    con: duckdb.DuckDBPyConnection, text: str, namespace: str | None = None, width: int | None = None, *, older: bool = False
) -> str:
    """The page of one object as it goes into a pipe, or with a width to a terminal.

    No section may miss a table or a column, but where the database is `older`.
    """
    stream = io.StringIO()
    terminal = {"force_terminal": True, "width": width, "color_system": "standard"} if width else {"force_terminal": False}
    console = Pages(file=stream, legacy_windows=False, **terminal)
    print_view(view_of(con, lookup(con, asked(text), namespace)), console)
    text = stream.getvalue()
    if not older and not width:
        assert OLDER not in text
    return text


def section(text: str, title: str) -> list[str]:
    """The lines of a section without their indent, the title included; the head of the page counts last."""
    head, *parts = text.split("\n\n")
    for part in (*parts, head):
        lines = part.strip("\n").split("\n")
        if lines[0].startswith(title):
            return [line.strip() for line in lines]
    return []
