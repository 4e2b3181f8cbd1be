"""Masking piece by piece says what masking at once says, and no key slips through between two pieces."""

from __future__ import annotations

import base64
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.redact import mask_text, stream
from analyzer.redact.stream import masked

_RANDOM = random.Random(7)
_BYTES = base64.b64encode(_RANDOM.randbytes(1190)).decode()
BODY = [_BYTES[at : at + 64] for at in range(0, len(_BYTES), 64)]
BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
STAMP = "2026-03-01T10:00:00.123456789Z "


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def through(text: str, size: int) -> str:
    return "".join(masked(pieces(text, size)))


@pytest.mark.parametrize("size", [1, 13, 64, 65, 1000, 100_000])
@pytest.mark.parametrize("stamp", ["", STAMP, STAMP + "stderr F "])
@pytest.mark.parametrize(
    "lines", [[BEGIN, *BODY, END], [*BODY[5:], END], [BEGIN, *BODY[:-3]], [BEGIN, "Proc-Type: 4,ENCRYPTED", "", *BODY, END]]
)
def test_no_line_of_a_key_is_left(lines: list[str], stamp: str, size: int) -> None:
    text = "".join(f"{stamp}{line}\n" for line in ["starting", *lines, "the server listens, port 8443", "and goes on: well"])
    out = through(text, size)
    assert not [line for line in BODY if line in out]
    assert "[masked:private-key:" in out
    assert out.startswith(f"{stamp}starting\n")
    assert "the server listens, port 8443\n" in out
    assert out.endswith(f"{stamp}and goes on: well\n") or BEGIN in lines
    assert not [line for line in (BEGIN, END) if line in out]


def test_a_key_without_end_does_not_swallow_the_rest() -> None:
    text = f"cannot parse {BEGIN}\n" + "".join(f"line {number} of the rest\n" for number in range(50_000))
    out = through(text, 1 << 16)
    assert out.startswith("cannot parse ")
    assert out.count(" of the rest\n") == 50_000
    assert out.count("[masked:private-key:") == 1


def test_two_keys_in_a_row_without_the_first_ones_end() -> None:
    text = "\n".join([BEGIN, *BODY[:4], BEGIN, *BODY, END + BEGIN, *BODY, END, "done"])
    out = through(text, 50)
    assert not [line for line in BODY if line in out]
    assert out.count("[masked:private-key:") == 3
    assert out.endswith("\ndone")


def test_base64_that_is_no_key_stays() -> None:
    text = "".join(f"{line}\n" for line in BODY) + "that was the certificate\n"
    assert through(text, 70) == text
    assert through("".join(f"{line}\n" for line in BODY), 70) == "".join(f"{line}\n" for line in BODY)


def test_secrets_on_both_sides_of_every_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BATCH_CHARS", 4_000)
    monkeypatch.setattr(stream, "SEAM_CHARS", 500)
    line = 'level=info token=hvs.{0:040d} user="x"\npassword: |\n    first-{0:030d}\n    second-{0:030d}\nnext\n'
    text = "".join(line.format(number) for number in range(400))
    out = through(text, 333)
    assert out == mask_text(text)
    assert not [word for word in ("first-0", "second-0", "hvs.0") if word in out]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a word",
                "password=hunter2hunter2",
                "",
                "    deeper: 1",
                "token: |",
                "    abcdef0123456789abcd",
                "https://u:p@h/x?y=z",
                "é😀",
            ]
        ),
        max_size=300,
    ),
    st.integers(1, 200),
)
def test_pieces_make_no_difference(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    before = stream.BATCH_CHARS, stream.SEAM_CHARS
    stream.BATCH_CHARS, stream.SEAM_CHARS = 200, 400
    try:
        assert through(text, size) == mask_text(text)
    finally:
        stream.BATCH_CHARS, stream.SEAM_CHARS = before


def test_an_endless_line_is_read_in_linear_time() -> None:
    started = time.process_time()
    out = sum(len(piece) for piece in masked("x" * (1 << 16) for _ in range(320)))
    assert out == 320 << 16
    assert time.process_time() - started < 20


@pytest.mark.parametrize("stamp", ["", STAMP, STAMP + "stdout F ", "[pod/web-0/app] " + STAMP])
@pytest.mark.parametrize("around", [3, 300])
def test_times_before_the_lines_hide_nothing(stamp: str, around: int) -> None:
    quiet = [f"{number} goes on" for number in range(around)]
    lines = [*quiet, "api_key: short", "password: |", "  hunter2hunter2", "  hunter3hunter3", "kind: Secret", *quiet]
    out = through("".join(f"{stamp}{line}\n" for line in lines), 1 << 20).splitlines()
    assert len(out) == len(lines) - 2 or len(out) == len(lines) - 1
    assert not [line for line in out if "hunter" in line or "short" in line]
    assert [line for line in out if not line.startswith(stamp)] == []
    assert out[-around - 1 :] == [f"{stamp}{line}" for line in ("kind: Secret", *quiet)]


def test_a_block_of_very_many_lines_is_masked_in_linear_time() -> None:
    lines = ["first", "password: |", *["  hunter2hunter2"] * 60_000, "kind: Secret"]
    started = time.process_time()
    out = through("".join(f"{STAMP}{line}\n" for line in lines), 1 << 16)
    assert time.process_time() - started < 20
    assert "hunter" not in out
    assert out.startswith(f"{STAMP}first\n")
    assert out.endswith(f"{STAMP}kind: Secret\n")
