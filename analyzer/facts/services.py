"""How many addresses stand behind a Service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import Stored, mapping, mappings, stored, strings, text

_SERVICE_LABEL = "kubernetes.io/service-name"


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `service_endpoints` from EndpointSlices, and from Endpoints for Services that have no slice."""
    insert_rows(con, "service_endpoints", _rows(con))


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    sliced: dict[tuple[str, str], dict[str, Any]] = {}
    for item in stored(con, [("discovery.k8s.io", "EndpointSlice")]):
        service = text(mapping(mapping(item.value.get("metadata")).get("labels")).get(_SERVICE_LABEL))
        if service is None:
            continue
        row = sliced.setdefault((item.namespace, service), _row(item, service))
        for endpoint in mappings(item.value.get("endpoints")):
            # No condition means unknown, which the API says to read as ready.
            ready = mapping(endpoint.get("conditions")).get("ready") is not False
            row["ready" if ready else "not_ready"] += len(strings(endpoint.get("addresses")))
    yield from sliced.values()
    for item in stored(con, [("", "Endpoints")]):
        if (item.namespace, item.name) in sliced:
            continue
        row = _row(item, item.name)
        for subset in mappings(item.value.get("subsets")):
            row["ready"] += len(mappings(subset.get("addresses")))
            row["not_ready"] += len(mappings(subset.get("notReadyAddresses")))
        yield row


def _row(item: Stored, service: str) -> dict[str, Any]:
    return {
        "namespace": item.namespace,
        "service": service,
        "object_id": item.object_id,
        "kind": item.kind,
        "ready": 0,
        "not_ready": 0,
    }
