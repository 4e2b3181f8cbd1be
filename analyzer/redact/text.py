"""Masking in free text: log lines, messages of events and errors, configuration files kept as text.

Two passes: secrets known by their shape (`shapes`), then values whose name announces a secret (`name=value`,
`name: value`, `"name": "value"`, `--name value`, `<name>value</name>`, YAML blocks).
"""

from __future__ import annotations

import re
from functools import cache

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from analyzer.redact import shapes
from analyzer.redact.names import is_harmless, is_object_name, judge
from analyzer.redact.placeholder import is_masked, placeholder

_MAX_VALUE = 1 << 16
"""How far the end of a quoted value is looked for, in characters."""

_MAX_WORD = 4096
"""How much of an unquoted value is looked at to judge it, in characters."""

_KEYWORDS = (
    "[masked:", "passw", "passphrase", "passcode", "pass", "pwd", "_pw", "-pw", "secret", "token", "cred", "key", "api key",
    "access key", "_pat=", "_pat:", '_pat"', "-pat=",
    "private key", "secret key", "auth", "bindpw", "cookie", "conn_str", "connstr", "conn-str", "connectionstr", "connection_str",
    "connection-str", "connection str", "dsn", "dockerc", "runtime",
)  # fmt: skip
"""What is part of every name that may announce a secret, in lower case; a placeholder is found too, to be skipped.

Where a name is too common without what follows it, that is part of the sign and not of the name.
"""

_SHAPES = (
    "bearer",
    "basic",
    "curl",
    "wget",
    "mysql",
    "mariadb",
    "sshpass",
    "redis-cli",
    " login ",
    "mongo",
    "ldap",
    "ipmitool",
    "alias set",
    "from-literal",
    "-stdin",
    "chpasswd",
    "sig=",
    "signature=",
    "?key=",
    "&key=",
    ":5432:",
    ":5433:",
    ":6432:",
    "age-secret",
    *sorted({literal.lower() for literal in shapes.CLOUD_LITERALS}),
)
_COMMANDS = frozenset(
    (
        "curl",
        "wget",
        "mysql",
        "mariadb",
        "sshpass",
        "redis-cli",
        " login ",
        "mongo",
        "ldap",
        "ipmitool",
        "alias set",
        "chpasswd",
        "-stdin",
    )
) | {"from-literal"}
_PGPASS = frozenset((":5432:", ":5433:", ":6432:"))
_PARAMETERS = frozenset(("sig=", "signature=", "?key=", "&key="))
_CLOUD = frozenset(_SHAPES[_SHAPES.index("age-secret") + 1 :])
_SIGNS = (*_KEYWORDS, *_SHAPES)
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_BEHIND = frozenset('=:"')
_NAME_REST = re.compile(r"[A-Za-z0-9_.-]{0,64}")
_SEPARATOR = re.compile(r"(\\{0,8}[\"'])?[ \t]{0,8}(:=|=>|=(?![=~])|%3[Dd](?!(?:%22)?%24)|:(?!:)|>)[ \t]{0,64}")
_VALUE = re.compile(
    r"(?:\\{0,8}[\"'])?(?:,|[ \t]|\r?\n){1,2}[ \t]{0,64}(?:\\{0,8}[\"'])?"
    r"[Vv]alue(?:\\{0,8}[\"'])?[ \t]?[:=][ \t]{0,8}(?![ \t\r\n])"
)
"""What stands between the name and the value of an environment variable: in YAML, in JSON, in a struct that Go printed."""

_GAP = re.compile(r"[ \t]{1,8}")
_QUOTE = re.compile(r"(?:Some\(|[bBuUrR]{1,2})?(\\{0,8}[\"'])")
"""The quote that opens a value: in Python it may have letters before it (`b'…'`), in Rust `Some(`."""

