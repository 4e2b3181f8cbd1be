#!/usr/bin/env python3
"""How long it takes to explain every InferenceService of OME in one bundle, and how that grows.

    .venv/bin/python bench/ome.py                                  # 2,000 services, 200 runtimes, then twice as many services
    .venv/bin/python bench/ome.py --services 500 --runtimes 50 --once

Everything is invented. Two services in three name no runtime, so that OME looks at all of them; half ask for a class or a policy.
The services that cannot be served tell it by a condition and an event. See README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from workloads import Stages

from analyzer import facts
from analyzer.bundle.read import read_bundle
from analyzer.engine import analysis, needs
from analyzer.engine.pack import load_packs, signatures_of
from analyzer.facts.ome.services import evaluate
from analyzer.ome.source import world_of
from analyzer.store import database
from analyzer.store.load import load
from analyzer.workspace import workspace

API = "ome.io/v1beta1"
NAMESPACES = 20
FORMATS = ("safetensors", "gguf", "onnx", "tensorrt", "pytorch")
SIZES = ("1B", "8B", "13B", "70B")
AT = "2026-11-12T08:00:00Z"


def main(argv: list[str] | None = None) -> int:
    """Measure what the options ask for and print it. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--services", type=int, default=2_000, help="InferenceServices (default 2000)")
    parser.add_argument("--runtimes", type=int, default=200, help="runtimes (default 200)")
    parser.add_argument("--once", action="store_true", help="leave the bundle of twice the services out")
    args = parser.parse_args(argv)
    if min(args.services, args.runtimes) < 1:
        parser.error("there must be at least one service and one runtime")
    first = measured(args.services, args.runtimes)
    if not args.once:
        ratio = measured(2 * args.services, args.runtimes).cpu("explain") / first.cpu("explain")
        print(f"growth: twice the services take {ratio:.2f} times the processor time to explain (2.00 is linear)")
    return 0


def measured(services: int, runtimes: int) -> Stages:
    """Make a bundle, analyze it stage by stage, and print the times."""
    stages = Stages()
    with tempfile.TemporaryDirectory() as scratch, workspace() as folder:
        bundle = Path(scratch) / "bundle"
        generate(bundle, services, runtimes)
        packs = load_packs()
        with stages.stage("reading"):
            parts = read_bundle([bundle], folder, 2, lambda _done, _total: None, signatures=signatures_of(packs))
        with contextlib.closing(database.open_memory(folder)) as con:
            with stages.stage("loading"):
                load(con, parts)
            with stages.stage("facts"):
                facts.derive_all(con, None, needs.needed_kinds(packs))
            with stages.stage("world"):
                world = world_of(con)
            with stages.stage("explain"):
                explained = evaluate(con, world)
            with stages.stage("rules"):
                report = analysis.analyse(con, packs)
    stages.tell(f"{len(explained):,} services, {runtimes:,} runtimes", report)
    return stages


def generate(root: Path, services: int, runtimes: int) -> None:
    """Write a folder of kubectl's lists with so many services and runtimes."""
    root.mkdir(parents=True)
    for name, items in (
        ("acceleratorclasses", [_class(number) for number in range(8)]),
        ("clusterbasemodels", [_model(number) for number in range(200)]),
        ("clusterservingruntimes", [_runtime(number) for number in range(runtimes)]),
        ("inferenceservices", [_service(number, runtimes) for number in range(services)]),
        ("events", [_event(number) for number in range(0, services, 10)]),
    ):
        whole = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "90001"}, "items": items}
        (root / f"{name}.json").write_text(json.dumps(whole), encoding="utf-8")


def _object(
    kind: str, name: str, spec: dict[str, Any], status: dict[str, Any] | None = None, namespace: str = ""
) -> dict[str, Any]:
    meta = {"name": name, "uid": f"u-{kind}-{name}", "resourceVersion": "7", "generation": 2, "creationTimestamp": AT}
    return {
        "apiVersion": API,
        "kind": kind,
        "metadata": meta | ({"namespace": namespace} if namespace else {}),
        "spec": spec,
        "status": status or {},
    }


def _class(number: int) -> dict[str, Any]:
    capabilities = {"memoryGB": f"{40 * (number + 1)}Gi", "performance": {"fp16Tflops": 100 * (number + 1)}}
    spec = {"vendor": "acme", "family": "orca", "discovery": {"nodeSelector": {"acme.example/pool": str(number)}}}
    return _object("AcceleratorClass", f"orca-{number}", spec | {"capabilities": capabilities})


def _model(number: int) -> dict[str, Any]:
    spec = {
        "modelFormat": {"name": FORMATS[number % len(FORMATS)], "version": "1.0.0"},
        "modelParameterSize": SIZES[number % len(SIZES)],
    }
    return _object("ClusterBaseModel", f"mistwood-{number}", spec, {"state": "Ready", "nodesReady": ["n1"]})


def _runtime(number: int) -> dict[str, Any]:
    form = {
        "modelFormat": {"name": FORMATS[number % 4], "version": "1.0.0"},
        "autoSelect": number % 3 > 0,
        "priority": number % 5,
    }
    small = number % 2 == 0
    spec = {
        "supportedModelFormats": [form, form | {"modelFormat": {"name": FORMATS[(number + 1) % 4], "version": "2.0.0"}}],
        "modelSizeRange": {"min": "1B" if small else "13B", "max": "13B" if small else "80B"},
        "acceleratorRequirements": {"acceleratorClasses": [f"orca-{place}" for place in range(number % 8 + 1)]},
        "engineConfig": {
            "runner": {"name": "ome-container", "resources": {"requests": {"cpu": "4", "memory": f"{number + 1}Gi"}}}
        },
    }
    return _object("ClusterServingRuntime", f"kelp-{number}", spec)


def _service(number: int, runtimes: int) -> dict[str, Any]:
    spec: dict[str, Any] = {"model": {"name": f"mistwood-{number % 200}"}, "engine": {"minReplicas": 1}}
    if number % 3 == 0:
        spec["runtime"] = {"name": f"kelp-{number % runtimes}"}
    if number % 4 == 0:
        spec["acceleratorSelector"] = {"acceleratorClass": f"orca-{number % 8}"}
    elif number % 4 == 1:
        spec["acceleratorSelector"] = {"policy": "Cheapest", "constraints": {"minMemory": 40}}
    conditions = [{"type": "Ready", "status": "False" if number % 10 == 0 else "True", "lastTransitionTime": AT}]
    return _object(
        "InferenceService", f"quokka-{number}", spec, {"observedGeneration": 2, "conditions": conditions}, _space(number)
    )


def _space(number: int) -> str:
    return f"team-{number % NAMESPACES:02d}"


def _event(number: int) -> dict[str, Any]:
    about = {"apiVersion": API, "kind": "InferenceService", "namespace": _space(number), "name": f"quokka-{number}"}
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"quokka-{number}.1", "namespace": _space(number)},
        "involvedObject": about,
        "type": "Warning", "reason": "RuntimeNotFound", "message": "no runtime found to support model", "count": 3,
        "firstTimestamp": AT, "lastTimestamp": "2026-11-12T09:00:00Z",
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
