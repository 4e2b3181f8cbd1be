"""Is there any sign of a secret in these bytes: one pass over the JSON of an object, so that most need no closer look.

The signs are a superset of what `names` and `shapes` act on; phrases that every cluster is full of (`serviceAccountToken`
volumes, `secretName`) are known to be harmless and hide the sign inside them.
"""

from __future__ import annotations

import re
from functools import cache

from ahocorasick_rs import BytesAhoCorasick, MatchKind

from analyzer.redact.names import KEY_OF
from analyzer.redact.shapes import CLOUD_LITERALS

_WORDS = {
    "pass": "pass", "pwd": "pwd", "secret": "secret", "token": "token", "cred": "cred", "authorization": "auth", "_auth": "auth",
    '"auth': "auth", 'auth"': "auth", "auth:": "auth", "auth\\": "auth", "auth=": "auth", "basicauth": "auth",
    "basic-auth": "auth",
    "cookie": "cookie", "bearer": "bearer", "basic ": "basic", "eyj": "eyj", "dsn": "dsn", "dockerc": "dockerc", "curl ": "curl",
    "wget ": "wget", "mysql": "mysql", "mariadb": "mariadb", "redis-cli": "redis", "@tcp(": "@tcp(", "@unix(": "@unix(",
    "last-applied": "last", "cattle.io/applied": "applied", "kapp.k14s.io/original": "original", '"data:': "data:",
    '"binarydata"': "", "age-secret-key": "age-secret",
}  # fmt: skip
"""A sign in the lower-case JSON of an object → what a string in it must hold, in lower case, to be looked at closely."""

_HARMLESS = (
    '"secretname":', '"secretref":{', '"secretkeyref":{', '"serviceaccounttoken":{', '"imagepullsecrets":[', '"secret":{',
    '"secrets":[{', '"automountserviceaccounttoken":', '"tokenexpirationseconds":', "/var/run/secrets/", '"clientsecret":{',
    '"credentials":{', '"tokensecretref":{', '"pullsecret":{', "authorization.k8s.io", "authorization.openshift.io",
    '"tokenreviews"', '"secrets"', '"passthrough"', "bypass", "authorization-mode", "compass", "passive", "tokenizer",
    "secretkeyref", "secretnamespace", '"credentialsrequest"', "tokenrequest",
)  # fmt: skip

_URL = re.compile(rb"://[^\"\s]*[@?#]")


def _forms(first: str, second: str) -> tuple[str, ...]:
    return (f"{first}{second}", f"{first}_{second}", f"{first}-{second}", f"{first}.{second}", f"{first} {second}")


@cache
def _automaton() -> tuple[BytesAhoCorasick, tuple[str | None, ...]]:
    """The automaton over all signs, and for each what to look for in strings (None where it is harmless)."""
    table: dict[str, str | None] = dict(_WORDS)
    for word in KEY_OF:
        table.update(dict.fromkeys(_forms(word, "key"), "key"))
    table.update(dict.fromkeys(_forms("runtime", "env"), "runtime"))
    table.update(dict.fromkeys((*_forms("conn", "str"), *_forms("connection", "str")), "conn"))
    table.update({literal.lower(): literal.lower() for literal in CLOUD_LITERALS})
    table.update(dict.fromkeys(_HARMLESS))
    automaton = BytesAhoCorasick([sign.encode() for sign in table], MatchKind.LeftmostLongest)
    return automaton, tuple(table.values())


@cache
def all_needles() -> frozenset[str]:
    """Everything that a string may hold to be looked at closely."""
    return frozenset(needle for needle in _automaton()[1] if needle is not None) | {"://"}


def needles(dumped: bytes) -> frozenset[str]:
    """What the strings of an object must hold to be looked at closely; empty where the object shows no sign at all.

    Args:
        dumped: the object as JSON, UTF-8, without needless escapes.
    """
    automaton, meanings = _automaton()
    found = {meanings[sign] for sign, _, _ in automaton.find_matches_as_indexes(dumped.lower())}
    if _URL.search(dumped):
        found.add("://")
    return frozenset(needle for needle in found if needle is not None)
