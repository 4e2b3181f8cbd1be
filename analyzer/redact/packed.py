"""Values that hold a file in packed form: base64 of a ConfigMap's binaryData, data URLs of Ignition, certificates of a Secret."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable
from urllib.parse import quote, unquote_to_bytes

from analyzer.redact.placeholder import is_masked, placeholder
from analyzer.redact.shapes import decode_base64

_MAX_UNPACKED = 4 << 20
"""How many bytes of an unpacked file are looked at; a longer one is masked whole, since nobody looked at the rest."""

_MIN_ENCODED = 16
"""A shorter value is a word."""

_ENCODED = re.compile(r"[A-Za-z0-9+/_\s-]{16,}={0,2}\s*")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_KEYSTORES = (".jks", ".p12", ".pfx", ".keystore", ".key", ".keytab", ".kdbx", ".gpg")
_BEGIN, _END = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"


def only_certificates(raw: bytes) -> bool:
    """Is this PEM text with certificates and nothing else."""
    at = 0
    while True:
        begin = raw.find(_BEGIN, at)
        if begin < 0:
            return at > 0 and not raw[at:].strip()
        end = raw.find(_END, begin)
        if end < 0 or raw[at:begin].strip() or not _is_base64(raw[begin + len(_BEGIN) : end]):
            return False
        at = end + len(_END)


def _is_base64(raw: bytes) -> bool:
    try:
        base64.b64decode(b"".join(raw.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def encoded_text(value: str) -> str | None:
    """The text that a value is base64 of as a whole; None where it is none."""
    if len(value) < _MIN_ENCODED or not _ENCODED.fullmatch(value, 0, _MAX_UNPACKED):
        return None
    raw = decode_base64("".join(value.split()))
    try:
        text = raw.decode("utf-8") if raw is not None else ""
    except UnicodeDecodeError:
        return None
    return text if text and (text.isprintable() or not _CONTROL.search(text)) else None


def _masked_file(raw: bytes, mask: Callable[[str], str]) -> bytes | None:
    """The file with its secrets masked; None where that cannot be done (it is no text, or too long) and it may hold some."""
    packed = raw[:2] == b"\x1f\x8b"
    plain = raw
    if packed:
        unpack = zlib.decompressobj(wbits=31)
        try:
            plain = unpack.decompress(raw, _MAX_UNPACKED)
        except zlib.error:
            return None
        if unpack.unconsumed_tail:
            return None
    if len(plain) > _MAX_UNPACKED:
        return None
    text = plain.decode("utf-8", "replace")
    masked = mask(text)
    if masked == text:
        return raw
    return None if packed or "\ufffd" in text else masked.encode("utf-8", "replace")


def mask_packed(name: str, packed: str, mask: Callable[[str], str]) -> str:
    """A base64 value under that name, the file in it masked by `mask`; a placeholder where it can't be looked into."""
    if not packed or is_masked(packed):
        return packed
    raw = decode_base64("".join(packed.split()))
    if raw is None or name.lower().endswith(_KEYSTORES):
        return placeholder("file", packed if raw is None else raw, length=True)
    masked = _masked_file(raw, mask)
    if masked is raw:
        return packed
    return placeholder("file", raw, length=True) if masked is None else base64.b64encode(masked).decode()


def mask_data_url(url: str, mask: Callable[[str], str]) -> str:
    """A `data:` URL (Ignition's files), the file in it masked by `mask`; a placeholder where it can't be looked into."""
    head, comma, body = url.partition(",")
    if not comma or len(head) > 200:
        return "data:" + mask(url.removeprefix("data:"))
    if is_masked(body):
        return url
    encoded = head.endswith(";base64")
    raw = decode_base64("".join(body.split())) if encoded else unquote_to_bytes(body)
    masked = None if raw is None else _masked_file(raw, mask)
    if raw is not None and masked is raw:
        return url
    if masked is None:
        return f"{head},{placeholder('file', body if raw is None else raw, length=True)}"
    return f"{head},{base64.b64encode(masked).decode() if encoded else quote(masked)}"
