"""GPU clusters: the map of the nodes, the GPU Operator, MIG, and the errors that logs tell. Nothing where there is no GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.engine.sections import Section
from analyzer.overview import gpu_errors, gpu_mig, gpu_nodes, gpu_operator, gpu_world
from analyzer.overview.marks import Marks

if TYPE_CHECKING:
    import duckdb


def sections(con: duckdb.DuckDBPyConnection, marks: Marks) -> tuple[Section, ...]:
    """The sections that the bundle has something for, the map first."""
    world = gpu_world.read(con)
    found = [
        gpu_nodes.section(world, marks) if world else None,
        gpu_errors.section(con, marks),
        gpu_operator.section(con, marks),
        gpu_mig.section(con, marks),
    ]
    return tuple(one for one in found if one is not None)
