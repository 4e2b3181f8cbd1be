"""Zips: by their table of contents, without one, and hostile."""

from __future__ import annotations

import contextlib
import io
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.bundle import limits, zips
from analyzer.bundle.errors import BundleError, UnreadableError

from .opening_tools import contents, listing, problems

SLOW_FILES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
SAMPLE = {"top/a.yaml": b"kind: Pod\n" * 200, "top/b.log": b"", "top/c.log": b"line\n" * 5000}


class Unseekable(io.BytesIO):
    """Makes zipfile write sizes behind the data, as programs that stream do."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise OSError

    def tell(self) -> int:
        raise OSError


def zip_bytes(members: dict[str, bytes], *, streamed: bool = False, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.mkdir("top") if not streamed else None
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def encrypted(data: bytes) -> bytes:
    """The same zip with the flag of encryption set on every entry."""
    changed = bytearray(data)
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = changed.find(magic)
        while at >= 0:
            changed[at + offset] |= 1
            at = changed.find(magic, at + 4)
    return bytes(changed)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_reads_all_entries(tmp_path: Path, streamed: bool, method: int) -> None:
    path = tmp_path / "bundle"
    path.write_bytes(zip_bytes(SAMPLE, streamed=streamed, method=method))
    assert contents(path) == (SAMPLE, set())
    assert listing(path).problem is None


@pytest.mark.parametrize("streamed", [False, True])
@settings(max_examples=100, deadline=None, suppress_health_check=SLOW_FILES)
@given(data=st.data())
def test_cut_anywhere_keeps_what_is_before(tmp_path: Path, streamed: bool, data: st.DataObject) -> None:
    whole = zip_bytes(SAMPLE, streamed=streamed)
    path = tmp_path / "bundle"
    path.write_bytes(whole[: data.draw(st.integers(1, len(whole) - 1))])
    try:
        found, cut = contents(path)
    except BundleError:
        return
    if path.name in found:
        return
    for name, text in found.items():
        assert SAMPLE[name].startswith(text)
        assert name in cut or text == SAMPLE[name]
    assert listing(path).problem is not None


def test_a_cut_table_of_contents_costs_nothing_but_itself(tmp_path: Path) -> None:
    for streamed in (False, True):
        whole = zip_bytes(SAMPLE, streamed=streamed)
        path = tmp_path / "bundle"
        path.write_bytes(whole[: whole.index(b"PK\x01\x02") + 10])
        assert contents(path) == (SAMPLE, set())


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW_FILES)
@given(data=st.data())
def test_damage_anywhere_is_survived(tmp_path: Path, data: st.DataObject) -> None:
    whole = bytearray(zip_bytes(SAMPLE, streamed=data.draw(st.booleans())))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "bundle"
    path.write_bytes(whole)
    with contextlib.suppress(BundleError):
        contents(path)


def test_encrypted_is_said(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(encrypted(zip_bytes(SAMPLE)))
    with pytest.raises(UnreadableError, match="encrypted"):
        listing(path)
    path.write_bytes(encrypted(zip_bytes(SAMPLE))[:-30])
    with pytest.raises(UnreadableError):
        listing(path)


def test_one_encrypted_entry_leaves_the_others(tmp_path: Path) -> None:
    data = bytearray(zip_bytes(SAMPLE))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "bundle.zip"
    path.write_bytes(data)
    assert problems(path) == {"top/c.log": "encrypted"}
    assert set(contents(path)[0]) == {"top/a.yaml", "top/b.log"}


def test_unsafe_names_links_and_methods(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../up.yaml", "x")
        archive.writestr("/abs.yaml", "x")
        archive.writestr("ok/real.log", "line\n")
        for name, target in (("ok/link.log", "real.log"), ("bad.log", "../../etc/shadow")):
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, target)
        archive.writestr("odd.log", "x", compress_type=zipfile.ZIP_LZMA)
        windows = zipfile.ZipInfo("win\\dows.log")
        windows.filename = "win\\dows.log"
        windows.create_system = 0
        archive.writestr(windows, "w")
    assert set(problems(path)) == {"../up.yaml", "/abs.yaml", "bad.log", "odd.log"}
    assert contents(path)[0] == {"ok/real.log": b"line\n", "win/dows.log": b"w"}
    assert [(link.path, link.target) for link in listing(path).links] == [("ok/link.log", "ok/real.log")]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_later_of_two_entries_counts(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.log", "old")
        archive.writestr("a.log", "new")
    assert contents(path)[0] == {"a.log": b"new"}
    assert "replaced" in problems(path)["a.log"]


def test_a_bomb_is_not_unfolded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "RATIO_FLOOR_BYTES", limits.MIB)
    path = tmp_path / "bundle.zip"
    path.write_bytes(zip_bytes({"top/fine.log": b"line\n", "top/bomb.log": bytes(8 * limits.MIB)}))
    assert contents(path)[0] == {"top/fine.log": b"line\n"}
    assert "times its size" in problems(path)["top/bomb.log"]


def test_a_huge_table_of_contents_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MAX_ZIP_DIRECTORY_BYTES", 100)
    path = tmp_path / "bundle.zip"
    path.write_bytes(zip_bytes(SAMPLE))
    assert contents(path)[0] == SAMPLE
    assert "table of contents" in str(listing(path).problem)


def test_an_empty_zip_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w"):
        pass
    with pytest.raises(UnreadableError, match="empty"):
        listing(path)
