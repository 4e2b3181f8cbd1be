"""Placeholders for masked values: the same value gets the same placeholder within one run, and none can be turned back."""

from __future__ import annotations

import re
import secrets
from hashlib import blake2b

_DIGITS = 10
"""Hex digits of the digest that are shown: 40 bits, so that a million different secrets rarely meet."""

_PLACEHOLDER = re.compile(r"\[masked:[a-z-]{1,32}:[0-9a-f]{10}(?::\d{1,12} bytes)?\]")

_MARK = re.compile(
    r"\*{3,}.{0,200}\*{3,}|\*{3,}|[<\[(]?(?:redacted|hidden|masked|removed|omitted)[>\])]?|x{4,}|xxx\.xxx\.xxx\.xxx"
    r"|\d{1,12} bytes long|\((?:\d{1,12} bytes, )?not collected\)|<[^<>]{1,60}>",
    re.IGNORECASE,
)
"""What stands where a secret was, left by troubleshoot, oc adm inspect, cilium-sysdump, Deckhouse, insights-operator and by
`triage collect`."""


class _Key:
    """The secret of this run that the digests are keyed with."""

    value = secrets.token_bytes(32)


def new_key() -> bytes:
    """A fresh random key for `configure`; the parent process makes one for a run."""
    return secrets.token_bytes(32)


def configure(key: bytes) -> None:
    """Sets the key of this process. All processes of one run use the same, so that placeholders agree.

    Args:
        key: 16 to 64 random bytes, see `new_key`. It is never written anywhere.

    Raises:
        ValueError: the key is too short or too long.
    """
    if not 16 <= len(key) <= 64:
        raise ValueError("the key for placeholders has 16 to 64 bytes")
    _Key.value = key


def placeholder(kind: str, value: str | bytes, *, length: bool = False) -> str:
    """What stands for `value`: `[masked:KIND:DIGEST]`, with `length` also how many bytes it has."""
    raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    digest = blake2b(raw, key=_Key.value, digest_size=_DIGITS // 2).hexdigest()
    return f"[masked:{kind}:{digest}:{len(raw)} bytes]" if length else f"[masked:{kind}:{digest}]"


def is_masked(text: str) -> bool:
    """Is the whole text a placeholder of ours, or the mark that another tool left for something hidden."""
    return len(text) <= 400 and bool(_PLACEHOLDER.fullmatch(text) or _MARK.fullmatch(text))
