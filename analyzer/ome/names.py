"""What Kubernetes takes as names of objects, resources and labels (apimachinery's validation)."""

from __future__ import annotations

import re

MAX_SUBDOMAIN = 253
MAX_QUALIFIED = 63

_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_QUALIFIED = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)


def is_subdomain(name: object) -> bool:
    """Whether a value can be the name of an object: an RFC 1123 subdomain of at most 253 characters."""
    return isinstance(name, str) and len(name) <= MAX_SUBDOMAIN and _SUBDOMAIN.fullmatch(name) is not None


def is_qualified(name: str) -> bool:
    """Whether a text can be the key of a label or the name of a resource: `[prefix/]name`."""
    prefix, slash, rest = name.rpartition("/")
    if slash and not is_subdomain(prefix):
        return False
    return len(rest) <= MAX_QUALIFIED and _QUALIFIED.fullmatch(rest) is not None


def is_label_value(value: str) -> bool:
    """Whether a text can be the value of a label; an empty one can."""
    return len(value) <= MAX_QUALIFIED and (not value or _QUALIFIED.fullmatch(value) is not None)
