"""Whether two specs of runtimes are the same, as far as that can be told without OME's hash.

OME compares hashes over Go's rendering of a spec, which leaves out what is empty and writes quantities in one form. Specs that
hold the same values have the same hash. Of specs that differ only in what such a rendering may drop, nothing is said.
"""

from __future__ import annotations

from typing import Any, Literal

from analyzer.ome import quantity

Relation = Literal["Equal", "Different", "Unknown"]

_AMOUNTS = ("requests", "limits", "capacity")


def compare(one: Any, other: Any) -> Relation:
    """How the values of two specs relate."""
    if _full(one) == _full(other):
        return "Equal"
    return "Unknown" if _bare(one) == _bare(other) else "Different"


def _full(value: Any) -> Any:
    """The value without nulls: Go knows none in a spec."""
    if isinstance(value, dict):
        return {key: _full(item) for key, item in value.items() if item is not None}
    return [_full(item) for item in value] if isinstance(value, list) else value


def _bare(value: Any, key: str = "") -> Any:
    """The value without anything that Go may leave out, quantities in one form; None where nothing is left."""
    if isinstance(value, dict):
        kept = {name: found for name, item in value.items() if (found := _amount(key, item, name)) is not None}
        return kept or None
    if isinstance(value, list):
        return [_bare(item) for item in value] or None
    return None if value in ("", 0, False) else value


def _amount(holder: str, item: Any, name: str) -> Any:
    if holder in _AMOUNTS and (amount := quantity.parse(item)) is not None:
        return str(amount)
    return _bare(item, name)
