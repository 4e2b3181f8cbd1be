"""Every reason held against the bundle: confirmed, refuted or fixed since, or not to be told. One module a condition."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.facts.order.proof import classes, models, placement, plans, workloads
from analyzer.facts.order.proof.base import Proof
from analyzer.facts.order.shapes import Said
from analyzer.facts.order.world import Order, World

Prover = Callable[[World, Order, Said, Proof], None]

PROVERS: dict[str, Prover] = {**classes.PROVERS, **models.PROVERS, **plans.PROVERS, **placement.PROVERS, **workloads.PROVERS}


def prove(world: World, order: Order, said: Said) -> Proof:
    """What the bundle says to the reason of a condition of an order."""
    proof = Proof()
    prover = PROVERS.get(said.reason)
    if prover:
        prover(world, order, said, proof)
    return proof
