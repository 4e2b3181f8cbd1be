"""What can go wrong when a cluster is asked. Each message is one line without a secret."""

from __future__ import annotations

import re

from analyzer.bundle.errors import BundleError
from analyzer.redact import mask_text

MAX_WORDS = 300
"""Longest message of a server that is kept, in characters."""

_SPACE = re.compile(r"\s+")


class ClusterError(BundleError):
    """The cluster could not be asked at all: unreachable, refused, no right to anything (exit code 3)."""


class RequestError(Exception):
    """One request has failed for good; the collection goes on.

    Attributes:
        outcome: `forbidden`, `not-served`, `timed-out`, `expired` (a continue token) or `failed`.
        status: the HTTP code; None where there was no answer.
        message: the server's own words, or what the network said.
    """

    def __init__(self, outcome: str, status: int | None, message: str) -> None:
        self.outcome, self.status, self.message = outcome, status, words(message)
        super().__init__(f"{outcome}: {self.message}")


class Stopped(Exception):  # noqa: N818 - nothing is wrong: the collection ends early
    """The collection ends early (Ctrl-C, total time-out); what there is is kept."""


def words(text: object) -> str:
    """Somebody else's words as one masked line of at most `MAX_WORDS` characters."""
    line = _SPACE.sub(" ", mask_text(str(text)[: MAX_WORDS * 10])).strip()
    return line if len(line) <= MAX_WORDS else line[: MAX_WORDS - 1] + "…"
