"""The tar reader beside the standard library's, and on cut and damaged archives."""

from __future__ import annotations

import contextlib
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.bundle.errors import BundleError, UnreadableError
from analyzer.bundle.paths import is_archive_name
from analyzer.bundle.tar import TarSource

from .opening_tools import COMPRESS, FORMATS, contents, listing, problems, special, tar_bytes

SLOW_FILES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
PARTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1, max_size=60)
NAMES = (
    st.lists(PARTS.filter(lambda part: part not in {".", ".."}), min_size=1, max_size=6)
    .map("/".join)
    .filter(lambda name: not is_archive_name(name))
)
MEMBERS = st.lists(st.tuples(NAMES, st.binary(max_size=2000)), min_size=1, max_size=8)
SAMPLE = [
    ("must-gather/version", b"sample\n"),
    ("must-gather/namespaces/shop/pods/" + "long-name-" * 20 + "/current.log", b"2026-01-01T00:00:00Z line\n" * 300),
    ("must-gather/empty.log", b""),
    ("must-gather/nodes.yaml", b"kind: NodeList\n" * 100),
]


@pytest.mark.parametrize("kind", ["gnu", "pax"])
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW_FILES)
@given(members=MEMBERS)
def test_reads_what_tarfile_reads(tmp_path: Path, kind: str, members: list[tuple[str, bytes]]) -> None:
    data = tar_bytes(members, FORMATS[kind])
    path = tmp_path / "bundle"
    path.write_bytes(data)
    expected = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for info in archive:
            stream = archive.extractfile(info)
            assert stream is not None
            expected[info.name] = stream.read()
    found, cut = contents(path)
    assert found == expected
    assert not cut
    assert listing(path).problem is None


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_flavour_and_compression(tmp_path: Path, kind: str, compression: str) -> None:
    members = [(f"{'folder/' * 20}{index}.yaml", bytes([index]) * index * 700) for index in range(20)]
    path = tmp_path / "named-like-nothing"
    path.write_bytes(COMPRESS[compression](tar_bytes(members, FORMATS[kind])))
    assert contents(path) == (dict(members), set())


def test_old_tar_without_magic(tmp_path: Path) -> None:
    block = bytearray(tar_bytes([("a.log", b"line\n")]))
    block[257:512] = bytes(255)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block[:512])
    (tmp_path / "bundle").write_bytes(block)
    assert contents(tmp_path / "bundle")[0] == {"a.log": b"line\n"}


def test_binary_size_and_signed_checksum(tmp_path: Path) -> None:
    block = bytearray(tar_bytes([("caf\xe9.log", b"line\n")]))
    block[124:136] = b"\x80" + (5).to_bytes(11, "big")
    block[148:156] = b" " * 8
    signed = sum(byte - 256 if byte > 127 else byte for byte in block[:512])
    block[148:156] = b"%06o\0 " % signed
    (tmp_path / "bundle").write_bytes(block)
    assert contents(tmp_path / "bundle")[0] == {"caf\xe9.log": b"line\n"}


def test_pax_overrides_size_and_global_headers_hold_for_all(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"comment": "x"}) as archive:
        info = tarfile.TarInfo("a.log")
        info.size = 5
        info.pax_headers = {"size": "5", "path": "b/renamed.log"}
        archive.addfile(info, io.BytesIO(b"line\n"))
    (tmp_path / "bundle").write_bytes(out.getvalue())
    assert contents(tmp_path / "bundle")[0] == {"b/renamed.log": b"line\n"}


