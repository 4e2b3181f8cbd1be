"""Tables of facts that stand beside the code as YAML: words, codes, states."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec
import yaml

T = TypeVar("T")


def beside(module: str, name: str, shape: type[T]) -> T:
    """The data of a file of ours, checked.

    Args:
        module: `__file__` of the module that it stands beside.
        name: its name.
        shape: what it holds.
    """
    return msgspec.convert(yaml.safe_load(Path(module).with_name(name).read_text("utf-8")), shape)
