"""One Node of what several files print of it, in the must-gather of NVIDIA's GPU Operator.

`gpu_nodes.descr` tells most, `gpu_nodes.labels` the labels, `gpu_nodes.status` a line. Where the description is cut or empty, the
others have what it lacks. An object that was collected as such is left as it is.
"""

from __future__ import annotations

from typing import Any

import duckdb
import orjson

from analyzer.bundle.formats.gpu_operator import FORMAT, PRINTED_NODES
from analyzer.facts.values import mapping, mappings

_PRINTED = """
SELECT f.input, d.json FROM documents d JOIN files f USING (file_id) WHERE d.role = ?
ORDER BY f.input, f.path
"""
_NODES = """
SELECT o.object_id, o.input, o.name, o.json FROM objects o JOIN files f USING (file_id)
WHERE o.api_group = '' AND o.kind = 'Node' AND f.format = ?
"""
_UPDATE = """
UPDATE objects SET json = c.json FROM (SELECT unnest(?::VARCHAR[]) AS json, unnest(?::BIGINT[]) AS object_id) c
WHERE c.object_id = objects.object_id
"""


def settle(con: duckdb.DuckDBPyConnection) -> None:
    """Adds to each Node of printed text what other files of its input print of it; changes `objects`."""
    printed: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for number, text in con.execute(_PRINTED, [PRINTED_NODES]).fetchall():
        for node in mappings(mapping(orjson.loads(text)).get("nodes")):
            printed.setdefault((number, str(mapping(node.get("metadata")).get("name"))), []).append(node)
    if not printed:
        return
    changed = []
    for object_id, number, name, text in con.execute(_NODES, [FORMAT]).fetchall():
        whole = filled(orjson.loads(text), printed.get((number, name), []))
        after = orjson.dumps(whole).decode()
        if after != text:
            changed.append((after, object_id))
    if changed:
        con.execute(_UPDATE, [list(column) for column in zip(*changed, strict=True)])


def filled(node: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """A Node with what it lacks of what others say of it, the first of them first.

    A description prints conditions behind labels, taints and whether the node is cordoned, so that one with conditions has these
    whole.
    """
    for other in others:
        status, told = mapping(node.get("status")), mapping(other.get("status"))
        spec = mapping(node.get("spec"))
        if not status.get("conditions"):
            spec = {**mapping(other.get("spec")), **spec}
        merged = {**told, **status}
        if "nodeInfo" in told:
            merged["nodeInfo"] = {**told["nodeInfo"], **mapping(status.get("nodeInfo"))}
        metadata = mapping(node.get("metadata"))
        labels = {**mapping(mapping(other.get("metadata")).get("labels")), **mapping(metadata.get("labels"))}
        node = {**node, "metadata": {**metadata, "labels": labels}}
        node |= {key: value for key, value in (("spec", spec), ("status", merged)) if value or key in node}
    return node
