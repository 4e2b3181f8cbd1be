"""Is there any sign of a secret in these bytes: one pass over the JSON of an object, so that most need no closer look.

The signs are a superset of what `names` and `shapes` act on; phrases that every cluster is full of (`serviceAccountToken`
volumes, `secretName`) are known to be harmless and hide the sign inside them.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from functools import cache

from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from analyzer.redact.names import KEY_OF
from analyzer.redact.shapes import CLOUD_LITERALS

_WORDS = {
    **dict.fromkeys(("pass", "secret", "token", "cred", "cookie", "bearer", "mysql", "mariadb", "@tcp(", "@unix("), ""),
    **dict.fromkeys(('pwd"', "pwd=", "pwd:", "pwd\\", "pwd_", "pwd-", "pwd.", "pwd "), "pwd"),
    **dict.fromkeys(('_pw"', "_pw=", "_pw:", '-pw"', "-pw=", '"pw"'), ""),
    **dict.fromkeys(('_pat"', "_pat=", "_pat:", '-pat"', "-pat="), ""),
    **dict.fromkeys((":5432:", ":5433:", ":6432:"), ""),
    **dict.fromkeys(('dsn"', "dsn=", "dsn:", "dsn\\", "dsn_", "dsn-"), "dsn"),
    **dict.fromkeys(("authorization", 'auth"', "auth:", "auth=", "auth\\", "basicauth", "basic_auth", "basic-auth"), "auth"),
    **dict.fromkeys((".dockerc", '"dockerc'), "dockerc"),
    **dict.fromkeys(("_key", "-key", ".key", " key"), "key"),
    **dict.fromkeys(
        ("connstr", "conn_str", "conn-str", "connectionstr", "connection_str", "connection-str", "connection str"), "conn"
    ),
    **dict.fromkeys(("runtimeenv", "runtime_env", "runtime-env"), "runtime"),
    "basic ": "basic",
    **dict.fromkeys(("curl ", 'curl"'), "curl"),
    **dict.fromkeys(("wget ", 'wget"'), "wget"),
    "redis-cli": "redis",
    **dict.fromkeys(("mongo", "ldap", "ipmitool", "alias set", "from-literal", "-stdin", "bindpw", "masterauth"), ""),
    **dict.fromkeys(("sig=", "signature=", "?key=", "&key="), ""),
    " login ": "login",
    '"login"': "login",
    "age-secret-key": "age-secret",
    "last-applied": "last",
    "cattle.io/applied": "applied",
    "kapp.k14s.io/original": "original",
    '"data:': "data:",
}
"""A sign in the lower-case JSON of an object → what a string in it must hold, in lower case, to be looked at closely.

Where that is empty it is the sign itself.
"""

_BINARY = '"binarydata":{'

_ENCODED_WORDS = ("passw", "secret", "token", "api_key", "apikey", "access_key", "private key", "credential")


def _encoded_signs(word: str) -> Iterator[str]:
    """What base64 of a text with that word has in it, wherever the word stands, in lower case as the signs are."""
    for form in {word, word.upper(), word.capitalize()}:
        for shift in range(3):
            coded = base64.b64encode(b" " * shift + form.encode()).decode().rstrip("=")
            # The first and last characters hold bits of what stands beside the word.
            begin = (0, 2, 3)[shift]
            end = (8 * (shift + len(form))) // 6
            yield coded[begin:end].lower()


_HARMLESS = (
    '"secretname":',
    '"secretref":{',
    '"secretkeyref":{',
    '"serviceaccounttoken":{',
    '"path":"token"',
    '"imagepullsecrets":[',
    '"secret":{',
    '"secrets":[{',
    '"secrets"',
    '"automountserviceaccounttoken":',
    '"tokenexpirationseconds":',
    '"tokensecretref":{',
    '"pullsecret":{',
    '"passthrough"',
    "/secrets/",
    "-secret-name",
    "-secret-hash",
    "-key-file",
    "tls.key",
    "authorization.k8s.io",
    "authorization.openshift.io",
    "authorization-mode",
    "authorization-server",
    "bypass",
    "tokenizer",
    "secretkeyref",
    "signing-certs",
    *(f"{word}sk-" for word in ("di", "ta", "ma", "ri")),
)
"""Phrases that hold a sign and are no trouble: each ends before anything that could be a value, and names no secret."""

_URL = re.compile(rb"://[^\"\s]*[@?#]")


@cache
def _automaton() -> tuple[BytesAhoCorasick, tuple[str | None, ...]]:
    """The automaton over all signs, and for each what to look for in strings (None where it is harmless)."""
    table: dict[str, str | None] = {sign: needle or sign for sign, needle in _WORDS.items()}
    table[_BINARY] = ""
    table.update({sign: sign for word in _ENCODED_WORDS for sign in _encoded_signs(word)})
    table.update({f"{word}key": "key" for word in KEY_OF})
    table.update({literal.lower(): literal.lower() for literal in CLOUD_LITERALS})
    table.update(dict.fromkeys(_HARMLESS))
    automaton = BytesAhoCorasick([sign.encode() for sign in table], MatchKind.LeftmostLongest, Implementation.DFA)
    return automaton, tuple(table.values())


@cache
def all_needles() -> frozenset[str]:
    """Everything that a string may hold to be looked at closely."""
    return frozenset(needle for needle in _automaton()[1] if needle is not None) | {"://", "eyj"}


def needles(dumped: bytes) -> frozenset[str]:
    """What the strings of an object must hold to be looked at closely; empty where the object shows no sign at all.

    Args:
        dumped: the object as JSON, UTF-8, without needless escapes.
    """
    automaton, meanings = _automaton()
    found = {meanings[sign] for sign, _, _ in automaton.find_matches_as_indexes(dumped.lower())}
    if _URL.search(dumped):
        found.add("://")
    if b"eyJ" in dumped:
        found.add("eyj")
    return frozenset(needle for needle in found if needle is not None)
