"""Signatures: which lines are hits, what is kept of them, and that pieces, long lines and secrets change nothing."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.bundle.formats.base import Place
from analyzer.bundle.signatures import Count, Hit, LogScan, Scanner, Signature, compile_pattern
from analyzer.bundle.signatures.model import MAX_FIRST_HITS, MAX_LAST_HITS, MAX_LINE_BYTES
from analyzer.bundle.signatures.scanner import PatternError

PLACE = Place("teahouse", "kettle-0", "brew", "current")
BOILED = Signature("tea/boiled-over", ("boiled over",), r"pot (?P<pot>\S+) at (?P<degrees>\d+)")
LID = Signature("tea/lid", ("lid is ", "no lid"))


def scan(data: bytes, *signatures: Signature, step: int = 1 << 20, first_line: int = 1) -> tuple[list[Hit], list[Count]]:
    scanner = Scanner(signatures)
    automaton = scanner.automaton_for(PLACE, "x.log", "must-gather")
    assert automaton is not None
    search = LogScan(scanner, automaton, first_line)
    for start in range(0, len(data), step):
        search.feed(data[start : start + step])
    search.finish()
    return search.hits(), search.counts()


def test_a_hit_with_its_fields_time_and_surroundings() -> None:
    data = b"a\nb\nc\nd\r\n2026-03-01T10:00:00.5Z boiled over: pot no-7 at 101\r\ne\nf\ng\nh\n"
    (hit,), (count,) = scan(data, BOILED, LID, first_line=11)
    assert (hit.signature, hit.line, hit.at) == ("tea/boiled-over", 15, "2026-03-01T10:00:00.5Z")
    assert hit.text == "2026-03-01T10:00:00.5Z boiled over: pot no-7 at 101"
    assert (hit.before, hit.after) == ("b\nc\nd", "e\nf\ng")
    assert hit.fields == {"pot": "no-7", "degrees": "101"}
    assert count == Count("tea/boiled-over", 1, 1, 15, 15)


def test_the_word_alone_is_not_enough_where_there_is_a_pattern_and_words_are_case_sensitive() -> None:
    assert scan(b"boiled over\nBoiled over: pot a at 9\npot a at 9\n", BOILED) == ([], [])


def test_a_line_is_one_hit_of_a_signature_however_many_of_its_words_are_in_it_and_of_every_signature() -> None:
    hits, counts = scan(b"no lid, the lid is off, no lid: boiled over: pot a at 5", BOILED, LID)
    assert [(hit.signature, hit.line) for hit in hits] == [("tea/boiled-over", 1), ("tea/lid", 1)]
    assert [count.hits for count in counts] == [1, 1]


def test_a_word_inside_a_longer_word_of_another_signature_is_found() -> None:
    inner, outer = Signature("tea/inner", ("iled to b",)), Signature("tea/outer", ("failed to boil",))
    assert {count.signature for count in scan(b"it failed to boil\n", inner, outer)[1]} == {"tea/inner", "tea/outer"}


def test_the_first_and_the_newest_hits_are_kept_and_all_are_counted() -> None:
    data = b"".join(b"no lid %d\n" % number for number in range(1, 1001))
    hits, (count,) = scan(data, LID, step=777)
    assert count == Count("tea/lid", 1000, MAX_FIRST_HITS + MAX_LAST_HITS, 1, 1000)
    assert [hit.line for hit in hits] == [*range(1, 51), *range(851, 1001)]
    assert all(hit.text == f"no lid {hit.line}" for hit in hits)


LINES = st.lists(
    st.sampled_from([b"", b"x", b"no lid", b"the lid is on", b"boiled over: pot a at 1", b"lid", b"is no", b"\r", b"y" * 90]),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(LINES, st.integers(1, 40), st.booleans())
def test_pieces_of_any_size_give_the_same_as_looking_line_by_line(lines: list[bytes], step: int, ends: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    hits, counts = scan(data, BOILED, LID, step=step)
    plain = [line.removesuffix(b"\r").decode() for line in data.removesuffix(b"\n").split(b"\n")]
    for signature in (BOILED, LID):
        expected = [
            number
            for number, line in enumerate(plain, 1)
            if any(word in line for word in signature.words) and re.search(signature.pattern or "", line)
        ]
        assert [hit.line for hit in hits if hit.signature == signature.id] == expected
        assert [count.hits for count in counts if count.signature == signature.id] == ([len(expected)] if expected else [])
    for hit in hits:
        at = hit.line - 1
        shown = [line.replace("\r", "\ufffd") for line in plain]
        assert (hit.text, hit.before) == (shown[at], "\n".join(shown[max(0, at - 3) : at]))
        assert hit.after == "\n".join(shown[at + 1 : at + 4])


def test_a_line_longer_than_a_piece_is_one_hit_and_what_surrounds_it_is_bounded() -> None:
    long = b"a" * (3 * MAX_LINE_BYTES) + b" no lid " + b"b" * (3 * MAX_LINE_BYTES) + b" no lid"
    hits, (count,) = scan(b"first\n" + long + b"\nno lid after\nlast\n", LID, step=64 << 10)
    assert (count.hits, [hit.line for hit in hits]) == (2, [2, 3])
    assert max(len(hit.text.encode()) + len(hit.before.encode()) + len(hit.after.encode()) for hit in hits) < 8192
    # The text of a piece is not shown: it may begin in a secret.
    assert hits[0].text == "(in a line of more than 1 MiB)"
    assert hits[1].text == "no lid after"


def test_a_word_on_the_border_of_two_pieces_of_a_long_line_is_found() -> None:
    for shift in range(8):
        data = b"a" * (2 * MAX_LINE_BYTES - shift) + b"no lid" + b"b" * 100
        assert [count.hits for count in scan(data, LID, step=4096)[1]] == [1]


SECRET = "hunter2-Xy7Zq9"


@pytest.mark.parametrize(
    "text",
    [
        f"no lid password={SECRET}",
        f"password: {SECRET}\nno lid",
        f"no lid\npassword: {SECRET}",
        f"password: |\n  {SECRET}\n  no lid {SECRET}\n  more {SECRET}\nafter",
        f'no lid {{"password": "{SECRET}"}}',
        f"no lid postgres://app:{SECRET}@db/x",
        f"no lid Authorization: Bearer {SECRET}{SECRET}",
    ],
)
def test_no_secret_is_kept(text: str) -> None:
    pattern = Signature("tea/all", ("no lid",), r"(?P<all>.+)")
    hits, _ = scan(text.encode(), LID, pattern)
    assert len(hits) == 2
    assert SECRET not in repr(hits)


@pytest.mark.parametrize("prefix", ["", "2026-03-01T10:00:00Z ", "2026-03-01T10:00:00.123456789Z stdout F ", "level=info "])
@pytest.mark.parametrize("step", [50, 1 << 20])
def test_a_hit_in_the_middle_of_a_key_is_masked(prefix: str, step: int) -> None:
    body = [f"{chr(65 + n % 26)}wIBAKlidlid{'Qz9' * 15}{n:04d}" for n in range(60)]
    lines = ["before", "-----BEGIN RSA PRIVATE KEY-----", *body, "Q29k=", "-----END RSA PRIVATE KEY-----", "lidlid after it"]
    data = "\n".join(prefix + line for line in lines).encode()
    word = Signature("tea/word", ("lidlid",), r"(?P<around>\S*lidlid\S*)")
    hits, (count,) = scan(data, word, step=step)
    assert count.hits == 61
    assert "Qz9" not in repr(hits)
    assert "Q29k" not in repr(hits)
    assert hits[-1].text == f"{prefix}lidlid after it"
    assert hits[30].text.startswith(f"{prefix}[masked:private-key:")


def test_words_about_a_key_mask_no_other_lines() -> None:
    data = b"cannot find -----BEGIN PRIVATE KEY----- in the file\n" + b"something else happened\n" * 20 + b"no lid today then\n"
    hits, _ = scan(data, LID)
    assert hits[0].text == "no lid today then"


def test_fields_far_along_a_line() -> None:
    line = b'{"log":"' + b"w " * 9000 + b'boiled over: pot green at 99"}'
    (hit,), _ = scan(line, BOILED)
    assert hit.fields == {"pot": "green", "degrees": "99"}
    assert hit.text.endswith("…")


def test_control_characters_and_broken_text() -> None:
    (hit,), _ = scan(b"\x1b[31mno lid\x1b[0m \x00\x00\xff\x07", LID)
    assert hit.text == "no lid \ufffd\ufffd\ufffd"  # the NULs together, the bad byte, the bell


def test_a_cut_line_does_not_end_in_a_part_of_a_word() -> None:
    (hit,), _ = scan(b"no lid " + b"x " * 1000 + b"Q" * 4000, LID)
    assert "QQ" not in hit.text


@pytest.mark.parametrize("pattern", ["(a+)+$", "(x|xx)*y", "((a*)*)*b"])
def test_hostile_patterns_take_linear_time(pattern: str) -> None:
    data = b"no lid " + b"a" * 200_000 + b"!\n" + b"no lid " + b"x" * 200_000
    scan(data, Signature("tea/bad", ("no lid",), pattern))


@pytest.mark.parametrize("pattern", ["(", r"(x)\1", r"(?=x)", "a{2000}", "((a{100}){100}){100}"])
def test_what_is_no_re2_expression_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("more", "place", "path", "format_name", "wanted"),
    [
        ({"sources": ("previous",)}, PLACE, "x", "must-gather", False),
        ({"sources": ("previous", "current")}, PLACE, "x", "must-gather", True),
        ({"sources": ("previous",)}, PLACE, "x", "sonobuoy", True),  # it may have fetched those of previous containers
        ({"containers": ("br*",), "pods": ("kettle-?",), "namespaces": ("teahouse",)}, PLACE, "x", "must-gather", True),
        ({"containers": ("Br*",)}, PLACE, "x", "must-gather", False),
        ({"pods": ("pot-*",)}, PLACE, "x", "must-gather", False),
        ({"namespaces": ("tea",)}, PLACE, "x", "must-gather", False),
        ({"pods": ("kettle-*",)}, Place(source="service"), "host/kettle-0.log", "must-gather", False),
        ({"pods": ("kettle-*",)}, Place(), "kettle-0.log", "plain", True),
        ({"containers": ("brew",)}, Place(), "tea/kettle-0/brew-previous.log", "support-bundle", True),
        ({"pods": ("kettle-0",), "namespaces": ("x",)}, Place(), "tea/kettle-0/brew.log.gz", "support-bundle", True),
        ({"sources": ("previous",)}, Place(), "tea/kettle-0/brew-previous.log", "support-bundle", True),
        ({"sources": ("previous",)}, Place(), "tea/kettle-0/brew.log", "support-bundle", False),
        ({"sources": ("current",)}, Place(), "some.log", "plain", True),
        ({"sources": ("current",)}, Place(), "some.log", "must-gather", False),
    ],
)
def test_which_logs_a_signature_is_for(more: dict[str, Any], place: Place, path: str, format_name: str, wanted: bool) -> None:
    scanner = Scanner([Signature("tea/x", ("no lid",), None, **more)])
    assert (scanner.automaton_for(place, path, format_name) is not None) is wanted


def test_without_signatures_nothing_is_searched_and_a_scanner_goes_to_a_process() -> None:
    assert Scanner().automaton_for(PLACE, "x", "plain") is None
    scanner = Scanner([BOILED, LID])
    scanner.automaton_for(PLACE, "x", "plain")
    assert pickle.loads(pickle.dumps(scanner)).signatures == (BOILED, LID)


@pytest.mark.parametrize(
    "piece", [b"a" * (1 << 20), b"\n" * (1 << 20), b"no lid\n" * 9_000, b"-----BEGIN PRIVATE KEY-----\n" * 3_000]
)
def test_what_is_held_of_a_log_does_not_grow_with_it(piece: bytes) -> None:
    scanner = Scanner([LID])
    automaton = scanner.automaton_for(PLACE, "x.log", "must-gather")
    assert automaton is not None
    search = LogScan(scanner, automaton)
    held = []
    for _ in range(8):
        search.feed(piece)
        held.append(len(search._buffer) + len(search._key_lines))
    assert max(held) <= 3 * MAX_LINE_BYTES
    assert max(held[4:]) <= max(held[:4])
