"""Why an image cannot be pulled: the registry's and the runtime's words sorted into causes."""

from __future__ import annotations

import re

PULL_REASONS = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "ErrImagePullBackOff",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
"""Reasons of a waiting container for which its image is the trouble (kubelet, pkg/kubelet/images)."""

WORDS = {
    "not-found": "the registry has no such image or tag",
    "auth": "the registry denies access: it wants another login, or has no such repository",
    "tls": "the registry's certificate or TLS is not accepted",
    "network": "the registry cannot be reached from the node",
    "rate-limit": "the registry limits how often this address or account may pull",
    "platform": "the image does not exist for this node's architecture",
    "disk": "the node's disk is full",
    "invalid-name": "the image name is malformed",
    "signature": "the node's policy rejects the image's signature",
    "never-pull": "imagePullPolicy is Never and the node does not have the image",
    "other": "the registry or the node gives another reason",
    "unknown": "nothing in the bundle says why",
}

_BY_REASON = {
    "InvalidImageName": "invalid-name",
    "ErrImageNeverPull": "never-pull",
    "SignatureValidationFailed": "signature",
    "RegistryUnavailable": "network",
}

# The order decides: the more telling words first. A "connection refused" is the network even where "not found" is near.
_CAUSES = tuple(
    (cause, re.compile(pattern, re.IGNORECASE))
    for cause, pattern in (
        ("rate-limit", r"toomanyrequests|rate limit|too many requests|\b429\b"),
        ("platform", r"no matching manifest|no match for platform|no image found in (image index|manifest list)|exec format"),
        ("disk", r"no space left on device|disk quota exceeded"),
        ("signature", r"signature|rejected by policy|signature[- ]?validation"),
        ("network", r"TLS handshake timeout"),
        ("tls", r"x509|\btls:|certificate|HTTP response to HTTPS client"),
        (
            "auth",
            (
                r"unauthorized|authentication required|no basic auth|authorization failed|failed to authorize|insufficient_scope"
                r"|not authorized|access denied|\bdenied\b|forbidden|\b40[13]\b|invalid username/password"
            ),
        ),
        (
            "network",
            (
                r"i/o timeout|no such host|connection refused|connection reset|network is unreachable|no route to host"
                r"|deadline exceeded|client\.timeout|name resolution|server misbehaving|proxyconnect|\bdial tcp\b"
                r"|service unavailable|bad gateway|gateway time-?out|\b50[0234]\b|unexpected eof|: eof\b"
                r"|pinging container registry"
            ),
        ),
        ("not-found", r"not[ _]?found|manifest unknown|name unknown|does not exist|repository name not known|\b404\b"),
        ("invalid-name", r"invalid reference format|couldn't parse image|failed to apply default image tag"),
    )
)


def pull_cause(reason: str | None, message: str | None, image: str = "") -> str:
    """The cause of a failed pull, a key of `WORDS`; `other` where the words say nothing known.

    Args:
        reason: the waiting reason, one of `PULL_REASONS`.
        message: the message of the status or of the event.
        image: the image's name, which is taken out of the message first: names may hold any word.
    """
    if reason in _BY_REASON:
        return _BY_REASON[reason]
    words = (message or "")[:8_000]
    if image:
        words = words.replace(image, " ").replace(image.partition(":")[0], " ")
    for cause, pattern in _CAUSES:
        if pattern.search(words):
            return cause
    return "other"


def says_why(message: str | None, image: str = "") -> bool:
    """False for a message that only says that the kubelet waits before it tries again."""
    return bool(message) and pull_cause(None, message, image) != "other"
