"""A small world for tests of the engine: packs written on the spot, and cases built in one connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer.engine import analysis, case_tables
from analyzer.engine.case_file import read_cases
from analyzer.engine.model import Report
from analyzer.engine.needs import needed_kinds
from analyzer.engine.pack import Pack, load_pack

RULE = """
severity: error
owner: workload
title: "{kind} {{{{ object.name }}}} is odd"
message: "It is odd, for {{{{ age }}}}."
next: ["kubectl describe {kind} {{{{ object.name }}}}"]
why: because
references: ["https://kubernetes.io/docs/"]
"""

Write = Callable[..., Pack]
Analyse = Callable[..., Report]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a pack: code → the rest of the rule as YAML; words and severity are filled in where they are not given."""

    def write(rules: dict[str, str], folder: str = "pack", *, trusted: bool = True) -> Pack:
        root = tmp_path / folder
        for code, text in rules.items():
            path = root / f"{code}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            given = {line.split(":", 1)[0] for line in text.splitlines() if line and not line[0].isspace()}
            rest = [line for line in RULE.format(kind="Pod").splitlines() if line.split(":", 1)[0] not in given]
            path.write_text("\n".join([f"code: {code}", *rest, text]), encoding="utf-8")
        return load_pack(root, trusted=trusted)

    return write


@pytest.fixture(scope="session")
def con() -> duckdb.DuckDBPyConnection:
    """The connection that cases are built in."""
    return case_tables.connection()


@pytest.fixture
def analyse(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> Analyse:
    """Builds one case (YAML without its expectations) and runs packs over it."""

    def analyse(case: str, *packs: Pack, **options: Any) -> Report:
        path = tmp_path / "case.yaml"
        lines = "\n".join(f"    {line}" for line in case.strip().splitlines())
        path.write_text(f"cases:\n  - name: x\n{lines}\n    expect: {{none: true}}\n", encoding="utf-8")
        case_tables.build(con, read_cases(path, "case.yaml")[0], needed_kinds(packs))
        return analysis.analyse(con, packs, **options)

    return analyse