_ESCAPES = re.compile(r"\x1b\[[0-?]{0,40}[ -/]{0,8}[@-~]")
_PHRASE = re.compile(
    r"[ \t]{1,4}(?:is generated for [^\s:]{1,80}:|(?:is|was|(?:re)?set to|changed to|provided)\b[ \t]{0,2}:?)[ \t]{1,4}"
)
"""What stands in a sentence between the name and its value, other than a blank."""

_LISTED = re.compile(r"\[\s{0,8}\\{0,8}\"[^\]]{1,4096}\]")
_INNER_VALUE = re.compile(
    r"\{\s{0,8}\\{0,8}\"(?:value|inline|plain|plaintext|plainText|data)\\{0,8}\"\s{0,8}:\s{0,8}(?=\\{0,8}\")"
)
_CONFIGURED = frozenset(("requirepass", "masterauth", "bindpw"))
"""Words of configuration files whose value follows after a blank, whatever it looks like."""

_QUOTED = re.compile(r"(?:[^\"\\]|\\.)*+", re.DOTALL)
_UNQUOTED = re.compile(r"(?:\[masked:[^\s\]]{1,80}\]|[^\s,;&\"'<>\\]|,(?![\s\"']|[\w.-]{1,40}[=:])|\\(?![nrt\"'\\]))+")
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?[ \t]*(?:\r?\n|\Z)")
_STRUCTURE = re.compile(r"[{\[(&*]|\$\(|nil\b|map\[|<nil>|%[a-z]|\\\(")
_BELOW = re.compile(r"\r?\n([ \t]{1,200})(?=[^ \t\r\n])")
_LINE_HEAD = re.compile(r"(?:\A|\n|\\n)[ \t\-{,\"'\\?]*\Z")
_LONG = frozenset(("runtime-env", "authorization", "cookie", "connection"))
_SCHEME_HEAD = re.compile(
    r"(?:bearer|basic|digest|token|negotiate|ntlm|oauth|apikey|aws4-hmac-sha256|key|splunk)[ \t]", re.IGNORECASE
)
_PROSE_WORDS = """
a an the is are was were be has have had not no none must should cannot can could will would may might failed fails
failure failing fail error errors invalid incorrect unable unknown unexpected unsupported unauthorized unauthenticated
forbidden denied expired missing required wrong timeout timed context rpc dial get post put eof exit authentication
authorization for from of in on to with without and or but if when while at by as it its this that there already does
do did found requested request response received provided using use used only creating created updating updated
deleting deleted generated generating rotated reading parsing strconv json yaml open stat lookup read write connection
server client http https x509 tls key value name string field
"""
_PROSE = frozenset(_PROSE_WORDS.split())
"""Words that follow `password:` or `token:` in sentences, and so are no secret there."""


@cache
def _automaton() -> AhoCorasick:
    return AhoCorasick(_SIGNS, MatchKind.LeftmostLongest, implementation=Implementation.DFA)


def _signs(text: str) -> list[tuple[int, int, int]]:
    """Where the signs stand: (index in _SIGNS, start, end)."""
    low = text.lower()
    if len(low) != len(text):
        low = text.translate(_ASCII_LOWER)
    try:
        return _automaton().find_matches_as_indexes(low)
    except UnicodeEncodeError:
        # Half of a surrogate pair, which JSON can hold and UTF-8 cannot.
        return _automaton().find_matches_as_indexes(low.encode("utf-8", "replace").decode())


