"""What Kubernetes takes as names of objects, resources and labels (apimachinery's validation), and how OME names revisions."""

from __future__ import annotations

import re

MAX_SUBDOMAIN = 253
MAX_QUALIFIED = 63
MAX_SERVICE = 63
"""Longest name of a Service: that of a label of DNS."""

_REVISION_HASH = re.compile(r"[0-9a-f]{8}", re.ASCII)
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


def is_revision_hash(text: str) -> bool:
    """Whether a text can be the hash by which OME tells revisions apart in names and labels."""
    return _REVISION_HASH.fullmatch(text) is not None


def revision_hash(service: str, component: str, name: str) -> str:
    """The hash in the name of the Service of a component's revision; empty where the name can be none.

    OME shortens a name that is too long for a Service, in a way of which only the hash at its end is certain.
    """
    digest = name[-8:]
    if not is_revision_hash(digest):
        return ""
    whole = f"{service}-{component}-rev-{digest}"
    return digest if name == whole or (len(whole) > MAX_SERVICE and len(name) <= MAX_SERVICE) else ""