def test_names_that_are_no_text_stay_apart(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        for name in ("\xe4.log", "\xf6.log"):
            info = tarfile.TarInfo(name)
            archive.addfile(info)
    (tmp_path / "bundle").write_bytes(out.getvalue())
    assert [entry.path for entry in listing(tmp_path / "bundle").entries] == ["\\xe4.log", "\\xf6.log"]


@pytest.mark.parametrize("compression", COMPRESS)
@settings(max_examples=80, deadline=None, suppress_health_check=SLOW_FILES)
@given(data=st.data())
def test_cut_anywhere_keeps_what_is_before(tmp_path: Path, compression: str, data: st.DataObject) -> None:
    whole = COMPRESS[compression](tar_bytes(SAMPLE))
    at = data.draw(st.integers(1, len(whole) - 1))
    path = tmp_path / "bundle"
    path.write_bytes(whole[:at])
    try:
        found, cut = contents(path)
    except BundleError:
        return
    expected = dict(SAMPLE)
    if path.name in found:  # too little is left to see that it is a tar
        return
    order = [name for name, _ in SAMPLE]
    assert list(found) == order[: len(found)]
    assert cut <= {order[len(found) - 1]}
    for name, text in found.items():
        assert expected[name].startswith(text)
        assert name in cut or text == expected[name]
    if set(found) != set(expected) or cut:
        problem = listing(path).problem
        assert problem is not None
        assert "byte" in problem.message


@pytest.mark.parametrize("compression", COMPRESS)
@settings(max_examples=120, deadline=None, suppress_health_check=SLOW_FILES)
@given(data=st.data())
def test_damage_anywhere_is_survived(tmp_path: Path, compression: str, data: st.DataObject) -> None:
    whole = bytearray(COMPRESS[compression](tar_bytes(SAMPLE)))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "bundle"
    path.write_bytes(whole)
    with contextlib.suppress(BundleError):
        contents(path)


def test_goes_on_behind_a_damaged_header(tmp_path: Path) -> None:
    data = bytearray(tar_bytes([("a.log", b"a" * 600), ("b.log", b"b"), ("c.log", b"c")]))
    data[512 + 1024 + 3] ^= 0xFF
    path = tmp_path / "bundle"
    path.write_bytes(data)
    assert set(contents(path)[0]) == {"a.log", "c.log"}
    problem = listing(path).problem
    assert problem is not None
    assert "header at byte 1,536 is damaged" in problem.message


def test_reading_stops_behind_the_last_wanted_entry(tmp_path: Path) -> None:
    path = tmp_path / "bundle"
    path.write_bytes(tar_bytes([(f"{index}.log", b"x" * 10) for index in range(5)]))
    file = path.open("rb")
    source = TarSource(file)
    names = []
    for member in source.members():
        names.append(member.path)
        assert source.open(member).read(4) == b"xxxx"
    assert names == [f"{index}.log" for index in range(5)]
    source.close()


def test_unsafe_members_are_listed_and_never_read(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in ("/etc/passwd", "a/../../b", "..", "./fine/./x.yaml", "fine//y.yaml"):
            info = tarfile.TarInfo(name)
            info.size = 2
            archive.addfile(info, io.BytesIO(b"ok"))
        archive.addfile(special("pipe", tarfile.FIFOTYPE))
        archive.addfile(special("disk", tarfile.BLKTYPE))
        archive.addfile(special("sparse", b"S"))
        archive.addfile(special("what", b"Z"))
        archive.addfile(special("folder", tarfile.DIRTYPE))
    path = tmp_path / "bundle"
    path.write_bytes(out.getvalue())
    assert contents(path)[0] == {"fine/x.yaml": b"ok", "fine/y.yaml": b"ok"}
    found = problems(path)
    assert set(found) == {"/etc/passwd", "a/../../b", "..", "pipe", "disk", "sparse", "what"}
    assert "absolute" in found["/etc/passwd"]
    assert "out of the bundle" in found["a/../../b"]
    assert "sparse" in found["sparse"]


def test_links_inside_count_once_and_others_are_named(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(special("top/by-name/app.log", tarfile.SYMTYPE, "../logs/real.log"))
        info = tarfile.TarInfo("top/logs/real.log")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"line\n"))
        archive.addfile(special("top/again", tarfile.SYMTYPE, "by-name"))
        archive.addfile(special("top/far", tarfile.SYMTYPE, "again/app.log"))
        archive.addfile(special("top/hard", tarfile.LNKTYPE, "./top/logs/real.log"))
        archive.addfile(special("out", tarfile.SYMTYPE, "../../etc/shadow"))
        archive.addfile(special("abs", tarfile.SYMTYPE, "/etc/shadow"))
        archive.addfile(special("loop-a", tarfile.SYMTYPE, "loop-b"))
        archive.addfile(special("loop-b", tarfile.SYMTYPE, "loop-a"))
        archive.addfile(special("gone", tarfile.SYMTYPE, "nowhere.log"))
        archive.addfile(special("hard-out", tarfile.LNKTYPE, "../x"))
        archive.addfile(special("hard-gone", tarfile.LNKTYPE, "x"))
    path = tmp_path / "bundle"
    path.write_bytes(out.getvalue())
    assert contents(path)[0] == {"top/logs/real.log": b"line\n"}
    found = problems(path)
    assert set(found) == {"out", "abs", "loop-a", "loop-b", "gone", "hard-out", "hard-gone"}
    assert found["out"] == found["abs"] == found["hard-out"] == "a link out of the bundle"
    assert "circle" in found["loop-a"]
    assert {(link.path, link.target) for link in listing(path).links} == {
        ("top/by-name/app.log", "top/logs/real.log"),
        ("top/far", "top/logs/real.log"),
        ("top/hard", "top/logs/real.log"),
        ("top/again", "top/by-name"),
    }


def test_the_later_of_two_members_counts(tmp_path: Path) -> None:
    path = tmp_path / "bundle"
    path.write_bytes(tar_bytes([("./a.log", b"old"), ("b.log", b"b"), ("a.log", b"new")]))
    entries = listing(path).entries
    assert [entry.path for entry in entries] == ["a.log", "b.log", "a.log"]
    assert "replaced" in (entries[0].problem or "")
    assert contents(path)[0] == {"a.log": b"new", "b.log": b"b"}


def test_a_size_that_is_a_lie_allocates_nothing(tmp_path: Path) -> None:
    block = bytearray(tar_bytes([("a.log", b"line\n")]))
    block[124:136] = b"%011o\0" % (1 << 32)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block[:512])
    path = tmp_path / "bundle"
    path.write_bytes(block)
    found, cut = contents(path)
    assert cut == {"a.log"}
    assert found["a.log"].startswith(b"line\n")
    assert "cut" in str(listing(path).problem)


@pytest.mark.parametrize("compression", COMPRESS)
def test_an_archive_behind_the_end_is_told(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "bundle"
    path.write_bytes(COMPRESS[compression](tar_bytes(SAMPLE)) + COMPRESS[compression](tar_bytes([("b.log", b"line\n")])))
    assert "b.log" not in contents(path)[0]
    assert "another archive begins" in str(listing(path).problem)


@pytest.mark.parametrize("compression", COMPRESS)
def test_an_empty_archive_is_unreadable(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "bundle.tar.gz"
    path.write_bytes(COMPRESS[compression](tar_bytes([])))
    with pytest.raises(UnreadableError, match="empty"):
        listing(path)