def mask_text(text: str) -> str:
    """The text with secrets replaced by placeholders, and URLs without user, password, query and fragment.

    Takes any text (log lines, messages, configuration files); what carries no sign of a secret comes back as it is.
    """
    if "\x1b[" in text:
        # Colours stand between a name and its value in what programs print for a terminal.
        bare = _ESCAPES.sub("", text)
        masked = mask_text(bare) if "\x1b[" not in bare else bare
        return text if masked == bare else masked
    signs = _signs(text)
    found = {_SIGNS[sign] for sign, _, _ in signs}
    masked = text
    if "private key" in found or "age-secret" in found:
        masked = shapes.mask_private_keys(masked)
    if "://" in masked:
        masked = shapes.mask_urls(masked)
    if "@tcp(" in masked or "@unix(" in masked:
        masked = shapes.mask_database_users(masked)
    if "eyJ" in masked:
        masked = shapes.mask_encoded(masked)
    if found & _CLOUD or "age-secret" in found:
        masked = shapes.mask_cloud_tokens(masked)
    if "bearer" in found or "basic" in found:
        masked = shapes.mask_schemes(masked)
    if found & _COMMANDS:
        masked = shapes.mask_commands(masked)
        masked = shapes.mask_handed(masked)
    if found & _PARAMETERS:
        masked = shapes.mask_parameters(masked)
    if found & _PGPASS:
        masked = shapes.mask_password_file(masked)
    return _mask_named(masked, signs if masked == text else _signs(masked))


def _mask_named(text: str, signs: list[tuple[int, int, int]]) -> str:
    """Masks each value whose name announces a secret; `signs` are those of the text."""
    out: list[str] = []
    done = at = 0
    for sign, start, sign_end in signs:
        if sign >= len(_KEYWORDS) or start < at:
            continue
        if sign == 0:
            at = max(text.find("]", sign_end, sign_end + 100), sign_end)
            continue
        while text[sign_end - 1] in _BEHIND:
            sign_end -= 1  # noqa: PLW2901 - the sign is more than the name
        low = max(at, start - 64)
        while start > low and text[start - 1] in _NAME_CHARS:
            start -= 1  # noqa: PLW2901 - the sign is inside a longer name
        rest = _NAME_REST.match(text, sign_end)
        end = rest.end() if rest else sign_end
        at = end
        kind = judge(text[start:end])
        span = _value_span(text, start, end, kind) if kind else None
        if span is None:
            continue
        value = text[span[0] : span[1]]
        if is_harmless(kind, value) or (kind == "auth" and not _is_pair(value)):
            continue
        out += (text[done : span[0]], placeholder("secret" if kind == "named" else kind, value))
        done = at = span[1]
    return "".join(out) + text[done:] if out else text


def _is_pair(value: str) -> bool:
    """Is it base64 of `user:password`, as the `auth` of a docker config."""
    pair = shapes.decode_base64(value[:8192]) if len(value) >= 4 else None
    return pair is not None and b":" in pair


