"""Which GPU of its node a log speaks of, counted from 0: only where something names it by that number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from analyzer.facts.gpu.xid_gpus import Group
from analyzer.facts.gpu.xid_lines import pci

_MINOR = re.compile(r"gpu-(\d{1,3})", re.ASCII)
_LOST = re.compile(r"device handle for GPU ?(\d{1,3}): ?([0-9A-Fa-f:.]{5,20})", re.ASCII)


class Slots:
    """The numbers of GPUs by node, and UUID or PCI address.

    The device of NVIDIA's DRA driver carries the number in its name (gpu-5). `nvidia-smi -q` tells GPUs in the order of it, but
    not those that it does not reach: these it names above the list, with their number.
    """

    def __init__(
        self,
        devices: Iterable[tuple[Any, ...]],
        told: Mapping[int, Iterable[str]],
        node_of: Mapping[int, int | None],
        groups: Iterable[Group] = (),
    ) -> None:
        """The numbers.

        Args:
            devices: of NVIDIA's DRA driver: name, node, UUID and PCI address as they are published.
            told: the PCI addresses of the GPUs that `nvidia-smi -q` or the kernel module tells in each log, in its order.
            node_of: the node that each of these logs is of.
            groups: the GPUs with errors: their lines name the number of one that nvidia-smi does not reach.
        """
        self._known: dict[tuple[int, str], int] = {}
        lost = _lost(groups)
        for log_id, addresses in told.items():
            node = node_of.get(log_id)
            if node is None:
                continue
            missing = lost.get(log_id, {})
            listed = [address for address in addresses if address not in missing]
            taken = set(missing.values())
            numbers = (number for number in range(len(listed) + len(taken)) if number not in taken)
            self._known |= {(node, address): number for address, number in missing.items()}
            self._known |= {(node, address): number for address, number in zip(listed, numbers, strict=False)}
        for name, node_id, uuid, bus in devices:
            if found := _MINOR.fullmatch(name or ""):
                for key in (uuid, pci(bus)):
                    if key:
                        self._known[node_id, key] = int(found[1])

    def of(self, group: Group) -> int | None:
        """The number of a GPU, None where nothing tells it."""
        if group.switch or group.where.node_id is None:
            return None
        keys = [(group.where.node_id, key) for key in (group.uuid, group.pci) if key]
        return next((self._known[key] for key in keys if key in self._known), None)


def _lost(groups: Iterable[Group]) -> dict[int, dict[str, int]]:
    """The numbers of the GPUs that nvidia-smi did not reach, by log and PCI address."""
    found: dict[int, dict[str, int]] = {}
    for group in groups:
        for event in group.events:
            told = _LOST.search(event.text) if event.source == "nvml" else None
            address = pci(told[2]) if told else None
            if told and address:
                found.setdefault(event.log_id, {})[address] = int(told[1])
    return found
