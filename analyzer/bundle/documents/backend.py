"""PyYAML's event parser: libyaml where PyYAML was built with it, else the slow one in Python. Same events, same results."""

from __future__ import annotations

from typing import Any

from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner


class PythonEvents(Reader, Scanner, Parser):
    """Events without the C extension."""

    def __init__(self, text: bytes) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)


EventSource: Any
try:
    from yaml._yaml import CParser as EventSource
except ImportError:
    EventSource = PythonEvents
