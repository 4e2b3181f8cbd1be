from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analyzer.collect import run
from analyzer.collect.archive import FOLDER
from analyzer.collect.connect import Identity
from analyzer.collect.logs import LogLimits
from tests.program import said

from .mock import Cluster, kubeconfig

OPTIONS = run.Options(
    identity=Identity(),
    namespaces=None,
    include=(),
    secret_keys=False,
    logs=LogLimits(None, 1 << 20, 1 << 24),
    request_timeout=10.0,
    total_timeout=60.0,
    rate=500.0,
    threads=4,
    compression="gzip",
)


class Collected:
    """A bundle that was collected in a test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = path.read_bytes()
        if path.name.endswith(".zst"):
            import zstandard

            data = zstandard.ZstdDecompressor().stream_reader(data).read()
        self.files: dict[str, bytes] = {}
        self.order: list[str] = []
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            self.infos = tar.getmembers()
            for info in self.infos:
                file = tar.extractfile(info)
                assert file is not None
                name = info.name.removeprefix(f"{FOLDER}/")
                assert name not in self.files
                self.order.append(name)
                self.files[name] = file.read()
        self.manifest: dict[str, Any] = json.loads(self.files["triage-manifest.json"])

    def items(self, path: str) -> list[dict[str, Any]]:
        """The objects of a list, which stand one a line."""
        value = json.loads(self.files[path])
        lines = self.files[path].count(b"\n")
        assert lines == (len(value["items"]) + 2 if value["items"] else 1)
        found: list[dict[str, Any]] = value["items"]
        return found

    def request(self, resource: str, group: str = "", namespace: str | None = None) -> dict[str, Any]:
        """The manifest's entry of a list."""
        found = [
            entry
            for entry in self.manifest["requests"]
            if (entry["resource"], entry["group"]) == (resource, group) and namespace in {None, entry["namespace"]}
        ]
        assert len(found) == 1, found
        entry: dict[str, Any] = found[0]
        return entry

    def left_out(self, what: str) -> int:
        """How many of something were left out."""
        return sum(entry["count"] for entry in self.manifest["leftOut"] if entry["what"] == what)


Collect = Callable[..., Collected]


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_STATE_HOME", "USERPROFILE", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    for name in ("KUBECONFIG", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def collect(tmp_path: Path) -> Collect:
    """Collects a running cluster in this process, with options changed by keyword."""
    number = iter(range(1000))

    def doing(cluster: Cluster, **changes: Any) -> Collected:
        identity = replace(changes.pop("identity", Identity()), kubeconfig=cluster.kubeconfig(tmp_path))
        ending = ".tar.zst" if changes.get("compression") == "zstd" else ".tar.gz"
        target = tmp_path / f"bundle-{next(number)}{ending}"
        options = replace(OPTIONS, identity=identity, **changes)
        result = run.collect(options, target, lambda _: None, lambda *_: None)
        assert result.path == target
        return Collected(target)

    return doing


def triage(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the program."""
    return said(*arguments, here=cwd)


__all__ = ["OPTIONS", "Collect", "Collected", "kubeconfig", "triage"]
