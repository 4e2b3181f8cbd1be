"""Tables of facts that stand beside the code as YAML: words, codes, states."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

T = TypeVar("T")

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Every run reads these files: the C loader takes a tenth of the time."""


def beside(module: str, name: str, shape: type[T]) -> T:
    """The data of a file of ours, checked.

    Args:
        module: `__file__` of the module that it stands beside.
        name: its name.
        shape: what it holds.
    """
    text = Path(module).with_name(name).read_text("utf-8")
    return msgspec.convert(yaml.load(text, Loader=_LOADER), shape)  # noqa: S506 - a safe loader
