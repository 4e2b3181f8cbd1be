"""Secrets that are known by their shape wherever they stand: private keys, URLs, JWTs, cloud tokens, headers, commands.

Every function takes a text and returns it masked. Each is linear in the length of the text: patterns start at a literal,
have capped lengths and no nested repetition; longer walks are done with `find`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from analyzer.redact.placeholder import is_masked, placeholder

KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----")
KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----")
"""The lines around a PEM private key; both have `PRIVATE KEY` in them."""

_KEY_LINES = re.compile(r"[A-Za-z0-9+/=]{40,76}")
_AGE_KEY = re.compile(r"AGE-SECRET-KEY-1[A-Z0-9]{20,100}")


def mask_private_keys(text: str) -> str:
    """PEM private keys, on one line or many, also with escaped line ends, also without their begin or end."""
    out: list[str] = []
    at = 0
    begin = KEY_BEGIN.search(text)
    while True:
        end = KEY_END.search(text, begin.end() if begin else at)
        if begin is None:
            if end is None:
                break
            start = _first_key_line(text, at, end.start())
            stop = end.end()
        else:
            start, stop = begin.start(), end.end() if end else len(text)
        out += (text[at:start], placeholder("private-key", text[start:stop]))
        at = stop
        # Searched for only where there was one: without any, each end would look through all of the rest again.
        begin = KEY_BEGIN.search(text, at) if begin else None
    return "".join(out) + text[at:] if out else text


def _first_key_line(text: str, low: int, end: int) -> int:
    """Where the lines of base64 before `end` begin: the key's begin was cut off. Not before `low`."""
    start = end
    while start > low:
        line_start = text.rfind("\n", low, start - 1) + 1 or low
        if not _KEY_LINES.fullmatch(text[line_start : start - 1].strip()[:200]):
            break
        start = line_start
    return start


_URL = re.compile(r"://((?:[^\s\"'<>\\^`{|}]|\\u00(?:26|3[cde])|\{[\w.-]{0,40}\})+)", re.ASCII)
_CLOSING = ".,;:!)]"
_DIGEST = re.compile(r"sha(?:256|512):")


def _port(authority: str) -> bool:
    """Does `host:port` have a port that is one (or none at all), so that it can't be `user:password`."""
    host, colon, port = authority.rpartition(":")
    return not colon or (bool(host) and (port.isdigit() or not port or ("[" in host and "]" not in host)))


def _bare_url(found: re.Match[str]) -> str:
    """The match without user, password, query and fragment; punctuation that closes the sentence stays."""
    rest = found[1]
    if "@" not in rest and "?" not in rest and "#" not in rest:
        return found[0]
    whole = rest.rstrip(_CLOSING)
    closing = rest[len(whole) :]
    path = re.split(r"[?#]", whole, maxsplit=1)[0]
    authority = path.split("/", 1)[0]
    at = whole.rfind("@")
    if at >= 0:
        is_digest = bool(_DIGEST.match(whole, at + 1))
        is_user = "@" in authority and not is_digest
        if is_user or not (is_digest or _port(authority)):
            cut = path.rfind("@") if is_user else at
            whole = whole[cut + 1 :]
            path = re.split(r"[?#]", whole, maxsplit=1)[0]
    return "://" + path + closing


def mask_urls(text: str) -> str:
    """URLs without user, password, query and fragment: scheme, host, port and path stay."""
    return _URL.sub(_bare_url, text)


def mask_database_users(text: str) -> str:
    """`user:password@tcp(host)`, the form of Go's MySQL driver."""
    for marker in ("@tcp(", "@unix("):
        out: list[str] = []
        at = 0
        while (found := text.find(marker, at)) >= 0:
            head = text[max(at, found - 320) : found]
            user = re.split(r"[\s\"'=(]", head)[-1]
            if ":" in user and not is_masked(user):
                out += (text[at : found - len(user)], placeholder("password", user))
                at = found
            out += (text[at : found + len(marker)],)
            at = found + len(marker)
        if out:
            text = "".join(out) + text[at:]
    return text


