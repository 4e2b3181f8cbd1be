"""`triage show` of an InferenceService and of a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ome.pond import model, runtime, service, thing
from tests.ome.test_bundles import triage, written


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = service(runtime=None, acceleratorSelector={"policy": "Cheapest"}, decoder={})
    loaded = thing(
        "ClusterBaseModel", "reed", spec=model().spec, status={"state": "Ready", "nodesReady": ["n1"], "nodesFailed": ["n2"]}
    )
    folder = written(tmp_path_factory.mktemp("b"), [own, loaded, runtime("off", disabled=True)])
    out = folder.parent / "out"
    assert triage("analyze", folder, "-o", out, "--format", "json")[0] == 0
    return out


def test_a_service_shows_what_is_in_force_and_who_was_looked_at(bundle: Path) -> None:
    code, out, _ = triage("show", bundle, "isvc.ome/heron", "-n", "pond")
    assert code == 0
    assert "In force:          nothing: no runtime found to support model reed" in out
    engine = next(line for line in out.splitlines() if line.strip().startswith("engine "))
    assert engine.split()[:2] == ["engine", "Cheapest"]
    assert "ClusterServingRuntime  off" in out
    assert "runtime is disabled" in out


def test_a_model_shows_where_it_lies(bundle: Path) -> None:
    out = triage("show", bundle, "clusterbasemodel/reed")[1]
    assert "On nodes:  n1" in out
    assert "Failed on: n2" in out
