"""What the cluster wrote, as OME's pages show it: no address, no credential, nothing that steers a terminal, not too long."""

from __future__ import annotations

from analyzer.ome.cells import end
from analyzer.ome.names import MAX_SUBDOMAIN, is_subdomain
from analyzer.redact import mask_text
from analyzer.render.escape import one_line

OMITTED = "[OMITTED]"
REDACTED = "[REDACTED]"
REASON_WIDTH, MESSAGE_WIDTH = 256, 1024

_MASKED = "[masked:"
_INSPECTED = 8192
"""How much of a text is looked at, in characters; what lies behind it is not shown."""


def text(value: object, width: int) -> str:
    """A text of the cluster cut to a width; a fixed word where it holds an address or a credential, empty where it is no text."""
    if not isinstance(value, str):
        return ""
    seen = value[:_INSPECTED]
    if "://" in value:
        return OMITTED
    if _MASKED in seen or mask_text(seen) != seen:
        return REDACTED
    return end(one_line(seen), width)


def shown(value: str) -> str:
    """The name of an object as it is shown, whatever it holds: nothing keeps a bundle from names that no cluster takes."""
    return value if is_subdomain(value) and mask_text(value) == value else text(value, MAX_SUBDOMAIN)


def name(value: object) -> str:
    """The name of an object; empty where it can be none, a fixed word where it looks like a credential."""
    if not isinstance(value, str) or not is_subdomain(value):
        return ""
    return REDACTED if mask_text(value) != value else value
