"""What of Ray's objects may hold secrets in ways of its own: the Serve config and the entrypoint of a job.

A Serve config (`serveConfigV2`) is YAML in a string; every value below `env_vars`, and every value whose key looks like that of
a secret, is masked. What cannot be read safely is masked whole. Source of the fields: KubeRay's API types and Ray Serve's schema.
"""

from __future__ import annotations

import re

import yaml

from analyzer.redact.names import judge, words
from analyzer.redact.placeholder import is_masked, placeholder
from analyzer.redact.text import mask_text

MARKS = (b'"serveConfigV2"', b'"entrypoint"', b"edisUsername", b"redis-username")
"""What the JSON of an object has that must be looked at here."""

MAX_TEXT = 256 * 1024
"""Longest text that is taken apart; a longer one is masked whole."""
_MAX_DEPTH = 60
_SECRET_WORDS = frozenset(
    (
        *("auth", "authorization", "secret", "secrets", "password", "passwd", "pwd", "credential", "credentials", "creds"),
        *("apikey", "accesskey"),
    )
)
_COUNTED = frozenset(
    (
        *("max", "min", "num", "new", "batched", "per", "total", "limit", "eos", "bos", "pad", "stop", "special", "mask"),
        *("sep", "cls", "prompt", "input", "output"),
    )
)
_SCALARS = frozenset(("", "~", "null", "true", "false"))

# A flag with its value behind = or a blank; a NAME=value. Values end at a blank or a quote.
_VALUE = r"""(?P<value>"[^"]{0,4000}"|'[^']{0,4000}'|[^\s"';|&]{1,4000})"""
_FLAG = re.compile(rf"(?<![\w-])(?P<name>--?[A-Za-z][\w.-]{{0,100}})(?P<sep>=|[ \t]{{1,10}}){_VALUE}")
_PAIR = re.compile(rf"(?<![\w.-])(?P<name>[A-Za-z_]\w{{0,100}})(?P<sep>=){_VALUE}")


def secret_name(name: str) -> bool:
    """Whether a key, flag or variable of Ray's configs looks like that of a secret; `max_tokens` and `tokenizer` do not."""
    if judge(name):
        return True
    parts = words(name)
    if not parts:
        return False
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last in ("key", "keys", "token"):
        return before not in _COUNTED
    return not _SECRET_WORDS.isdisjoint(parts)


def mask_entrypoint(text: str) -> str:
    """A command line with the values of secret-looking flags and variables masked, and URLs without credentials."""
    if len(text) > MAX_TEXT:
        return placeholder("entrypoint", text)
    return mask_text(_PAIR.sub(_hidden, _FLAG.sub(_hidden, text)))


def _hidden(match: re.Match[str]) -> str:
    name, value = match["name"], match["value"]
    bare = value.strip("\"'")
    if not secret_name(name) or not bare or is_masked(bare) or bare.startswith(("$", "-")):
        return match[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{match['sep']}{quote}{placeholder('secret', bare)}{quote}"


def mask_serve_config(text: str) -> str:
    """A Serve config with its secrets masked, without its comments; a placeholder where it cannot be read safely."""
    if not text.strip() or is_masked(text.strip()):
        return text
    if len(text) > MAX_TEXT:
        return placeholder("serve-config", text)
    try:
        root = _read(text)
        if root is None:
            return ""
        _mask(root)
        return yaml.serialize(root, Dumper=yaml.SafeDumper, allow_unicode=True, width=1_000)
    except (yaml.YAMLError, ValueError, RecursionError):
        return placeholder("serve-config", text)


def _read(text: str) -> yaml.Node | None:
    """The tree of the only document; YAMLError where it has aliases (which may be nested without end) or is too deep."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                raise yaml.YAMLError("nested too deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return yaml.compose(text, Loader=_LOADER)


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _mask(root: yaml.Node) -> None:
    stack: list[tuple[yaml.Node, bool]] = [(root, False)]
    while stack:
        node, hidden = stack.pop()
        if isinstance(node, yaml.ScalarNode):
            _mask_scalar(node, hidden=hidden)
        elif isinstance(node, yaml.SequenceNode):
            flag = ""
            for item in node.value:
                value = item.value if isinstance(item, yaml.ScalarNode) else ""
                stack.append((item, hidden or (bool(flag) and not value.startswith("-"))))
                flag = value if value.startswith("-") and "=" not in value and " " not in value and secret_name(value) else ""
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                name = key.value if isinstance(key, yaml.ScalarNode) else ""
                stack.append((value, hidden or name == "env_vars" or secret_name(name)))
                if not isinstance(key, yaml.ScalarNode):
                    stack.append((key, hidden))


def _mask_scalar(node: yaml.ScalarNode, *, hidden: bool) -> None:
    value = str(node.value)
    if not hidden:
        new = mask_entrypoint(value)
    elif value.lower() in _SCALARS or is_masked(value):
        return
    else:
        new = placeholder("secret", value)
    if new != value:
        node.value, node.tag, node.style = new, "tag:yaml.org,2002:str", None
