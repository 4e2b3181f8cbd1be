"""Which names announce a secret: of fields, environment variables, flags, keys of a ConfigMap, headers.

A name is judged by its words (`DB_PASSWORD`, `dbPassword`, `--db-password` have the same), the last one first:
`tokenSecretRef` is a reference and `max_tokens` a number, while `HF_TOKEN` is a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from analyzer.redact.placeholder import is_masked

_MAX_NAME = 160
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TAIL = _set("value b64 base64 b tok txt base plain plaintext raw text")
_PASSWORDS = _set(
    """
    password passwd passphrase passcode passwords pwd passwds htpasswd requirepass masterauth bindpw
    pgpass dbpass mysqlpass smtppass ldappass rootpass adminpass keypass storepass dbpw rootpw adminpw
    """
)
_TOKENS_OF = _set("api auth access bearer refresh admin user static bot secret bootstrap csrf")
_NO_TOKEN = _set(
    """
    max min num number count eos bos pad unk stop mask sep cls special image video audio batched new per total limit
    next continue continuation page cont first last prompt input output draft end start begin delimiter think
    reasoning tool vocab invalid expired missing unexpected
    """
)
SECRET_OF = _set("client app application shared session cookie jwt hmac oauth oauth2 consumer api access")
KEY_OF = _set(
    """
    api access private secret signing sign encryption encrypt account storage shared preshared activation ssh
    master session client admin
    deploy license auth authentication subscription service hmac aes rsa jwt decryption unseal recovery ssl sas app
    webhook ingest integration wandb openai anthropic hf huggingface ngc mistral cohere groq pinecone neptune comet
    datadog newrelic langsmith
    """
)
_JOINED = _set("api access private secret signing encryption account auth master shared preshared activation")
_JOINED_KEY = tuple(f"{word}key" for word in sorted(_JOINED))
_CREDENTIALS = _set("credential credentials creds cred")
_SPECIAL = {
    "dsn": "connection",
    "connstr": "connection",
    "connectionstring": "connection",
    "connection string": "connection",
    "connection str": "connection",
    "conn string": "connection",
    "conn str": "connection",
    "authorization": "authorization",
    "proxy authorization": "authorization",
    "cookie": "cookie",
    "set cookie": "cookie",
    "auth": "auth",
    "secret access": "secret",
    "erlang cookie": "secret",
    "pass": "pass",
    "dockerconfigjson": "docker-config",
    "dockercfg": "docker-config",
}
"""Last words (two, or the only one) that are a kind of their own."""

_SCALAR = _set("true false null none nil <nil> yes no on off enabled disabled unset undefined string boolean required optional")
_REFERENCE = re.compile(r"\$\([A-Za-z_][\w.-]{0,100}\)|\$\{[^{}]{1,100}\}|\$[A-Z_][A-Z0-9_]{0,100}|\{\{.{1,200}\}\}", re.DOTALL)
_PATH = re.compile(
    r"(?:file://)?/(?:var|etc|run|tmp|opt|mnt|usr|home|root|secrets?|data|configs?|vault|certs?|credentials|keys|srv|app|dev|tls|proc|host|token|tokens|ssl|certificates)"
    r"(?:/[\w.@+-]{1,100}){0,30}/?"
)
_DNS_NAME = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_MADE = re.compile(r"(?=.{0,300}\d)(?=.{0,300}[A-Za-z])[A-Za-z0-9_-]{16,300}")
"""What a personal access token looks like; `pat` may also be a pattern."""
_POINTER = re.compile(r"0x[0-9a-f]{1,16}")
_PUBLIC = ("ssh-", "ecdsa-", "-----BEGIN PUBLIC KEY", "-----BEGIN CERTIFICATE")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_URL_ONLY = re.compile(r"[a-z][a-z0-9+.-]{1,20}://\S{1,2000}")


def words(name: str) -> list[str]:
    """The words of a name in lower case: `dbPassword`, `DB_PASSWORD` → `db`, `password`."""
    return [word.lower() for word in _WORD.findall(name[-_MAX_NAME:])]


def _password(parts: list[str]) -> bool:
    last = parts[-1]
    if last == "hash" and len(parts) > 1:
        return _password(parts[:-1]) and parts[-2] not in {"pwd", "pw", "pass"}
    if last in {"pwd", "pw", "pass"}:
        return len(parts) > 1 and parts[-2] not in {"old", "first", "second"}
    if last == "auth":
        return len(parts) > 1 and parts[-2] in {"basic", "redis", "rediscli"}
    return last in _PASSWORDS or last.endswith(("password", "passwd", "passphrase"))


def _token(parts: list[str]) -> bool:
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last == "tokens":
        return before in _TOKENS_OF
    return last.endswith("token") and before not in _NO_TOKEN


def _key(parts: list[str]) -> bool:
    if parts[-1] in {"id", "data"} and len(parts) > 2:
        parts = parts[:-1] if parts[-1] == "data" or parts[-3] == "access" else parts
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last in {"key", "keys"}:
        return before in KEY_OF
    return last.endswith(_JOINED_KEY) or last in {"accesskeyid", "clientkeydata"}


def _plain_word(parts: list[str]) -> str:
    """The kind for names that are one special word or pair."""
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last in {"secret", "secrets"} or last.endswith("secret"):
        return "secret" if before in SECRET_OF or last.removesuffix("secret") in SECRET_OF else "named"
    if last in _CREDENTIALS:
        return "named"
    if last == "pat" and before:
        return "pat"
    pair = _SPECIAL.get(f"{before} {last}", "")
    alone = _SPECIAL.get(last, "")
    return pair or (alone if len(parts) == 1 or alone in {"connection", "docker-config"} else "")


@lru_cache(maxsize=1 << 15)
def judge(name: str) -> str:
    """The kind of secret that a name announces, or an empty string where it announces none.

    `named` is for names such as `pullSecret`, whose value is often the name of a Secret; `auth` and `cookie` need a
    value that looks the part, as does a mere `pass`, which a test may say too,
    and a `pat`, which may be a pattern and no personal access token. See `is_harmless`.
    """
    parts = words(name)
    for first, second in pairwise(parts):
        if first == "runtime" and second == "env":
            return "runtime-env"
    while parts and (parts[-1] in _TAIL or parts[-1].isdigit()):
        parts.pop()
    if not parts:
        return ""
    if "runtimeenv" in parts[-1]:
        return "runtime-env"
    if _password(parts):
        return "password"
    if _token(parts):
        return "token"
    return "key" if _key(parts) else _plain_word(parts)


def is_object_name(value: str) -> bool:
    """Could the value be the name of a Kubernetes object, with or without its namespace (`ns/name`)."""
    return bool(
        len(value) <= 520
        and ("-" in value or "/" in value or "." in value)
        and _DNS_NAME.fullmatch(value)
        and not _UUID.fullmatch(value)
    )


_HARMLESS: dict[str, Callable[[str], bool]] = {
    "password": lambda _: False,
    "pass": lambda value: value.replace("/", "").isdigit() or value.isalpha() or bool(_PATH.fullmatch(value)) or " " in value,
    "runtime-env": lambda value: value == "{}",
    "token": lambda value: (value.isdigit() and len(value) <= 8) or bool(_PATH.fullmatch(value)),
    "pat": lambda value: not _MADE.fullmatch(value),
    "named": lambda value: value.isdigit() or bool(_PATH.fullmatch(value)) or all(map(is_object_name, value.split(","))),
    "connection": lambda value: bool(_URL_ONLY.fullmatch(value)),
    "key": lambda value: value.startswith(_PUBLIC) or bool(_PATH.fullmatch(value)),
    "cookie": lambda value: "=" not in value,
}


def is_harmless(kind: str, value: str) -> bool:
    """True where a value is none that the name (of that kind) would announce: empty, a flag, a reference, a path."""
    bare = value.strip()
    if len(bare) > 4096:
        return False
    if not bare or is_masked(bare) or bare.lower() in _SCALAR or _REFERENCE.fullmatch(bare) or _POINTER.fullmatch(bare):
        return True
    return _HARMLESS[kind](bare) if kind in _HARMLESS else bool(_PATH.fullmatch(bare))
