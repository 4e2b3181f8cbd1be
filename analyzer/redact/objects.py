"""Masking in Kubernetes objects and other JSON values.

Most objects hold no secret, so that the check whether there can be one matters more for speed than the masking.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

import orjson

from analyzer.redact import ray
from analyzer.redact.names import is_harmless, judge
from analyzer.redact.packed import encoded_text, mask_data_url, mask_packed, only_certificates
from analyzer.redact.placeholder import is_masked, placeholder
from analyzer.redact.shapes import decode_base64, is_command, mask_option
from analyzer.redact.signs import all_needles, needles
from analyzer.redact.text import mask_text

_MAX_JSON_DEPTH = 4
"""How many levels of JSON in strings of JSON are taken apart; deeper ones are masked as text."""

_HASHES = "operator.openshift.io/dep-"
"""Annotations of OpenShift's operators: hashes of the Secrets and ConfigMaps that a workload uses."""

_APPLIED = ("last-applied", "cattle.io/applied", "kapp.k14s.io/original")
_CERTIFICATES = (".crt", ".pem", "ca-bundle", "ca.cert")
_INLINE = ("value", "inline", "plain", "plaintext", "plainText", "data", "inlineString")
_SECRET_FIELDS = ("data", "stringData")
_SECRETS = frozenset(("secret", "secretlist", "sealedsecret"))
"""Kinds, in lower case, whose values are secrets whatever they are called; manifests written by hand may have odd letters."""
_OF_RAY = {"serveConfigV2": ray.mask_serve_config, "entrypoint": ray.mask_entrypoint}
_REDIS_USERS = ("redisUsername", "redis-username")
_SIZE_MARK = re.compile(rb"\d{1,12} bytes long")


def mask_object(value: dict[str, Any]) -> dict[str, Any]:
    """Masks the secrets of a Kubernetes object, in place; returns the same object.

    Fast where there is nothing to mask: the object's JSON is looked through for signs of a secret first, and only an
    object that has some is walked.
    """
    try:
        raw = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
        found = needles(raw)
        of_ray = any(mark in raw for mark in ray.MARKS)
    except (TypeError, ValueError, RecursionError):
        found, of_ray = all_needles(), True
    if found or of_ray or _kind(value) in _SECRETS:
        _walk(value, found, 0)
    return value


def mask_document(value: Any, role: str = "") -> Any:
    """Masks a document that is no Kubernetes object; lists and mappings in place.

    Args:
        value: any JSON value.
        role: what the document is (schema, table documents). In a `secret` (troubleshoot's collector of Secrets) the
            value itself is masked whatever its key is called.
    """
    if isinstance(value, str):
        return _mask_string(value, 0)
    if role == "secret" and isinstance(value, dict):
        _mask_each(value, "secret", value.keys() & {"value", "data"})
    if isinstance(value, dict | list):
        _walk(value, all_needles(), 0)
    return value


