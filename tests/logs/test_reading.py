"""Blocks in a file, the spool, and the text that is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.logs.model import Log
from analyzer.logs.originals import Original
from analyzer.logs.reread import reread
from analyzer.logs.spool import MIN_BUFFER_BYTES, Spool
from analyzer.logs.text import PIECE_BYTES, shown


def block(log_id: int, first_line: int, text: bytes, path: str = "logs.txt") -> Log:
    return Log(log_id, "current", 0, path, 0, 0, False, first_line, len(text), text.count(b"\n"), None, "")


def test_blocks_of_one_file_are_told_apart(tmp_path: Path) -> None:
    texts = [b"one\ntwo\n", b"", b"a line without an end", b"x" * 3_000_000 + b"\nlast\n"]
    data, line, logs = b"", 1, []
    for number, text in enumerate(texts):
        head = b"==== START %d ====\n" % number
        data, line = data + head, line + 1
        logs.append(block(number, line, text))
        data += text + b"\n==== END ====\n"
        line += text.count(b"\n") + 2
    file = tmp_path / "logs.txt"
    file.write_bytes(data)
    problems: list[str] = []
    got = {
        log.log_id: b"".join(chunks)
        for log, chunks in reread(Original(file), reversed(logs), lambda _log, words: problems.append(words))
    }
    assert got == dict(enumerate(texts))
    assert problems == []


def test_a_block_behind_the_end_of_the_file_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "logs.txt"
    file.write_bytes(b"only\n")
    got = [b"".join(chunks) for _, chunks in reread(Original(file), [block(0, 900, b"gone")], lambda _log, _words: None)]
    assert got == [b""]


def test_a_file_that_went_away_meanwhile_is_told(tmp_path: Path) -> None:
    problems: list[str] = []
    got = list(reread(Original(tmp_path / "gone"), [block(0, 1, b"x")], lambda _log, words: problems.append(words)))
    assert got == []
    assert "no such file" in problems[0]


def test_the_spool_gives_each_log_back_line_by_line(tmp_path: Path) -> None:
    long = "é" * MIN_BUFFER_BYTES
    with Spool(tmp_path) as spool:
        one = spool.add(["first\nse", "cond\n", long, "\nlast"])
        two = spool.add([])
        three = spool.add(["other\n"])
        # As if a great many logs were merged: the smallest buffer.
        ones = list(spool.lines(one, 10**6))
        assert b"".join(ones).decode() == f"first\nsecond\n{long}\nlast\n"
        assert ones[:2] == [b"first\n", b"second\n"]
        assert list(spool.lines(two, 1)) == []
        assert list(spool.lines(three, 1)) == [b"other\n"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 3, 1000, 1 << 20])
def test_no_character_and_no_escape_is_torn(size: int) -> None:
    data = "é😀\x1b[31mred\x1b[0m\r\n".encode() * 300
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert "".join(shown(chunks)) == "é😀red\n" * 300


def test_an_endless_line_is_passed_on_in_pieces() -> None:
    data = "é".encode() * PIECE_BYTES
    pieces = list(shown([data, data, b" word " * PIECE_BYTES]))
    assert "".join(pieces) == "é" * 2 * PIECE_BYTES + " word " * PIECE_BYTES
    assert len(pieces) > 1