_RUN = re.compile(r"[A-Za-z0-9_.~+/=-]{16,}")
_JWT = re.compile(r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}")
_INNER = re.compile(
    rb"\"(?:auths?|identitytoken|access_?token|refresh_?token|password|token|private_?key|client_?secret|secret)\"", re.IGNORECASE
)
_MAX_DECODED = 1 << 20


def decode_base64(text: str) -> bytes | None:
    """The decoded bytes of standard or URL-safe base64, padded or not; None where it is none."""
    plain = text.rstrip("=").translate({0x2D: "+", 0x5F: "/"})
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _encoded(found: re.Match[str]) -> str:
    """Masks what of one run of base64 characters is a JWT, or JSON with secrets in it."""
    run = found[0]
    start = run.find("eyJ")
    if start < 0:
        return run
    token = _JWT.match(run, start)
    if token:
        return run[:start] + placeholder("jwt", token[0]) + run[token.end() :]
    inner = decode_base64(run[start : start + _MAX_DECODED])
    if inner is not None and _INNER.search(inner):
        return run[:start] + placeholder("encoded", run[start:])
    return run


def mask_encoded(text: str) -> str:
    """JWTs, and base64 of JSON that holds credentials (docker configs)."""
    return _RUN.sub(_encoded, text)


_CLOUD: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (literal, kind, re.compile(rf"(?<![A-Za-z0-9]){pattern}", re.ASCII))
    for literal, kind, pattern in (
        ("AKIA", "aws-key", r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("ASIA", "aws-key", r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("gh", "github-token", r"gh[pousr]_[A-Za-z0-9]{20,255}"),
        ("github_pat_", "github-token", r"github_pat_[A-Za-z0-9_]{20,255}"),
        ("glpat-", "gitlab-token", r"glpat-[A-Za-z0-9_-]{16,255}"),
        ("xox", "slack-token", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}"),
        ("hooks.slack.com/services/", "slack-token", r"hooks\.slack\.com/services/[A-Za-z0-9]{6,20}/[A-Za-z0-9/]{6,80}"),
        ("api.telegram.org/bot", "token", r"api\.telegram\.org/bot\d{5,20}:[A-Za-z0-9_-]{16,80}"),
        ("discord.com/api/webhooks/", "token", r"discord\.com/api/webhooks/\d{5,25}/[A-Za-z0-9_-]{16,120}"),
        ("discordapp.com/api/webhooks/", "token", r"discordapp\.com/api/webhooks/\d{5,25}/[A-Za-z0-9_-]{16,120}"),
        ("webhook.office.com/webhookb2/", "token", r"webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{16,300}"),
        ("xapp-", "slack-token", r"xapp-[A-Za-z0-9-]{20,255}"),
        ("hf_", "hf-token", r"hf_[A-Za-z0-9]{16,255}"),
        ("sk-", "api-key", r"sk-(?:(?:proj|ant|svcacct|admin|or|lf)-[A-Za-z0-9_-]{16,255}|[A-Za-z0-9]{20,255})"),
        ("nvapi-", "api-key", r"nvapi-[A-Za-z0-9_-]{16,255}"),
        ("AIza", "api-key", r"AIza[A-Za-z0-9_-]{30,60}"),
        ("ya29.", "token", r"ya29\.[A-Za-z0-9_-]{16,500}"),
        ("npm_", "token", r"npm_[A-Za-z0-9]{30,60}"),
        ("dckr_", "token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,255}"),
        ("hvs.", "token", r"hvs\.[A-Za-z0-9_-]{20,255}"),
        ("sha256~", "token", r"sha256~[A-Za-z0-9_-]{30,60}"),
        ("AGE-SECRET-KEY-1", "private-key", _AGE_KEY.pattern),
    )
)
"""Tokens with a known beginning. `sha256~` begins OpenShift's OAuth tokens."""

CLOUD_LITERALS = (
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    *(f"xox{letter}-" for letter in "abeoprs"),
    *(literal for literal, _, _ in _CLOUD if literal not in {"gh", "xox"}),
)
"""What the cloud tokens begin with."""


def mask_cloud_tokens(text: str) -> str:
    """Tokens and keys of clouds and code forges, known by how they begin."""
    for literal, kind, pattern in _CLOUD:
        if literal in text:
            text = pattern.sub(_whole(kind), text)
    return text


def _whole(kind: str) -> Callable[[re.Match[str]], str]:
    return lambda found: placeholder(kind, found[0])


_BEARER = re.compile(r"(?i:\bbearer)([ \t]{1,4}|%20|\\u0020)([A-Za-z0-9._~+/=-]{6,})")
_BASIC = re.compile(r"(?i:\bbasic)([ \t]{1,4})([A-Za-z0-9+/_-]{6,}={0,2})")


def _bearer(found: re.Match[str]) -> str:
    token = found[2]
    if len(token) < 32 and not any(char.isdigit() for char in token):
        return found[0]
    return found[0][: -len(token)] + placeholder("token", token)


def _basic(found: re.Match[str]) -> str:
    pair = decode_base64(found[2][:8192])
    if pair is None or b":" not in pair or not pair.isascii():
        return found[0]
    return found[0][: -len(found[2])] + placeholder("password", found[2])


def mask_schemes(text: str) -> str:
    """`Bearer TOKEN` and `Basic BASE64`, wherever they stand; prose such as "Bearer authentication" stays."""
    return _BASIC.sub(_basic, _BEARER.sub(_bearer, text))


_COMMAND = re.compile(
    r"(?<![\w-])(curl|wget|mysql|mysqldump|mysqladmin|mariadb|sshpass|redis-cli|(?:wandb|vault) login"
    r"|(?:docker|podman|buildah|skopeo|nerdctl|crane|oras|regctl|registry|oc|az) login|login"
    r"|mongosh|mongo|mongodump|mongorestore|mongoexport|mongoimport|ldapsearch|ldapwhoami|ldapadd|ldapmodify|ipmitool"
    r"|mc alias set)(?![\w-])",
    re.ASCII,
)
_OPTION = {
    "curl": re.compile(r"(?<=\s)(?:-u|--user|--proxy-user)[ =]?[\"']?([^\s\"':]{0,200}:[^\s\"']{1,300})"),
    "mysql": re.compile(r"(?<=\s)-p([^\s\"']{1,300})"),
    "login": re.compile(r"(?<=\s)-p[ =][\"']?([^\s\"']{1,300})"),
    "docker login": re.compile(r"(?<=\s)-p[ =]?[\"']?([^\s\"']{1,300})"),
    "sshpass": re.compile(r"(?<=\s)-p ?[\"']?([^\s\"']{1,300})"),
    "redis-cli": re.compile(r"(?<=\s)-a ?[\"']?([^\s\"']{1,300})"),
    "wandb login": re.compile(r"(?<=\s)(?:--[\w=-]{1,40}\s){0,4}[\"']?([A-Za-z0-9._]{16,300})(?![^\s\"'])"),
    "mongo": re.compile(r"(?<=\s)-p[ =]?[\"']?([^\s\"']{1,300})"),
    "ldap": re.compile(r"(?<=\s)-w ?[\"']?([^\s\"']{1,300})"),
    "ipmitool": re.compile(r"(?<=\s)-P ?[\"']?([^\s\"']{1,300})"),
    "mc alias set": re.compile(r"(?<=\s)[\w-]{1,60}\s[\"']?[a-z]{1,10}://\S{1,260}\s\S{1,200}\s[\"']?([^\s\"']{1,300})"),
}
_SAME = (
    {"wget": "curl", "mysqldump": "mysql", "mysqladmin": "mysql", "mariadb": "mysql", "vault login": "wandb login"}
    | {
        f"{tool} login": "docker login"
        for tool in ("podman", "buildah", "skopeo", "nerdctl", "crane", "oras", "regctl", "registry", "oc", "az")
    }
    | dict.fromkeys(("mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"), "mongo")
    | dict.fromkeys(("ldapsearch", "ldapwhoami", "ldapadd", "ldapmodify"), "ldap")
)
_COMMAND_SPAN = 600
"""How far behind a command its options are looked for."""


def mask_commands(text: str) -> str:
    """Passwords that well-known commands take in short options: `curl -u user:password`, `mysql -pPASSWORD`."""
    out: list[str] = []
    done = 0
    command = _COMMAND.search(text)
    while command:
        at = command.end()
        name = _SAME.get(command[1], command[1])
        following = _COMMAND.search(text, at)
        stop = min(at + _COMMAND_SPAN, following.start() if following else len(text))
        value = _OPTION[name].search(text, at, stop)
        if value and not is_masked(value[1]) and not value[1].startswith("$"):
            out += (text[done : value.start(1)], placeholder("password", value[1]))
            done = value.end(1)
        command = following
    return "".join(out) + text[done:] if out else text


_PIPED = re.compile(
    r"\b(?:echo|printf)[ \t](?:-n[ \t])?(?:%s[ \t])?[\"']?([^\s\"'|$][^\s\"'|]{0,300})[\"']?[ \t]?\|[^|\n]{0,120}?"
    r"(?:--password-stdin|--token-stdin|-stdin-pass|\bchpasswd\b)"
)
_LITERAL = re.compile(r"--from-literal[= \t][\"']?[\w.-]{1,100}=[\"']?([^\s\"'$][^\s\"']{0,300})")


def mask_handed(text: str) -> str:
    """Secrets that a shell hands to a command: `echo PASSWORD | docker login --password-stdin`, `--from-literal=key=VALUE`."""
    for pattern in (_PIPED, _LITERAL):
        text = pattern.sub(_first_group, text)
    return text


def _first_group(found: re.Match[str]) -> str:
    value = found[1]
    if is_masked(value):
        return found[0]
    start, stop = found.start(1) - found.start(), found.end(1) - found.start()
    return found[0][:start] + placeholder("secret", value) + found[0][stop:]


_PARAMETER = re.compile(r"[?&](?:sig|(?:x-(?:amz|goog)-)?signature|key)=([^\s\"'&#;<>\\]{6,2000})", re.IGNORECASE)


def mask_parameters(text: str) -> str:
    """Signatures and keys in the query of a request that is told without its host: `GET /blob?sig=SIGNATURE`."""
    return _PARAMETER.sub(_first_group, text)


_PASSWORD_FILE = re.compile(
    r"^([ \t]{0,40}[\w.*-]{1,253}:(?:543[23]|6432):[A-Za-z_*][\w.*-]{0,100}:[A-Za-z_*][\w.*-]{0,100}:)(\S{1,300})([ \t\r]*)$",
    re.MULTILINE,
)


def mask_password_file(text: str) -> str:
    """The last field of a line of `.pgpass`: host:port:database:user:PASSWORD, alone on its line."""
    return _PASSWORD_FILE.sub(_last_field, text)


def _last_field(found: re.Match[str]) -> str:
    return found[0] if is_masked(found[2]) else found[1] + placeholder("password", found[2]) + found[3]


def mask_option(command: str, before: str, argument: str) -> str:
    """An argument of such a command whose arguments are given one by one; `before` is the argument before it."""
    head = f"{command.rpartition('/')[2]} {before} "
    masked = mask_commands(head + argument)
    return masked[len(head) :] if masked.startswith(head) else argument


def is_command(word: str) -> bool:
    """Is it one of the commands with passwords in short options, with or without its path."""
    return bool(_COMMAND.fullmatch(word.rpartition("/")[2]))
