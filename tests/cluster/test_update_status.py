"""Real states of OpenShift updates: what `oc adm upgrade status` says of them, our report says too."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from analyzer.case import Options, analyze_case
from analyzer.engine.model import Finding, Report
from analyzer.engine.pack import load_packs

pytestmark = pytest.mark.corpus

EXAMPLES = "pkg/cli/admin/upgrade/status/examples/"
STATES = 12


@dataclass(frozen=True)
class State:
    """One state of a cluster: what `oc adm upgrade status` prints of it, and our report."""

    name: str
    output: str
    report: Report


@pytest.fixture(scope="module")
def states(corpus: Path) -> Iterator[list[State]]:
    archive = corpus / "oc-upgrade-status.tar.xz"
    if not archive.is_file():
        pytest.skip("the corpus has no states of updates")
    with TemporaryDirectory() as place, tarfile.open(archive) as tar:
        tar.extractall(place, filter="data")
        folder = Path(place) / EXAMPLES
        names = sorted(path.name.removesuffix("-cv.yaml") for path in folder.glob("*-cv.yaml"))
        yield [
            State(
                name,
                (folder / f"{name}.output").read_text(),
                _report(_files(folder, name)),
            )
            for name in names
        ]


def _files(folder: Path, name: str) -> list[Path]:
    found = [path for ending in ("co", "cv", "mc", "mcp", "node") for path in folder.glob(f"{name}-{ending}.yaml")]
    return sorted(found) + sorted(folder.glob(f"{name}-alerts.json"))


def _report(files: list[Path]) -> Report:
    with TemporaryDirectory() as place:
        return analyze_case(files, load_packs([]), Path(place) / "bundle.duckdb", Options(jobs=1))


def _found(report: Report, code: str, severity: str, name: str = "") -> bool:
    found = [finding for finding in report.findings if (finding.code, finding.severity) == (code, severity)]
    return any(not name or name in _names(finding) for finding in found)


def _names(finding: Finding) -> set[str]:
    return {finding.object.name, *(ref.name for ref in finding.objects)}


# What a line of the section "Update Health" says → the finding that has to be there.
SAID = (
    (r"Error +API Availability +Cluster Operator (\S+) is degraded", "openshift/ClusterOperatorDegraded", "error"),
    (r"Error +API Availability +Cluster Operator (\S+) is unavailable", "openshift/ClusterOperatorUnavailable", "error"),
    (r"Warning +Update Stalled +Outdated nodes in a paused pool '(\S+)'", "openshift/MachineConfigPoolPaused", "warning"),
    (r"Warning +Update Stalled +Cluster Version (\S+) is failing to proceed", "openshift/ClusterVersionFailing", "error"),
    (r"Error +Update Stalled +Node (\S+) is degraded", "node/DrainBlocked", "warning"),
    (r"Warning +Update Speed +Node (\S+) is not ready", "node/NotReady", "error"),
)


def test_the_report_agrees_with_what_oc_says(states: list[State]) -> None:
    assert len(states) == STATES
    for state in states:
        report = state.report
        for pattern, code, severity in SAID:
            for name in re.findall(pattern, state.output):
                severities = ("error", "warning") if code == "node/DrainBlocked" else (severity,)
                assert any(_found(report, code, one, name) for one in severities), (state.name, code, name)
        for version in re.findall(r"Previous update to (\S+) never completed", state.output):
            assert any(f.code == "openshift/UpdateStalled" and version in f.title for f in report.findings), state.name
        if "Alert is firing" in state.output:
            assert _found(report, "openshift/AlertFiring", "warning"), state.name


def test_operators_are_no_fault_where_oc_says_none(states: list[State]) -> None:
    for state in states:
        told = set(re.findall(r"Cluster Operator (\S+) is (?:degraded|unavailable)", state.output))
        ours = {
            finding.object.name
            for finding in state.report.findings
            if finding.code.startswith("openshift/ClusterOperator") and finding.severity == "error"
        }
        # The pool's trouble makes the operator of the machines degraded: oc tells of its nodes instead.
        assert ours - {"machine-config"} <= told, state.name


def test_an_update_that_proceeds_well_has_no_fault(states: list[State]) -> None:
    well = [state for state in states if "proceeding well" in state.output or "not updating" in state.output]
    assert len(well) >= 5
    for state in well:
        assert state.report.health != "problems", state.name
