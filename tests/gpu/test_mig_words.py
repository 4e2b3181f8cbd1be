"""Every line of the MIG manager that tells why has a signature that finds it, and a meaning."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from analyzer.engine.case_check import Bench
from analyzer.engine.case_check import bench as make_bench
from analyzer.engine.case_file import Case
from analyzer.engine.case_tables import build
from analyzer.engine.pack import load_packs
from analyzer.engine.yamltext import Place
from analyzer.facts.gpu.mig_words import ATTEMPT, meanings
from tests.facts.build import rows

LINES = [
    ("selected mig-config not present: all-9g.1gb", "gpu/mig-config-missing"),
    ("error parsing config file: unmarshal error: x", "gpu/mig-config-invalid"),
    ("error: missing required field 'mig-devices'", "gpu/mig-config-invalid"),
    ("MIG devices included when 'mig-enabled' is false", "gpu/mig-config-invalid"),
    ("unsupported MIG Device specified 1g.5gb, expected 1g.10gb instead", "gpu/mig-profile-unknown"),
    ('MIG profile "1g.5gb" not found on this GPU', "gpu/mig-profile-unknown"),
    ("error getting GPU instance profile info for '1g.5gb': Not Supported", "gpu/mig-profile-unknown"),
    ("error getting GPU instance profile info for '1g.5gb': Invalid Argument", "gpu/mig-profile-unknown"),
    ("cannot set MIG mode on non MIG-capable GPU", "gpu/mig-not-capable"),
    ("cannot set MIG config on non MIG-capable GPU", "gpu/mig-not-capable"),
    ("no MIG-capable devices found on the system", "gpu/mig-not-capable"),
    ("cannot configure as a subset of any valid configuration", "gpu/mig-no-placement"),
    ("error creating GPU instance for '3g.40gb': Insufficient Resources", "gpu/mig-no-placement"),
    ("all orderings failed", "gpu/mig-no-placement"),
    ("error attempting multiple config orderings: x", "gpu/mig-no-placement"),
    ("GPU index out of range: 7", "gpu/mig-gpu-index"),
    ("The following GPUs could not be reset:", "gpu/mig-reset-failed"),
    ("  GPU 00000000:17:00.0: In use by another client", "gpu/mig-gpu-in-use"),
    ("error resetting all GPUs: exit status 255", "gpu/mig-reset-failed"),
    ("error destroying Compute instance for profile '(0, 0)': In use by another client", "gpu/mig-device-in-use"),
    ("error clearing existing MIG configurations: x", "gpu/mig-device-in-use"),
    ("current mode different than mode being asserted", "gpu/mig-mode-unchanged"),
    ("MIG mode change did not take effect after rebooting", "gpu/mig-mode-unchanged"),
    ("error checking pending MIG mode change: x", "gpu/mig-mode-check"),
    ("error initializing NVML: Driver Not Loaded", "gpu/mig-driver-missing"),
    ("Failed to initialize NVML: Driver/library version mismatch", "gpu/mig-driver-missing"),
    ("nvidia module not loaded", "gpu/mig-driver-missing"),
    ("Dynamic generation failed and no default config", "gpu/mig-no-profiles"),
    ("No MIG profiles discovered. Checking for default config", "gpu/mig-no-profiles"),
    ("timeout stopping service nvsm.service", "gpu/mig-service-stays"),
    ("failed to stop host systemd services", "gpu/mig-service-stays"),
    ("Resetting GPU 00000000:00:04.0 is not supported.", "gpu/mig-reset-unsupported"),
    ("dcgm pod did not shutdown: context deadline exceeded", "gpu/mig-operand-stays"),
    ("waiting for the driver validations to be ready...", "gpu/mig-waits-for-driver"),
]
HARMLESS = [
    "Assertion failure: selected configuration not currently applied",
    "current mode different than mode being asserted\nAssertion failure: selected configuration not currently applied",
    "Updating to MIG config: all-disabled",
    "Shutting down all GPU clients on the current node by disabling their component-specific nodeSelector labels",
    "MIG configuration applied successfully",
]


STATUS = {"name": "m", "ready": True, "state": {"running": {"startedAt": "2026-10-01T00:00:00Z"}}}
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"nvidia.com/mig.config": "x"}}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "nvidia-mig-manager-1", "namespace": "g"},
    "spec": {"nodeName": "n", "containers": [{"name": "m"}]},
    "status": {"phase": "Running", "containerStatuses": [STATUS]},
}


@pytest.fixture(scope="module")
def bench() -> Bench:
    return make_bench(load_packs())


def told(bench: Bench, text: str) -> list[str]:
    log = {"namespace": "g", "pod": "nvidia-mig-manager-1", "container": "m", "source": "current", "text": text + "\n"}
    case = Case("log", Place("test", 1), "2026-11-01T12:00:00Z", True, (NODE, POD), (log,), (), (), (), (), {})
    build(bench.con, case, bench.kinds, bench.scanner)
    return [row["signature"] for row in rows(bench.con, "SELECT signature FROM mig_words ORDER BY rank")]


@pytest.mark.parametrize(("line", "signature"), LINES)
def test_lines(bench: Bench, line: str, signature: str) -> None:
    assert told(bench, line)[0] == signature


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_error(bench: Bench, text: str) -> None:
    assert told(bench, text) == []


def test_only_the_newest_attempt_counts(bench: Bench) -> None:
    text = "GPU index out of range\nUpdating to MIG config: b\nselected mig-config not present: b"
    assert told(bench, text) == ["gpu/mig-config-missing"]


def test_signatures_and_meanings_agree() -> None:
    path = Path(__file__).parents[2] / "rules" / "gpu" / "mig.signatures.yaml"
    signatures = {item["id"] for item in yaml.safe_load(path.read_text("utf-8"))["signatures"]}
    assert signatures - set(meanings()) == {ATTEMPT, "gpu/mig-state"}
    assert set(meanings()) <= signatures
