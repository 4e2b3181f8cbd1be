"""Folders, single files, nested archives, bombs, and what is refused at once."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import pickle
import random
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzer.bundle import compression, containers, limits, sources
from analyzer.bundle.compression import decompressed
from analyzer.bundle.containers import open_container, sha256_of
from analyzer.bundle.errors import CutEntry, UnreadableError, UsageError
from analyzer.bundle.streams import EntryStream, read_all

from .opening_tools import COMPRESS, contents, listing, problems, special, tar_bytes
from .test_opening_zip import zip_bytes

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


# --- folders --------------------------------------------------------------------------------------------------------


def test_a_folder_is_listed_by_name(tmp_path: Path) -> None:
    files = {"b.log": b"b", "a/z.yaml": b"z", "a/b/c.yaml": b"c", "._x": b"\0", "c d/\u044f.log": b""}
    write(tmp_path, files)
    assert contents(tmp_path) == (files, set())
    assert [entry.path for entry in listing(tmp_path).entries] == ["._x", "a/b/c.yaml", "a/z.yaml", "b.log", "c d/\u044f.log"]


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
def test_links_and_pipes_in_a_folder(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret": b"s"})
    root = write(tmp_path / "root", {"logs/real.log": b"line\n"})
    (root / "by-name").symlink_to("logs/real.log")
    (root / "by-folder").symlink_to("logs")
    (root / "self").symlink_to(".")
    (root / "logs" / "up").symlink_to("..")
    (root / "out").symlink_to(outside / "secret")
    (root / "out-folder").symlink_to(outside)
    (root / "gone").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    assert contents(root) == ({"logs/real.log": b"line\n"}, set())
    found = problems(root)
    assert set(found) == {"out", "out-folder", "gone", "loop", "pipe"}
    assert found["out"] == found["out-folder"] == "a link out of the bundle"
    assert ("by-name", "logs/real.log") in [(link.path, link.target) for link in listing(root).links]


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.log": b"line\n"})
    secret = write(tmp_path, {"secret": b"secret"}) / "secret"
    container = open_container(root)
    assert len(container.listing().entries) == 1
    for _, stream in container.read([0]):
        assert stream.read() == b"line\n"
    (root / "a.log").unlink()
    (root / "a.log").symlink_to(secret)
    for _, stream in container.read([0]):
        with pytest.raises(CutEntry):
            stream.read()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextlib.contextmanager
def _without_rights() -> Iterator[None]:
    """Root may read everything: for a moment this process is nobody."""
    if not ROOT:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_what_may_not_be_read_is_named(open_folder: Path) -> None:
    root = write(open_folder / "root", {"a.log": b"a", "closed/b.log": b"b", "c.log": b"c"})
    (root / "closed").chmod(0)
    (root / "c.log").chmod(0)
    try:
        with _without_rights():
            assert contents(root) == ({"a.log": b"a", "c.log": b""}, {"c.log"})
            assert "Permission" in problems(root)["closed/"]
    finally:
        (root / "closed").chmod(0o700)


def test_an_empty_folder_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(UnreadableError, match="the folder is empty"):
        listing(tmp_path)


# --- single files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"\x89PNG\r\n\x1a\n", random.Random(1).randbytes(5000), b"kind: Pod\n", b"{"])
def test_a_single_file_is_its_own_entry(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "given.tar.gz"
    path.write_bytes(data)
    assert contents(path) == ({"given.tar.gz": data}, set())


@pytest.mark.parametrize("name", [name for name in COMPRESS if name != "plain"])
def test_a_single_compressed_file(tmp_path: Path, name: str) -> None:
    text = b"2026-01-01T00:00:00Z a line\n" * 40_000
    packed = COMPRESS[name](text)
    path = tmp_path / "app.log.gz"
    path.write_bytes(packed)
    assert contents(path) == ({"app.log.gz": text}, set())
    assert listing(path).entries[0].size == len(packed)
    path.write_bytes(packed[:-6])
    found, cut = contents(path)
    assert cut == {"app.log.gz"}
    assert text.startswith(found["app.log.gz"])


def test_members_in_a_row_padding_and_junk() -> None:
    for name, pack in COMPRESS.items():
        if name == "plain":
            continue
        packed = pack(b"one ") + pack(b"") + pack(b"two ") + bytes(512) + pack(b"three") + b"junk at the end"
        assert read_all(decompressed(io.BytesIO(packed)), 100) == (b"one two three", None)


def test_decompressed_gives_plain_text_as_it_is() -> None:
    for text in (b"", b"short", b"longer than any head of a format\n"):
        assert decompressed(io.BytesIO(text)).read() == text


def test_decompressed_tells_a_cut_of_the_entry_itself() -> None:
    packed = gzip.compress(random.Random(2).randbytes(100_000))
    stream = EntryStream(io.BytesIO(packed[:50_000]).read, len(packed))
    data, problem = read_all(decompressed(stream), 1 << 20)
    assert 40_000 < len(data) < 60_000
    assert problem is not None
    assert problem.startswith("cut: it ends after 50,000 of")
    plain = EntryStream(io.BytesIO(b"plain text").read, 100)
    assert read_all(decompressed(plain), 1 << 20)[0] == b"plain text"
    assert read_all(decompressed(EntryStream(io.BytesIO(b"plain text").read, 100)), 1 << 20)[1] is not None


@pytest.mark.parametrize("name", ["gzip", "xz"])
def test_damage_costs_only_what_lies_behind_it(name: str) -> None:
    rng = random.Random(3)
    text = b"".join(b"line %d %s\n" % (number, rng.randbytes(6).hex().encode()) for number in range(20_000))
    packed = bytearray(COMPRESS[name](text))
    at = len(packed) // 2
    packed[at : at + 8] = bytes(8)
    data, problem = read_all(decompressed(io.BytesIO(bytes(packed))), 1 << 24)
    assert problem is not None
    assert problem.startswith("damaged")
    # Before the damage everything is right; it may only be noticed later, by the checksum.
    assert data[: len(text) // 3] == text[: len(text) // 3]


def test_read_all_has_a_limit() -> None:
    assert read_all(io.BytesIO(b"12345"), 5) == (b"12345", None)
    data, problem = read_all(io.BytesIO(b"123456"), 5)
    assert data == b"12345"
    assert problem == "it is larger than 5 bytes"


# --- bombs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in COMPRESS if name != "plain"])
def test_a_compressed_bomb_ends_at_the_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for module in (compression, sources):
        monkeypatch.setattr(module, "RATIO_FLOOR_BYTES", limits.MIB)
    path = tmp_path / "bomb.gz"
    path.write_bytes(COMPRESS[name](bytes(12 * limits.MIB)))
    found, cut = contents(path)
    assert cut == {"bomb.gz"}
    assert len(found["bomb.gz"]) < 12 * limits.MIB
    inner = tar_bytes([("a.log", b"line\n"), ("zeros", bytes(12 * limits.MIB))])
    path.write_bytes(COMPRESS[name](inner))
    found, cut = contents(path)
    assert found["a.log"] == b"line\n"
    assert cut == {"zeros"}
    assert "times its size" in str(listing(path).problem)


def test_bombs_in_bombs_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "RATIO_FLOOR_BYTES", 16 * limits.MIB)
    one = gzip.compress(tar_bytes([("zeros", bytes(8 * limits.MIB))]))
    path = tmp_path / "bundle.tar"
    path.write_bytes(tar_bytes([("first.log", b"line\n"), *((f"{index}.tar.gz", one) for index in range(50))]))
    entries = listing(path).entries
    assert len(entries) < 50
    assert entries[0].path == "first.log"
    assert "times its size" in str(listing(path).problem)


def test_too_many_entries_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bundle"
    path.write_bytes(tar_bytes([(f"{index}.log", b"") for index in range(20)]))
    monkeypatch.setattr(sources, "MAX_ENTRIES", 7)
    assert len(listing(path).entries) == 7
    assert "more than 7 entries" in str(listing(path).problem)
    monkeypatch.undo()
    monkeypatch.setattr(sources, "MAX_NAMES_CHARS", 20)
    assert "names" in str(listing(path).problem)


def test_a_zstd_window_is_bounded(tmp_path: Path) -> None:
    import zstandard

    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=30)
    path = tmp_path / "a.zst"
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(packer.compress(b"line\n" * 1000) + packer.flush())
    assert contents(path) == ({"a.zst": b""}, {"a.zst"})


# --- archives in archives -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outer", ["folder", "tar", "zip"])
def test_nested_archives_are_listed_behind_their_own_entry(tmp_path: Path, outer: str) -> None:
    inner = gzip.compress(tar_bytes([("x/a.log", b"line\n"), ("../up", b"")]))
    files = {
        "a.yaml": b"kind: Pod\n",
        "n/in.tar.gz": inner,
        "n/in.zip": zip_bytes({"z.log": b"z"}),
        "n/old.log.gz": gzip.compress(b"old"),
        "z.yaml": b"z",
    }
    path = tmp_path / "bundle"
    if outer == "folder":
        write(path, files)
    elif outer == "tar":
        path.write_bytes(tar_bytes(list(files.items())))
    else:
        path.write_bytes(zip_bytes(files))
    assert [entry.path for entry in listing(path).entries] == [
        "a.yaml",
        "n/in.tar.gz",
        "n/in.tar.gz!/x/a.log",
        "n/in.tar.gz!/../up",
        "n/in.zip",
        "n/in.zip!/z.log",
        "n/old.log.gz",
        "z.yaml",
    ]
    found, cut = contents(path)
    assert not cut
    assert found == files | {"n/in.tar.gz!/x/a.log": b"line\n", "n/in.zip!/z.log": b"z"}
    for index, stream in open_container(path).read([2, 7]):
        assert stream.read() == {2: b"line\n", 7: b"z"}[index]


def test_nested_archives_have_a_depth_and_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tar_bytes([("deep.log", b"line\n")])
    for depth in range(4):
        data = tar_bytes([(f"{depth}.tar", data), (f"{depth}.log", b"")])
    path = tmp_path / "bundle"
    path.write_bytes(data)
    paths = [entry.path for entry in listing(path).entries]
    assert paths == ["3.tar", "3.tar!/2.tar", "3.tar!/2.tar!/1.tar", "3.tar!/2.tar!/1.log", "3.tar!/2.log", "3.log"]
    assert problems(path) == {"3.tar!/2.tar!/1.tar": "archives are nested deeper than 2"}
    monkeypatch.setattr(containers, "MAX_NESTED_BYTES", 100)
    assert "nested archive of more than 100 bytes" in problems(path)["3.tar"]


def test_a_nested_archive_that_is_damaged_keeps_its_problem(tmp_path: Path) -> None:
    inner = gzip.compress(tar_bytes([("a.log", b"line\n"), ("b.log", random.Random(3).randbytes(9000))]))
    files = {"cut.tgz": inner[:-3000], "none.zip": b"<html>", "fine.log": b"f", "empty.tar": tar_bytes([])}
    path = tmp_path / "bundle"
    path.write_bytes(tar_bytes(list(files.items())))
    found, cut = contents(path)
    assert found["cut.tgz!/a.log"] == b"line\n"
    assert cut == {"cut.tgz!/b.log"}
    refused = problems(path)
    assert set(refused) == {"cut.tgz", "none.zip"}
    assert "ends early" in refused["cut.tgz"]
    assert "named like an archive" in refused["none.zip"]


def test_a_nested_archive_larger_than_memory_is_spooled_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "NESTED_MEMORY_BYTES", 1000)
    path = tmp_path / "bundle"
    path.write_bytes(tar_bytes([("in.tar", tar_bytes([("a.log", b"line\n")]))]))
    assert contents(path)[0]["in.tar!/a.log"] == b"line\n"


def test_no_room_for_a_nested_archive_costs_that_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def __init__(self, _: int) -> None:
            super().__init__()

        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Full)
    path = tmp_path / "bundle"
    path.write_bytes(tar_bytes([("in.tar", tar_bytes([("a.log", b"line\n")])), ("b.log", b"b")]))
    assert contents(path)[0] == {"b.log": b"b"}
    assert problems(path)["in.tar"].endswith("No space left on device")


# --- refused at once ------------------------------------------------------------------------------------------------


def test_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        open_container(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no such file or folder"):
        sha256_of(tmp_path / "nowhere")
    if os.name != "nt":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UsageError, match="neither a file nor a folder"):
            open_container(tmp_path / "pipe")
        if not ROOT:
            (tmp_path / "closed").write_bytes(b"x")
            (tmp_path / "closed").chmod(0)
            with pytest.raises(UsageError, match="Permission denied"):
                open_container(tmp_path / "closed")


def test_files_that_hold_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar.gz"
    path.write_bytes(b"")
    with pytest.raises(UnreadableError, match="empty"):
        open_container(path)
    path.write_bytes(b"7z\xbc\xaf\x27\x1c\0\4")
    with pytest.raises(UnreadableError, match="7-Zip"):
        open_container(path)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(special("pipe", tarfile.FIFOTYPE))
    path.write_bytes(lzma.compress(out.getvalue()))
    with pytest.raises(UnreadableError, match="named pipe"):
        listing(path)


def test_a_container_travels_to_another_process(tmp_path: Path) -> None:
    path = tmp_path / "bundle"
    path.write_bytes(tar_bytes([("a.log", b"line\n")]))
    container = pickle.loads(pickle.dumps(open_container(path)))
    assert [stream.read() for _, stream in container.read([0])] == [b"line\n"]


@pytest.mark.skipif(os.name == "nt", reason="names of POSIX")
def test_odd_names_of_the_input_itself(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        open_container(tmp_path / "a\nb\x1b[31m")
    assert "a\\x0ab\\x1b[31m" in str(caught.value)
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.yaml"))
    path.write_bytes(b"kind: Pod\n")
    assert contents(path)[0] == {"caf\\xe9.yaml": b"kind: Pod\n"}


def test_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256_of(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.corpus
def test_real_archives_read_without_a_problem(corpus: Path) -> None:
    for path in sorted(corpus.glob("*.tar.*")):
        found = listing(path)
        assert found.problem is None, path.name
        assert all(entry.problem is None for entry in found.entries), path.name
