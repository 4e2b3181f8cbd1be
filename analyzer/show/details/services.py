"""Services: ports, who answers, and the pods that are selected."""

from __future__ import annotations

from typing import Any

import duckdb

from analyzer.facts.values import mapping, mappings, text
from analyzer.render import words as report_words
from analyzer.show import podlist, words
from analyzer.show.model import Fact, Item, Section
from analyzer.show.subject import DetailsTable, Subject, one

_PORTS = 20


def service(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """How it is reached and how many addresses answer."""
    spec = it.spec
    kind = text(spec.get("type")) or "ClusterIP"
    facts: list[Item] = [Fact("Type", words.short(kind))]
    if kind == "ExternalName":
        facts.append(Fact("Leads to", words.quoted(spec.get("externalName") or "", 200)))
        return Section("Service", tuple(facts))
    ports = [_port(port) for port in mappings(spec.get("ports"))]
    facts.append(Fact("Ports", words.some(ports, _PORTS) or "none"))
    selector = mapping(spec.get("selector"))
    labels = [f"{words.short(key, 100)}={words.short(value, 100)}" for key, value in selector.items()]
    facts.append(Fact("Selects", words.some(labels, 10) or "nothing: its addresses are set by someone else"))
    facts.append(_endpoints(con, it))
    return Section("Service", tuple(facts))


def _port(port: dict[str, Any]) -> str:
    name = f"{words.short(port['name'])} " if text(port.get("name")) else ""
    target = port.get("targetPort")
    leads = f" to {words.short(target)}" if target not in (None, port.get("port")) else ""
    return words.short(f"{name}{words.short(port.get('port'))}/{words.short(port.get('protocol') or 'TCP')}{leads}", 120)


def _endpoints(con: duckdb.DuckDBPyConnection, it: Subject) -> Fact:
    row = one(
        con,
        "SELECT ready, not_ready, kind FROM service_endpoints WHERE namespace = ? AND service = ?",
        it.namespace,
        it.name,
    )
    if row is None:
        return Fact("Addresses", "cannot tell: the bundle has no EndpointSlice and no Endpoints of it")
    ready, others = row["ready"] or 0, row["not_ready"] or 0
    counted = f"{report_words.number(ready)} ready, {report_words.number(others)} not ready (by its {words.short(row['kind'])})"
    return Fact("Addresses", counted, "" if ready else "warning")


def selected(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pods that have all labels of its selector."""
    return podlist.related(con, it, "Selected pods", "service", out=False)


DETAILS: DetailsTable = {("", "Service"): (service, selected)}
