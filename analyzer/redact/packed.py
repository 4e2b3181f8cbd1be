"""Values that hold a file in packed form: base64 of a ConfigMap's binaryData, data URLs of Ignition, certificates of a Secret."""

from __future__ import annotations

import base64
import binascii
import zlib
from urllib.parse import unquote_to_bytes

from analyzer.redact.placeholder import is_masked, placeholder
from analyzer.redact.shapes import decode_base64
from analyzer.redact.text import mask_text

_MAX_UNPACKED = 4 << 20
"""How many bytes of an unpacked file are looked at; a longer one is masked whole, since nobody looked at the rest."""

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


def _has_secret(raw: bytes) -> bool:
    """Does this file, perhaps gzip, hold anything that would be masked in text."""
    if raw[:2] == b"\x1f\x8b":
        unpack = zlib.decompressobj(wbits=31)
        try:
            raw = unpack.decompress(raw, _MAX_UNPACKED)
        except zlib.error:
            return True
        if unpack.unconsumed_tail:
            return True
    if len(raw) > _MAX_UNPACKED:
        return True
    text = raw.decode("utf-8", "replace")
    return mask_text(text) != text


def mask_packed(name: str, packed: str) -> str:
    """A base64 value under that name: itself, or a placeholder where its content has a secret or can't be looked at."""
    if not packed or is_masked(packed):
        return packed
    raw = decode_base64("".join(packed.split()))
    if raw is None or name.lower().endswith(_KEYSTORES) or _has_secret(raw):
        return placeholder("file", packed if raw is None else raw, length=True)
    return packed


def mask_data_url(url: str) -> str:
    """A `data:` URL (Ignition's files): itself, or a placeholder where its content has a secret."""
    head, comma, body = url.partition(",")
    if not comma or len(head) > 200:
        return mask_text(url)
    raw = decode_base64("".join(body.split())) if head.endswith(";base64") else unquote_to_bytes(body)
    if raw is None or _has_secret(raw):
        return f"{head},{placeholder('file', body if raw is None else raw, length=True)}"
    return url