def _dump(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, RecursionError):
        pass
    try:
        text = json.dumps(value, default=str, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError("cannot be written as JSON: nested too deep") from error
    return text.encode("utf-8", "replace")


@lru_cache(maxsize=1 << 15)
def _judge_key(key: str) -> str:
    """The kind of secret that a key announces; annotations that repeat the whole object count as one."""
    if any(part in key for part in _APPLIED):
        return "last-applied"
    if key in _REDIS_USERS:
        return "password"
    return "" if key.startswith(_HASHES) else judge(key)


def _kind(node: dict[str, Any]) -> str:
    """The kind in lower case, empty where there is none."""
    kind = node.get("kind")
    return kind.lower() if isinstance(kind, str) else ""


def _walk(root: Any, wanted: Collection[str], depth: int) -> bool:
    """Masks in place all strings below `root` that hold one of `wanted` or whose key says so; True where any was."""
    stack: list[Any] = [root]
    changed = False
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            changed |= _walk_list(node, wanted, depth, stack)
            continue
        changed |= _special(node)
        done = _SECRET_FIELDS if _kind(node) == "secret" else ()
        for key, value in node.items():
            if key in done:
                continue
            kind = _judge_key(key) if isinstance(key, str) else ""
            if isinstance(value, str):
                new = _OF_RAY[key](value) if key in _OF_RAY else _masked_value(kind, value, wanted, depth)
                if new is not value:
                    node[key] = new
                    changed = True
            elif isinstance(value, dict | list):
                new = _masked_container(kind, value)
                if new is not value:
                    node[key] = new
                    changed = True
                else:
                    stack.append(value)
            elif kind == "password" and isinstance(value, int | float) and not isinstance(value, bool):
                node[key] = placeholder(kind, str(value))
                changed = True
    return changed


def _walk_list(node: list[Any], wanted: Collection[str], depth: int, stack: list[Any]) -> bool:
    """The items of a list; strings may be arguments of a command, where the value can follow its flag."""
    changed = False
    kind = command = before = ""
    for index, item in enumerate(node):
        if isinstance(item, str):
            if command and (short := mask_option(command, before, item)) != item:
                new = short
            elif kind and not item.startswith("-"):
                new = _masked_value(kind, item, wanted, depth)
            else:
                new = _masked_argument(item, wanted, depth)
            two = f"{before} {item[:200]}"
            command, before = two if is_command(two) else item if is_command(item[:200]) else command, item[:200]
            kind = judge(item) if item.startswith("-") and "=" not in item and len(item) < 160 and " " not in item else ""
            if new is not item:
                node[index] = new
                changed = True
        else:
            kind = ""
            if isinstance(item, dict | list):
                stack.append(item)
    return changed


def _masked_argument(item: str, wanted: Collection[str], depth: int) -> str:
    """An argument; in `--name=value` all of the rest is the value."""
    if "=" in item[:200]:
        name, _, value = item.partition("=")
        kind = judge(name) if not re.search(r"[\s\"'{:]", name) else ""
        if kind and kind not in {"auth", "cookie"}:
            return f"{name}={_masked_value(kind, value, wanted, depth)}"
    return _masked_value("", item, wanted, depth)


def _masked_value(kind: str, value: str, wanted: Collection[str], depth: int) -> str:
    """The string to put in place of `value`, whose name announces `kind`; the very same object where nothing is masked."""
    if kind and value and not is_harmless(kind, value):
        if kind == "auth":
            pair = decode_base64(value[:8192])
            if pair is not None and b":" in pair:
                return placeholder("password", value)
        elif kind != "last-applied" or not is_masked(value):
            return placeholder("secret" if kind == "named" else kind, value)
    low = value.lower()
    for needle in wanted:
        if needle in low:
            new = _mask_string(value, depth)
            return value if new == value else new
    return value


def _masked_container(kind: str, value: dict[str, Any] | list[Any]) -> Any:
    """What to put in place of a list or mapping whose key announces `kind`: itself unless it is a secret as a whole."""
    if kind == "runtime-env" and value:
        return placeholder(kind, _dump(value))
    if kind and kind not in {"auth", "cookie", "last-applied"}:
        label = "secret" if kind == "named" else kind
        if isinstance(value, list):
            if value and all(isinstance(item, str) for item in value) and not all(is_harmless(kind, item) for item in value):
                return [item if is_harmless(kind, item) else placeholder(label, item) for item in value]
        elif kind != "named":
            for key in _INLINE:
                inner = value.get(key)
                if isinstance(inner, str) and not is_harmless(kind, inner):
                    return value | {key: placeholder(label, inner)}
    return value


def _special(node: dict[str, Any]) -> bool:
    """What depends on more than one key of a mapping: Secrets, pairs of name and value, docker configs, binary data."""
    changed = _mask_by_kind(node)
    value = node.get("value")
    if isinstance(value, str):
        name = node.get("name") or node.get("key") or node.get("Name")
        announced = judge(name) if isinstance(name, str) else ""
        if announced and announced not in {"auth", "cookie"} and not is_harmless(announced, value):
            node["value"] = placeholder("secret" if announced == "named" else announced, value)
            changed = True
    auths = node.get("auths")
    if isinstance(auths, dict):
        for entry in auths.values():
            if isinstance(entry, dict):
                changed |= _mask_each(entry, "password", entry.keys() - {"email"})
    binary = node.get("binaryData")
    if isinstance(binary, dict):
        for key, packed in binary.items():
            if isinstance(packed, str) and (new := mask_packed(str(key), packed, _mask_file)) != packed:
                binary[key] = new
                changed = True
    return changed


def _mask_each(node: dict[str, Any], kind: str, keys: Collection[str]) -> bool:
    """Masks the strings under these keys."""
    changed = False
    for key in keys:
        value = node[key]
        if isinstance(value, str) and value and not is_masked(value):
            node[key] = placeholder(kind, value)
            changed = True
        elif isinstance(value, dict | list) and value:
            node[key] = placeholder(kind, _dump(value))
            changed = True
    return changed


def _mask_by_kind(node: dict[str, Any]) -> bool:
    """What is a secret because of the kind of its object."""
    kind = _kind(node)
    if kind == "secret":
        return _mask_secret(node)
    if kind == "sealedsecret":
        spec = node.get("spec")
        template = spec.get("template") if isinstance(spec, dict) else None
        # What is not sealed: it becomes data of the Secret beside what was.
        return _mask_secret(template) if isinstance(template, dict) else False
    items = node.get("items") if kind == "secretlist" else None
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            item.setdefault("kind", "Secret")
    return False


def _mask_secret(secret: dict[str, Any]) -> bool:
    """The values of a Secret; keys stay, certificates stay, and so does what `oc adm inspect` hid already."""
    changed = False
    for field in _SECRET_FIELDS:
        data = secret.get(field)
        if data is None or data in ("", {}, []):
            continue
        if not isinstance(data, dict):
            if not (isinstance(data, str) and is_masked(data)):
                secret[field] = placeholder("secret", _dump(data), length=True)
                changed = True
            continue
        for key, value in data.items():
            new = _masked_secret_value(str(key), value, encoded=field == "data")
            if new is not value:
                data[key] = new
                changed = True
    return changed


def _masked_secret_value(key: str, value: Any, *, encoded: bool) -> Any:
    if value is None or value == "" or (isinstance(value, str) and is_masked(value)):
        return value
    text = value if isinstance(value, str) else str(value)
    plain = decode_base64("".join(text.split())) if encoded else None
    raw = plain if plain is not None else text.encode("utf-8", "surrogatepass")
    if _SIZE_MARK.fullmatch(raw) or (key.endswith(_CERTIFICATES) and only_certificates(raw)):
        return value
    return placeholder("secret", raw, length=True)


def _mask_string(text: str, depth: int) -> str:
    """A string of an object: JSON in it is taken apart, data URLs are opened, all else is text."""
    head = text.lstrip()[:5]
    if head[:1] in {"{", "["} and depth < _MAX_JSON_DEPTH:
        try:
            inner = orjson.loads(text)
        except orjson.JSONDecodeError:
            inner = None
        if isinstance(inner, dict | list):
            if not _walk(inner, all_needles(), depth + 1):
                return text
            return _dump_inner(inner, indent="\n" in text)
    if head == "data:":
        return mask_data_url(text, _mask_file)
    if depth < _MAX_JSON_DEPTH and (told := encoded_text(text)) is not None:
        return text if _mask_string(told, depth + 1) == told else mask_packed("", text, _mask_file)
    return mask_text(text)


def _mask_file(text: str) -> str:
    """The content of a packed file."""
    return _mask_string(text, _MAX_JSON_DEPTH - 1)


def _dump_inner(inner: Any, *, indent: bool) -> str:
    try:
        return orjson.dumps(inner, option=orjson.OPT_INDENT_2 if indent else 0).decode()
    except (TypeError, RecursionError):
        return _dump(inner).decode("utf-8", "replace")
