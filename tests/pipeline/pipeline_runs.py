"""`triage analyze` as a process, and what it leaves: the report and the database."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import duckdb

from tests.program import triage

from . import pipeline_trees as trees


def run(folder: Path, *args: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    kept = folder.with_name(f"{folder.name}-run")
    kept.mkdir(exist_ok=True)
    return triage(["analyze", *args, "-o", "out", "--format", "json", "--jobs", "1"], folder, kept, data)


class Case:
    """What `triage analyze` makes of some inputs."""

    def __init__(self, folder: Path, *inputs: trees.Files, args: tuple[str, ...] = ()) -> None:
        names = [f"in{number}" for number in range(len(inputs))]
        for name, files in zip(names, inputs, strict=True):
            trees.write(folder / name, files)
        done = run(folder, *names, *args)
        assert (done.returncode, done.stderr) == (0, b"")
        self.report: dict[str, Any] = json.loads((folder / "out" / "report.json").read_bytes())
        self._database = folder / "out" / "bundle.duckdb"

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self._database), read_only=True) as con:
            return con.execute(query).fetchall()

    def kind(self, kind: str) -> dict[str, Any]:
        return next(one for one in self.report["coverage"]["kinds"] if one["kind"] == kind)

    def codes(self) -> set[tuple[str, str]]:
        return {(one["code"], one["object"]["name"]) for one in self.report["findings"] if one["severity"] != "info"}
