"""Makes text of a bundle safe to show: nothing invisible, nothing that steers a terminal or opens markup.

Every byte of a bundle is hostile. HTML is escaped by Jinja2's autoescape; this module does what that does not:
characters that a reader cannot see (Unicode Technical Report 36, "visual spoofing"), and Markdown (CommonMark, GFM).
"""

from __future__ import annotations

import re

# Format characters that show nothing or turn the direction of text (Unicode general category Cf, fillers, separators).
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SURROGATE = "\ud800-\udfff"
_HIDDEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_UNSEEN}{_SURROGATE}]")
_HIDDEN_OR_BREAK = re.compile(f"[\x00-\x1f\x7f-\x9f{_UNSEEN}{_SURROGATE}]")
# CSI, OSC (ended by BEL or ST), the other string sequences, and two-byte escapes (ECMA-48), 7-bit and 8-bit forms.
_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
_SPACES = re.compile(r"\s+")

_IMAGE_FOLDER = re.compile(r"(?<![^\s\[(])(?:[^\s/]+/)*[^\s/]*sha256-[0-9a-f]{64}/")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")

ZERO_WIDTH = "\u200b"
"""Put between the parts of `@name`, `#12` and `https://`, so that no renderer makes a mention or a link of them."""


def _mark(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"[U+{code:04X}]"


def visible(text: str) -> str:
    """The text with control, direction-changing and zero-width characters shown as marks; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return _HIDDEN.sub(_mark, text)


def one_line(text: str) -> str:
    """As `visible`, with every run of white space as one space: for a text that is shown in a line."""
    return visible(_SPACES.sub(" ", text).strip())


def command_line(text: str) -> str:
    """As `visible`, and a line break is a mark too: a command that a reader pastes into a shell never holds a second one."""
    return _HIDDEN_OR_BREAK.sub(_mark, text.strip())


def plain(text: str) -> str:
    """For a terminal: escape sequences are dropped whole, the rest is one line and visible."""
    return one_line(_TERMINAL.sub("", text))


def clip(text: str, width: int) -> str:
    """At most `width` characters, cut in the middle with `…`."""
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def short_path(text: str) -> str:
    """A path, or words with one, without the folder of a must-gather image and what is above it: `…/core/pods.yaml`.

    That folder is named by the image's digest and takes two lines; the whole path stands beside the quoted words.
    """
    return _IMAGE_FOLDER.sub("…/", text)


def opening(text: str, width: int) -> str:
    """The first sentence, or as many whole words of it as `width` characters hold."""
    return cut(_SENTENCE.split(text, maxsplit=1)[0], width)


def cut(text: str, width: int) -> str:
    """The text, or as many whole words of it as `width` characters hold, with `…` at its end."""
    return text if len(text) <= width else text[: width - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def excerpt(text: str, lines: int = 5, width: int = 400) -> str:
    """A quoted value: at most `lines` lines of `width` characters, cut in the middle with `…`, everything visible."""
    rows = visible(text).strip("\n").split("\n")
    if len(rows) > lines:
        head = (lines - 1 + 1) // 2
        rows = [*rows[:head], "…", *rows[len(rows) - (lines - 1 - head) :]]
    return "\n".join(clip(row.rstrip(), width) for row in rows)


_MD_ALWAYS = re.compile(r"[\\`*\[\]|~$]")
_MD_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_MD_START = re.compile(r"^(?:([-+=>#:])|(\d{1,9})([.)])(?!\S))")
_MD_MENTION = re.compile(r"@(?=\w)")
_MD_REFERENCE = re.compile(r"(#|\b[Gg][Hh]-)(?=\d)")
_MD_LINK = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,30}:)(?=//)|\b(mailto:|xmpp:|www\.)")


def md_text(text: str) -> str:
    """Text for one line of GitHub Flavored Markdown that can be nothing but text there.

    Markup is escaped; mentions, references to issues and bare links are broken by a zero-width space, since
    renderers look for those after the escapes are gone.
    """
    safe = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = _MD_ALWAYS.sub(lambda found: "\\" + found[0], safe)
    safe = _MD_UNDERSCORE.sub(r"\\_", safe)
    safe = _MD_MENTION.sub("@" + ZERO_WIDTH, safe)
    safe = _MD_REFERENCE.sub(lambda found: found[1] + ZERO_WIDTH, safe)
    safe = _MD_LINK.sub(lambda found: (found[1] or found[2]) + ZERO_WIDTH, safe)
    return _MD_START.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", safe)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def md_code(text: str) -> str:
    """A code span; its fence is longer than any run of backticks inside."""
    inner = one_line(text) or "(empty)"
    fence = "`" * (_longest_run(inner) + 1)
    pad = " " if inner.startswith("`") or inner.endswith("`") else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def md_fence(text: str, indent: str = "") -> str:
    """A fenced block of lines that are already visible; the fence is longer than any run of backticks inside."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return "\n".join(f"{indent}{row}".rstrip() for row in (f"{fence}text", *visible(text).split("\n"), fence))
