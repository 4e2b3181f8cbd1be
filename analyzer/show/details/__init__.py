"""What a kind has of its own to say: one module a domain.

A module has `DETAILS`: (API group, kind) → functions from the database and the object to sections. `EVERY_KIND` stands for
objects of every kind. To add a domain, write its module and name it in `_MODULES`; several may speak of one kind (a Node has
GPUs).
"""

from __future__ import annotations

from analyzer.show.details import (
    contents,
    devices,
    dra,
    gangs,
    gpu,
    gpu_logs,
    gpu_operator,
    jobset,
    kserve,
    kueue,
    kueue_checks,
    kueue_things,
    namespaces,
    neighbours,
    nodes,
    ome,
    order,
    pods,
    ray,
    runs,
    services,
    volumes,
    workloads,
)
from analyzer.show.subject import EVERY_KIND, Details, DetailsTable, Subject

_MODULES = (
    pods,
    workloads,
    services,
    volumes,
    nodes,
    gpu,
    gpu_operator,
    gpu_logs,
    dra,
    devices,
    namespaces,
    contents,
    kueue,
    kueue_things,
    kueue_checks,
    kserve,
    ome,
    order,
    jobset,
    ray,
    runs,
    gangs,
    neighbours,
)


def of(it: Subject) -> list[Details]:
    """What the domains have to say of an object of its kind; nothing where it is gone, since no table of facts has it."""
    if it.target.gone:
        return []
    kind = (it.target.group, it.target.kind)
    tables: list[DetailsTable] = [module.DETAILS for module in _MODULES]
    return [make for table in tables for make in (*table.get(kind, ()), *table.get(EVERY_KIND, ()))]
