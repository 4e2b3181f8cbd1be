"""What all tests share: the corpus of real bundles, and a CI that skips nothing it could run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("TRIAGE_CORPUS") or ROOT.parent / "shared" / "corpus")
NO_SKIP = bool(os.environ.get("TRIAGE_NO_SKIP"))

# The program is started some hundred times. Where Python must not write bytecode (containers say so), it would be compiled
# anew each time; the bytecode lies where `make clean` finds it, and nothing is written beside the sources.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / ".pytest_cache" / "bytecode"))

# How long an example takes says how busy the machine is. Time is measured by bench/.
settings.register_profile("ours", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ours")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with a line that says why, what this machine cannot run."""
    missing = {
        "browser": "" if shutil.which("chromium") else "needs Chromium (Debian: apt-get install chromium)",
        "kubectl": "" if shutil.which("kubectl") else "needs kubectl (Debian: apt-get install kubernetes-client)",
        "corpus": "" if CORPUS.is_dir() else "needs the corpus of real bundles (set TRIAGE_CORPUS)",
    }
    for item in items:
        for marker, why in missing.items():
            if why and item.get_closest_marker(marker):
                if NO_SKIP and marker != "corpus":
                    pytest.exit(f"{item.nodeid} {why}", returncode=1)
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real bundles (tests that ask for it carry the marker `corpus`)."""
    return CORPUS
