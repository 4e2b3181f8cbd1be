"""The errors of opening and reading a bundle. Each message is one line, fit to be shown after `error: `."""

from __future__ import annotations


class BundleError(Exception):
    """Base of all that can go wrong with an input; anything else that escapes is a fault of ours."""

    def __init__(self, message: str) -> None:
        """Keep `message` in one printable line: names from outside may hold line ends and escape sequences."""
        super().__init__("".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in message))


class UsageError(BundleError):
    """The input cannot be what was meant: no such path, no permission, neither a file nor a folder (exit code 2)."""


class UnreadableError(BundleError):
    """The input is there, and nothing in it can be read as a bundle (exit code 3)."""


class LimitError(BundleError):
    """A limit of `analyzer.bundle.limits` was reached; the rest of the input is still used."""


class CutEntry(BundleError):  # noqa: N818 - not a failure of the reader: what there was has been handed over
    """An entry ends before its declared end. Raised by a stream after all bytes that there are.

    Attributes:
        available: bytes that the stream gave before this.
    """

    def __init__(self, message: str, available: int) -> None:
        super().__init__(message)
        self.available = available
