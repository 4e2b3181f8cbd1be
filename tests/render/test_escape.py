"""What escape.py promises, for any text."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from analyzer.render.escape import (
    clip,
    command_line,
    excerpt,
    md_code,
    md_fence,
    md_text,
    one_line,
    opening,
    plain,
    short_path,
    visible,
)

from .hostile import either

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
INLINE_TEXT = {"text", "softbreak"}


# Format characters that do show: signs before a number in Arabic and Kaithi, joiners of hieroglyphs.
SHOWING = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def unseen(text: str) -> list[str]:
    return [sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") and ord(sign) not in SHOWING]


def test_no_sign_of_unicode_stays_unseen() -> None:
    everything = "".join(map(chr, range(0x110000)))
    assert unseen(one_line(everything)) == []


@given(either)
def test_nothing_unseen_is_left(text: str) -> None:
    assert set(unseen(visible(text))) <= {"\n", "\t"}
    assert unseen(one_line(text)) == []
    assert unseen(command_line(text)) == []
    assert unseen(plain(text)) == []
    visible(text).encode("utf-8")


@given(either)
def test_visible_twice_is_visible_once(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\u241b[31mb"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\r\nb", "a\nb"),
        ("a\x7fb\x85c", "a\u2421b[U+0085]c"),
        ("caf\u00e9 \u4e2d", "caf\u00e9 \u4e2d"),
    ],
)
def test_what_is_hidden_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_command_never_has_a_second_line() -> None:
    assert command_line("kubectl get pod a\nrm -rf /") == "kubectl get pod a\u240arm -rf /"


def test_the_terminal_gets_no_escape_sequence() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\ \x9b2Jx"
    assert plain(text) == "red link x"


@given(either)
def test_markdown_text_is_one_paragraph_of_text(text: str) -> None:
    tokens = MARKDOWN.parse(f"{md_text(text)}\n")
    kinds = [token.type for token in tokens]
    assert kinds in ([], ["paragraph_open", "inline", "paragraph_close"])
    for token in tokens:
        assert {child.type for child in token.children or []} <= INLINE_TEXT


@given(either)
def test_markdown_text_reads_as_it_was(text: str) -> None:
    tokens = MARKDOWN.parse(f"x {md_text(text)}\n")
    shown = "".join(child.content for child in tokens[1].children or [])
    assert shown.replace("\u200b", "").strip() == f"x {one_line(text)}".strip()


@given(either)
def test_markdown_text_has_no_mention_reference_or_bare_link(text: str) -> None:
    safe = md_text(text)
    assert not re.search(r"@\w|#\d|(?i:\bgh-\d)", safe)
    assert not re.search(r"(?i)\b(https?|ftp)://|\bwww\.\w|\bmailto:\w", safe)


@given(either)
def test_a_code_span_holds_all_of_its_text(text: str) -> None:
    tokens = MARKDOWN.parse(f"- {md_code(text)}\n")
    inline = next(token for token in tokens if token.type == "inline")
    assert [child.type for child in inline.children or []] == ["code_inline"]
    assert (inline.children or [])[0].content.strip() == (one_line(text) or "(empty)").strip()


@given(either)
def test_a_fence_is_not_closed_from_inside(text: str) -> None:
    tokens = MARKDOWN.parse(f"- x\n\n{md_fence(excerpt(text), '  ')}\n\nafter\n")
    assert [token.type for token in tokens if token.nesting == 0 and token.type != "inline"] == ["fence"]
    assert tokens[-2].content == "after"


def test_clip_and_excerpt_cut_in_the_middle() -> None:
    assert clip("abcdefghij", 7) == "abcd\u2026ij"
    assert len(clip("x" * 1000, 400)) == 400
    assert excerpt("\n".join("123456789")) == "1\n2\n\u2026\n8\n9"
    assert excerpt("a\nb") == "a\nb"


def test_a_long_root_is_left_out_of_a_path() -> None:
    root = f"must-gather.local.5577006791947779410/quay-io-example-sha256-{'4b' * 32}"
    assert short_path(f"{root}/namespaces/shop/core/pods.yaml:7") == "\u2026/namespaces/shop/core/pods.yaml:7"
    assert short_path(f"[2] {root}/timestamp") == "[2] \u2026/timestamp"
    assert short_path(f"line 2 of {root}/timestamp (clock of the pod)") == "line 2 of \u2026/timestamp (clock of the pod)"
    assert short_path("mg/core/pods.yaml") == "mg/core/pods.yaml"
    assert short_path(f"case/{root}/core/pods.yaml") == "\u2026/core/pods.yaml"
    name = f"pods/{'a' * 60}/x.log"
    assert short_path(name) == name


def test_an_opening_ends_with_a_sentence_or_a_word() -> None:
    assert opening("It has ended. It will not come back.", 100) == "It has ended."
    assert opening("Version 1.2 of the program has ended again", 30) == "Version 1.2 of the program\u2026"
