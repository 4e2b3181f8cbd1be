"""What the stories share."""

from __future__ import annotations

from cluster import Object


def condition(kind: str, status: str, reason: str, message: str, since: str) -> Object:
    """A condition; what is empty is left out."""
    words = {key: value for key, value in (("reason", reason), ("message", message)) if value}
    return {"type": kind, "status": status, **words, "lastTransitionTime": since}