def _value_span(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """Where the value of the name at `start`..`end` stands; None where there is none to mask."""
    separator = _SEPARATOR.match(text, end)
    if separator is None:
        return _pair_span(text, end, kind) or _flag_span(text, start, end, kind) or _following_span(text, start, end, kind)
    at, sign = separator.end(), separator[2]
    if sign == ">":
        return _element_span(text, start, at)
    if sign == ":" and at > separator.end(2) and not (separator[1] and _QUOTE.match(text, at)):
        if separator[1] is None and _LINE_HEAD.search(text[max(0, start - 120) : start]):
            return _line_span(text, start, at, kind)
        return _plain_span(text, at, kind, prose=True, strict=True)
    if at >= len(text) or text[at] in "\r\n":
        return _nested_span(text, start, at) if kind == "runtime-env" else _below_span(text, start, at, kind)
    return _plain_span(text, at, kind, prose=False, strict=False)


def _flag_span(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """The word after `--name`."""
    gap = _GAP.match(text, end)
    if gap is None or text[start] != "-" or text.startswith("---", start) or text.startswith("-", gap.end()):
        return None
    return _plain_span(text, gap.end(), kind, prose=True, strict=False)


def _pair_span(text: str, end: int, kind: str) -> tuple[int, int] | None:
    """The value where the name itself is one: `name: DB_PASSWORD`, `value: …`."""
    pair = _VALUE.match(text, end)
    return _plain_span(text, pair.end(), kind, prose=False, strict=False) if pair else None


def _following_span(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """A word that follows the name as in a sentence (`token "…" is invalid`, `password …` of a netrc), where it looks random."""
    phrase = _PHRASE.match(text, end)
    gap = phrase or _GAP.match(text, end)
    set_by_command = text.startswith("set ", start - 4) if start >= 4 else False
    if gap is None or kind not in ({"password", "token", "key"} if phrase or set_by_command else {"password", "token"}):
        return None
    if text.startswith("-", gap.end()):
        return None
    quote = _QUOTE.match(text, gap.end())
    at = quote.end() if quote else gap.end()
    word = _word(text, at)
    if word is None or is_masked(word[1]):
        return None
    value = word[1].rstrip(")]}.:")
    sure = text[start:end].lower() in _CONFIGURED and bool(_LINE_HEAD.search(text[max(0, start - 120) : start]))
    return (at, at + len(value)) if sure or _looks_random(value) else None


def _quoted_span(text: str, at: int, quote: str) -> tuple[int, int]:
    """The inside of a quoted value that opens before `at`; to the end of the line where it is not closed."""
    if quote == '"':
        inner = _QUOTED.match(text, at, at + _MAX_VALUE)
        close = inner.end() if inner else at
        if not text.startswith('"', close):
            close = -1
    else:
        close = text.find(quote, at, at + _MAX_VALUE)
    if close < 0:
        close = _line_end(text, at, len(text))
    return at, close


def _word(text: str, at: int) -> tuple[int, str] | None:
    """An unquoted value: where it ends, and its beginning to judge it by (all of it, unless it is very long)."""
    found = _UNQUOTED.match(text, at, at + _MAX_WORD)
    return (found.end(), found[0]) if found else None


def _whole_word(text: str, end: int, at: int) -> int:
    """Where the value that begins at `at` really ends, which was looked at up to `end` only."""
    if end < at + _MAX_WORD:
        return end
    rest = _UNQUOTED.match(text, end)
    return rest.end() if rest else end


def _line_end(text: str, at: int, limit: int = _MAX_VALUE) -> int:
    """Where the line ends; at most `limit` characters on."""
    end = text.find("\n", at, at + limit)
    return end if end >= 0 else min(len(text), at + limit)


def _plain_span(text: str, at: int, kind: str, *, prose: bool, strict: bool) -> tuple[int, int] | None:
    """A value on one line. In `prose` a common word is no secret; `strict` takes only what looks random, but for passwords."""
    quote = _QUOTE.match(text, at)
    if quote:
        span = _quoted_span(text, quote.end(), quote[1])
        return None if strict and kind == "named" else span
    if kind in _LONG:
        return _long_span(text, at, kind, strict=strict)
    inside = _inside_span(text, at, kind)
    if inside:
        return inside
    word = _word(text, at)
    if word is None or (_STRUCTURE.match(text, at) and not is_masked(word[1])):
        return None
    end, value = word
    if not is_masked(value):
        value = value.rstrip(")]}.:" if prose else ")]}")
    if not value or (prose and value.lower() in _PROSE) or (strict and kind != "password" and not _looks_random(value)):
        return None
    return at, _whole_word(text, end, at) if end == at + _MAX_WORD else at + len(value)


def _inside_span(text: str, at: int, kind: str) -> tuple[int, int] | None:
    """A value of JSON that is a list of texts, or a mapping with the value in it."""
    if kind == "named" or text[at : at + 1] not in {"[", "{"}:
        return None
    listed = _LISTED.match(text, at)
    if listed:
        texts = [item.strip(' \t\r\n\\"') for item in listed[0][1:-1].split(",")]
        return None if all(is_harmless(kind, item) for item in texts) else (at, listed.end())
    inner = _INNER_VALUE.match(text, at)
    quote = _QUOTE.match(text, inner.end()) if inner else None
    return _quoted_span(text, quote.end(), quote[1]) if quote else None


def _long_span(text: str, at: int, kind: str, *, strict: bool) -> tuple[int, int] | None:
    """A value that may hold blanks: the rest of the line, for headers up to a closing quote."""
    if kind == "authorization" and not _SCHEME_HEAD.match(text, at):
        word = _word(text, at)
        return (at, _whole_word(text, word[0], at)) if word and _looks_random(word[1]) else None
    if strict and kind == "connection":
        return None
    if kind in {"runtime-env", "connection"}:
        end = _line_end(text, at, len(text))
    else:
        end = _line_end(text, at)
        for mark in ('"', "'", "\\"):
            close = text.find(mark, at, end)
            end = close if close >= 0 else end
    return (at, end) if end > at else None


def _line_span(text: str, start: int, at: int, kind: str) -> tuple[int, int] | None:
    """A value in YAML or a header, where the name begins its line: all of it, blocks too."""
    block = _BLOCK.match(text, at)
    if block:
        return _nested_span(text, start, block.end())
    if kind in _LONG or _QUOTE.match(text, at):
        return _plain_span(text, at, kind, prose=True, strict=False)
    word = _word(text, at)
    if word is None:
        return None
    end, value = _whole_word(text, word[0], at), word[1]
    rest = re.split(r"\s#|\\n", text[end : _line_end(text, end)], maxsplit=1)[0].rstrip()
    if rest and kind != "password":
        return _plain_span(text, at, kind, prose=True, strict=True)
    if _STRUCTURE.match(text, at) or value.lower().rstrip(".:") in _PROSE:
        return None
    return at, end + (0 if rest[:1] in {",", ";", "&"} else len(rest))


def _nested_span(text: str, start: int, at: int) -> tuple[int, int] | None:
    """The lines from the one after `at` on that are indented deeper than the line of `start`."""
    line_start = text.rfind("\n", max(0, start - 400), start) + 1
    indent = len(text[line_start:start]) - len(text[line_start:start].lstrip(" "))
    begin = text.find("\n", at - 1 if at else 0)
    begin = at if begin < 0 else begin + 1
    end = begin
    while end < len(text):
        stop = _line_end(text, end, len(text))
        body = text[end:stop]
        if body.strip() and len(body) - len(body.lstrip(" \t")) <= indent:
            break
        end = min(stop + 1, len(text)) if stop < len(text) else stop
    while end > begin and text[end - 1] in "\r\n":
        end -= 1
    while begin < end and text[begin] in " \t":
        begin += 1
    return (begin, end) if end > begin else None


def _below_span(text: str, start: int, at: int, kind: str) -> tuple[int, int] | None:
    """The one word on the next line, deeper than the name that begins this one: YAML and JSON may break there."""
    if kind in _LONG or kind == "named" or not _LINE_HEAD.search(text[max(0, start - 120) : start]):
        return None
    line_start = text.rfind("\n", max(0, start - 400), start) + 1
    indent = len(text[line_start:start]) - len(text[line_start:start].lstrip(" "))
    below = _BELOW.match(text, at)
    if below is None or len(below[1].expandtabs()) <= indent:
        return None
    stop = _line_end(text, below.end())
    quote = _QUOTE.match(text, below.end())
    if quote:
        span = _quoted_span(text, quote.end(), quote[1])
        return span if span[1] <= stop and text[span[1] + len(quote[1]) : stop].strip() in {"", ",", "}"} else None
    word = text[below.end() : stop].strip()
    if not word or " " in word or word[0] in "-{[#|>&*!" or word.endswith(":") or word.lower() in _PROSE:
        return None
    return below.end(), below.end() + len(word)


def _element_span(text: str, start: int, at: int) -> tuple[int, int] | None:
    """The text of an XML element whose tag is the name."""
    if start == 0 or text[start - 1] != "<":
        return None
    close = text.find("<", at, at + _MAX_VALUE)
    return (at, close) if close > at else None


def _looks_random(value: str) -> bool:
    """Does it look like a generated secret and not like a word, a number or the name of an object."""
    if len(value) < 12 or is_object_name(value):
        return False
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
