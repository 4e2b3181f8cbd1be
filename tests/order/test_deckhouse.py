"""Deckhouse debug archives: all generations are known, every shape is read, coverage says no more than the archive proves."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from analyzer.bundle.formats import recognise
from analyzer.bundle.formats.deckhouse import plain, resource_of
from analyzer.bundle.types import Entry
from analyzer.cli import app

GENERATIONS = {
    "G0": ["queue.txt", "pods.json", "deckhouse-cm.yaml", "terraform-check.txt", "events.json"],
    "G1": ["d8-all.json", "deckhouse-enabled-modules.json", "alerts.json", "terraform-check.json", "ccm-logs.txt"],
    "G2": ["d8-all.json", "module-configs.json", "bad-pods.txt", "cilium-health-status.txt", "capi-controller-manager.json"],
    "G3": [
        "namespace.json",
        "ccm-logs-yandex.txt",
        "kube-system-etcd-logs.txt",
        "mutatingwebhookconfigurations.json",
        "queue.txt",
    ],
    "G4": ["cluster-events.json", "cluster-crd.json", "deckhouse-module-configs.json", "collection-errors.txt"],
    "GV": ["d8-virtualization-pods-wide.txt", "d8-virtualization-handler-x-logs.txt"],
}


def layout(*names: str) -> str:
    return recognise([Entry(name, 1) for name in names]).format


@pytest.mark.parametrize("names", GENERATIONS.values(), ids=list(GENERATIONS))
def test_each_generation_is_known_by_its_names(names: list[str]) -> None:
    assert layout(*names) == "deckhouse"
    assert layout(*(f"deckhouse-debug/{name}" for name in names)) == "deckhouse"


@pytest.mark.parametrize(
    "names", [["events.json", "nodes.json", "pods.json", "alerts.json"], ["queue.txt", "notes.txt"], ["d8-all.json"]]
)
def test_common_names_are_no_archive(names: list[str]) -> None:
    assert layout(*names) == "plain"


def test_names_of_groups_are_taken_off() -> None:
    assert plain("cluster-events.json") == plain("events.json") == "events.json"
    assert resource_of("security-cluster-authorization-rules.json") == ("ClusterAuthorizationRule", "deckhouse.io")
    assert resource_of("instance-manager-mcm-cloud-machines.json") == ("Machine", "machine.sapcloud.io")
    assert resource_of("d8-all.json") is None


def thing(kind: str, name: str, space: str = "", api: str = "v1", **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"{kind}-{space}-{name}", "resourceVersion": "1"} | ({"namespace": space} if space else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata} | more


def listed(*items: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}, indent=2)


def event(at: str) -> dict[str, Any]:
    about = {"apiVersion": "ai.deckhouse.io/v1alpha1", "kind": "InferenceService", "namespace": "mill", "name": "loom"}
    return thing(
        "Event",
        "loom.1",
        "mill",
        involvedObject=about,
        reason="GrowthClaimUnplaced",
        message="claim loom-1: no device",
        type="Warning",
    ) | {"firstTimestamp": at, "lastTimestamp": at, "count": 1}


def pod(name: str, space: str) -> dict[str, Any]:
    return thing("Pod", name, space, spec={"containers": [{"name": "c"}], "nodeName": "n1"}, status={"phase": "Running"})


FILES = {
    "cluster-events.json": listed(event("2026-11-01T11:30:00Z")),
    "cluster-nodes.json": listed(thing("Node", "n1", status={"conditions": [{"type": "Ready", "status": "True"}]})),
    "cluster-namespace.json": listed(*(thing("Namespace", name) for name in ("mill", "d8-system", "kube-system"))),
    "deckhouse-module-configs.json": listed(
        thing(
            "ModuleConfig",
            "ai-inference",
            api="deckhouse.io/v1alpha1",
            spec={"enabled": True, "settings": {"catalog": {"mode": "None"}}},
        )
    ),
    # One object after the other, as jq prints them, in a file whose name says text.
    "instance-manager-cloud-machine-deployment.txt": "\n".join(
        json.dumps(thing("MachineDeployment", name, "d8-cloud-instance-manager", "machine.sapcloud.io/v1alpha1"), indent=2)
        for name in "ab"
    ),
    "deckhouse-module-sources.json": "\n".join(
        json.dumps(thing("ModuleSource", name, api="deckhouse.io/v1alpha1")) for name in "abc"
    ),
    "cluster-node-groups.json": "",
    "d8-all.json": json.dumps(
        [pod("deckhouse-1", "d8-system"), pod("etcd-1", "kube-system"), thing("Service", "s", "d8-system")]
    ),
    "d8-istio-custom-resources.json": "Listing resources for CRD: gateways.example\n"
    + listed(thing("Gateway", "g", "d8-istio", "networking.istio.io/v1"))
    + "\nListing resources for CRD: others.example\n"
    + listed(),
    "kube-system-etcd-logs.txt": "Defaulted container etcd out of: etcd, x\n2026-11-01T11:59:00.1Z started\n",
    "deckhouse-logs.json": '{"level":"error","msg":"it broke","time":"2026-11-01T11:59:30Z"}\n',
    "kube-system-audit-policy.json": json.dumps(thing("Secret", "audit", "kube-system", data={"policy": "Xq7hunter2Zz"})),
    "cluster-global-values.json": '{"password": "Xq7hunter2Zz"}',
    "deckhouse-queue.txt": "Queue 'main': length 0\n",
    "collection-errors.txt": "instance-manager-staticinstances.json: exit status 1, 0 bytes kept\n"
    "  command: kubectl get staticinstances -o json\n"
    '  stderr: the server doesn\'t have a resource type "staticinstances"\n'
    "cluster-node-groups.json: TIMED OUT after 2m0s, 0 bytes kept\n"
    "  command: kubectl get nodegroups -o json\n",
}


def archive(path: Path, files: dict[str, str], ending: bytes = b"") -> Path:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    path.write_bytes(data.getvalue() + ending)
    return path


def analyze(folder: Path, files: dict[str, str], *args: str, ending: bytes = b"") -> dict[str, Any]:
    bundle = archive(folder / "deckhouse-debug-2026_11_01.tar.gz", files, ending)
    out = folder / "out"
    done = CliRunner().invoke(app, ["analyze", str(bundle), "-o", str(out), "--format", "json", "--jobs", "1", *args])
    assert done.exit_code == 0, done.output
    text = (out / "report.json").read_text(encoding="utf-8")
    assert "Xq7hunter2Zz" not in text
    report: dict[str, Any] = json.loads(text)
    return report


def test_an_archive_of_the_newest_generation(tmp_path: Path) -> None:
    report = analyze(tmp_path, FILES)
    assert report["bundle"]["inputs"][0]["format"] == "deckhouse"
    assert report["bundle"]["collectedAt"] == "2026-11-01T11:59:30Z"
    assert [one["path"] for one in report["files"]] == []
    kinds = {(one["group"], one["kind"]): one for one in report["coverage"]["kinds"]}
    assert kinds[("", "Event")]["status"] == kinds[("", "Node")]["status"] == "complete"
    assert kinds[("deckhouse.io", "ModuleSource")] | {"group": "", "kind": ""} == {
        "group": "",
        "kind": "",
        "objects": 3,
        "scope": "cluster",
        "status": "complete",
    }
    # The platform's own namespaces are listed, the others are not.
    assert (kinds[("", "Pod")]["status"], kinds[("", "Pod")]["objects"]) == ("partial", 2)
    assert set(kinds[("", "Pod")]["scope"]) == {"d8-system", "kube-system"}
    assert kinds[("machine.sapcloud.io", "MachineDeployment")]["objects"] == 2
    assert kinds[("networking.istio.io", "Gateway")]["objects"] == 1
    errors = {(one["kind"], one["subject"]) for one in report["coverage"]["collectErrors"]}
    assert errors == {("not-served", "staticinstances.deckhouse.io"), ("timeout", "nodegroups.deckhouse.io")}


def test_it_says_that_orders_were_not_collected_and_what_to_send(tmp_path: Path) -> None:
    report = analyze(tmp_path, FILES)
    (entry,) = [one for one in report["notEvaluated"] if one["code"] == "order/NotCollected"]
    assert any("inferenceservices,models -A" in command for command in entry["ask"])
    (found,) = [one for one in report["findings"] if one["code"].startswith("order/")]
    assert (found["code"], found["severity"], found["object"]["name"]) == ("order/GrowthClaimUnplaced", "info", "loom")
    assert not [one for one in report["findings"] if one["code"] == "event/Warning"]


def test_findings_about_orders_in_russian(tmp_path: Path) -> None:
    report = analyze(tmp_path, FILES, "--lang", "ru")
    (found,) = [one for one in report["findings"] if one["code"] == "order/GrowthClaimUnplaced"]
    assert found["title"].startswith("Заказ mill/loom")
    assert "claim loom-1: no device" in found["message"]
    assert "освободите" in found["next"][0]


def test_a_line_after_the_archive_and_a_cut_file(tmp_path: Path) -> None:
    files = FILES | {"deckhouse-module-sources.json": FILES["deckhouse-module-sources.json"][:-40]}
    report = analyze(tmp_path, files, ending=b"\n")
    (found,) = [one for one in report["coverage"]["kinds"] if one["kind"] == "ModuleSource"]
    assert (found["status"], found["objects"]) == ("partial", 3)
    assert [one["path"] for one in report["files"]] == ["deckhouse-module-sources.json"]
