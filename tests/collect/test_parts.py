"""The parts that need no cluster: the spool, the tarball, the pace, the key of the placeholders."""

from __future__ import annotations

import io
import json
import tarfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.collect import archive, parallel
from analyzer.collect.api import network_words, path_of
from analyzer.collect.errors import RequestError, Stopped, words
from analyzer.collect.identity import placeholder_key
from analyzer.collect.pace import Pace
from analyzer.collect.spool import Spool

NAMES = st.text("abc-", min_size=1, max_size=3)


def line(namespace: str, name: str) -> tuple[str, str, bytes]:
    return namespace, name, json.dumps({"metadata": {"namespace": namespace, "name": name}}).encode()


@given(st.lists(st.tuples(NAMES, NAMES), max_size=40), st.integers(1, 7))
def test_a_spool_gives_back_each_namespace_by_name(
    tmp_path_factory: pytest.TempPathFactory, objects: list[tuple[str, str]], page: int
) -> None:
    spool = Spool(tmp_path_factory.mktemp("spool") / "0")
    for start in range(0, len(objects), page):
        spool.add([line(*one) for one in objects[start : start + page]])
    spool.seal()
    assert spool.objects == len(objects)
    assert set(spool.namespaces) == {namespace for namespace, _ in objects}
    for namespace in spool.namespaces:
        text = b"".join(spool.read(namespace))
        assert len(text) == spool.size(namespace)
        found = [entry["metadata"]["name"] for entry in json.loads(b"[" + text + b"]")]
        assert found == sorted(name for other, name in objects if other == namespace)


def test_a_spool_that_is_sealed_or_cleared(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "0")
    spool.add([line("a", "x")])
    spool.clear()
    spool.add([line("a", "y")])
    spool.seal()
    spool.add([line("a", "z")])
    assert spool.objects == 1
    assert b"".join(spool.read("a")) == line("a", "y")[2]


def test_a_spool_that_was_cut_is_noticed(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "0")
    spool.add([line("a", "x"), line("a", "y")])
    spool.seal()
    spool.path.write_bytes(spool.path.read_bytes()[:20])
    with pytest.raises(OSError, match="was cut by somebody else"):
        list(spool.read("a"))


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
@pytest.mark.parametrize("size", [2, 4])
def test_a_bundle_that_fails_leaves_nothing(tmp_path: Path, compression: str, size: int) -> None:
    target = tmp_path / "folder" / "x.tar.gz"
    target.parent.mkdir()
    target.write_bytes(b"old")

    def write() -> None:
        with archive.writing(target, compression) as bundle:
            bundle.add("good", 3, [b"abc"])
            bundle.add("of another size", size, [b"abc"])

    with pytest.raises(OSError, match=r"changed by somebody else|unexpected end of data"):
        write()
    assert [path.name for path in target.parent.iterdir()] == ["x.tar.gz"]
    assert target.read_bytes() == b"old"


@given(st.lists(st.binary(max_size=5000), max_size=8))
def test_members_hold_what_they_were_given(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    target = tmp_path_factory.mktemp("tar") / "x.tar.gz"
    whole = b"".join(pieces)
    with archive.writing(target, "gzip") as bundle:
        bundle.add("some/file", len(whole), [piece for piece in pieces if piece])
    with tarfile.open(fileobj=io.BytesIO(target.read_bytes()), mode="r:gz") as tar:
        file = tar.extractfile("triage-bundle/some/file")
        assert file is not None
        assert file.read() == whole


@given(st.text(max_size=300))
def test_a_part_of_a_path_is_one(text: str) -> None:
    found = archive.part(text)
    assert found not in {"", ".", ".."}
    assert not set(found) & set("/\\\0\n")
    assert len(found.encode()) < 255 or len(text) > 60


def test_pace_limits_the_rate() -> None:
    pace = Pace(rate=50, burst=5, total=60)
    begin = time.monotonic()
    for _ in range(15):
        pace.turn()
    assert 0.15 <= time.monotonic() - begin < 30


def test_pace_ends() -> None:
    pace = Pace(rate=1, burst=1, total=0.05)
    pace.turn()
    with pytest.raises(Stopped):
        pace.turn()
    assert pace.reason == "the total time-out of 0.05 s"
    pace.stop("later")
    assert pace.reason == "the total time-out of 0.05 s"


def test_threads_that_hang_do_not_keep_the_program() -> None:
    pace = Pace(rate=1000, burst=10, total=60)
    hang = threading.Event()
    tasks = [lambda: "done", lambda: (hang.wait(60) and "") or "", lambda: "done too"]
    found = []
    begin = time.monotonic()
    for done in parallel.run(tasks, 2, pace):
        if done is not None:
            found.append(done.value)
        if len(found) == 2:
            pace.stop("enough")
    hang.set()
    assert found == ["done", "done too"]
    assert time.monotonic() - begin < 50


def test_an_error_of_a_task_is_handed_over() -> None:
    def broken() -> None:
        raise ValueError("x")

    done = [one for one in parallel.run([broken], 1, Pace(1000, 10, 60)) if one is not None]
    assert [type(one.error) for one in done] == [ValueError]


def test_the_key_stays_and_differs_between_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert placeholder_key("a") == placeholder_key("a") != placeholder_key("b")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.stat().st_mode & 0o777 for path in files] == [0o600]
    files[0].write_bytes(b"short")
    assert placeholder_key("a") != placeholder_key("a")
    monkeypatch.setenv("XDG_STATE_HOME", str(files[0]))
    assert len(placeholder_key(None)) == 32


def test_paths_are_quoted() -> None:
    assert path_of("", "v1", "pods") == "/api/v1/pods"
    assert path_of("apps", "v1", "deployments", "a/../b") == "/apis/apps/v1/namespaces/a%2F..%2Fb/deployments"


def test_words_are_one_masked_line() -> None:
    assert words("a\n b\tpassword=hunter22hunter").startswith("a b password=[masked:password:")
    assert len(words("x" * 10_000)) == 300
    assert RequestError("failed", 500, "a\nb").message == "a b"
    assert network_words(ConnectionRefusedError(111, "Connection refused")) == "Connection refused"
