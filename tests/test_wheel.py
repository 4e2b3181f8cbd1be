"""The wheel carries rules and templates and behaves like the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHONPATH", "VIRTUAL_ENV"))}
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=300, check=False, env=environment
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    done = _run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    if done.returncode:
        pytest.skip(f"the wheel's build backend cannot be had here (no index, no wheelhouse): {done.stderr.strip()[-200:]}")
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `triage` of a fresh environment with only the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    done = _run(scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    if done.returncode:
        pytest.skip(f"the dependencies cannot be had here (no index, no wheelhouse): {done.stderr.strip()[-200:]}")
    return scripts / "triage"


def test_the_wheel_holds_rules_and_templates_and_no_second_top_level_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    rules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "rules").rglob("*.yaml")}
    assert {f"analyzer/{name}" for name in rules} <= set(names)
    assert any(name.startswith("analyzer/reports/") for name in names)
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"analyzer"}


def test_the_installed_wheel_says_what_the_checkout_says(installed: Path, tmp_path: Path) -> None:
    sample = ROOT / "samples" / "gpu-cluster"
    reports = []
    for name, command in (("wheel", [installed]), ("checkout", [sys.executable, "-m", "analyzer"])):
        done = _run(*command, "analyze", sample, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name / "report.html").is_file()
        reports.append(json.loads((tmp_path / name / "report.json").read_bytes()))
    assert reports[0] == reports[1]
    assert reports[0]["tool"]["rules"]["count"] > 20
