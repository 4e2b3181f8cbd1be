"""What becomes of objects: what is dropped, kept in another form, masked."""

from __future__ import annotations

import json
from typing import Any

import aiohttp.web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.collect import plan as plans
from analyzer.collect.discovery import Resource
from analyzer.collect.objects import Shaper, Tally

from .conftest import Collect, Collected
from .mock import Asked, forever, obj, running, small

SECRET = "aHVudGVyMjItaHVudGVyMjI="
FIELDS = [
    {"manager": "nfd", "operation": "Update", "time": "2026-10-01T00:00:00Z", "fieldsV1": {"f:metadata": {"f:labels": {
        ".": {}, "f:nvidia.com/mig.config": {}, "f:nvidia.com/gpu.count": {}, "f:zone": {}}}}},
    {"manager": "mig-manager", "operation": "Update", "time": "2026-11-01T00:00:00Z", "subresource": "status",
     "fieldsV1": {"f:metadata": {"f:labels": {"f:nvidia.com/mig.config": {}}}}},
]  # fmt: skip


def text_of(bundle: Collected) -> bytes:
    return b"\n".join(bundle.files.values())


def test_managed_fields(collect: Collect) -> None:
    cluster = small()
    cluster.serve("clusterpolicies.nvidia.com", obj("policy", metadata={"managedFields": FIELDS, "annotations": {"a": "b"}}))
    cluster.resources["nodes"] = [obj("node-1", metadata={"managedFields": FIELDS})]
    cluster.resources["pods"][0]["metadata"]["managedFields"] = FIELDS
    with cluster.running():
        bundle = collect(cluster)
    assert b"managedFields" not in b"".join(data for name, data in bundle.files.items() if name != "triage-manifest.json")
    node = bundle.items("cluster-scoped-resources/core/nodes.yaml")[0]["metadata"]["annotations"]
    assert json.loads(node["triage.dev/label-times"]) == {
        "nvidia.com/gpu.count": "2026-10-01T00:00:00Z",
        "nvidia.com/mig.config": "2026-11-01T00:00:00Z",
    }
    assert json.loads(node["triage.dev/field-managers"]) == [
        {"manager": "nfd", "operation": "Update", "time": "2026-10-01T00:00:00Z"},
        {"manager": "mig-manager", "operation": "Update", "time": "2026-11-01T00:00:00Z", "subresource": "status"},
    ]
    policy = bundle.items("cluster-scoped-resources/nvidia.com/clusterpolicies.yaml")[0]["metadata"]["annotations"]
    assert set(policy) == {"a", "triage.dev/field-managers"}
    assert "annotations" not in bundle.items("namespaces/team-a/core/pods.yaml")[0]["metadata"]
    assert bundle.left_out("metadata.managedFields") == 3


def test_secrets_are_asked_by_metadata_only(collect: Collect) -> None:
    cluster = small().serve("secrets", obj("s", "team-a", type="Opaque", data={"password": SECRET}))
    with cluster.running():
        bundle = collect(cluster)
    asked = [request for request in cluster.requests if request.path == "/api/v1/secrets"]
    assert [request.headers["Accept"].split(",")[0] for request in asked] == [
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    ]
    secret = bundle.items("namespaces/team-a/core/secrets.yaml")[0]
    assert secret["metadata"].pop("annotations") == {"triage.dev/metadata-only": "true"}
    assert set(secret) == {"apiVersion", "kind", "metadata"}
    assert (secret["apiVersion"], secret["kind"]) == ("v1", "Secret")
    assert SECRET.encode() not in text_of(bundle)
    assert bundle.files["namespaces/team-a/core/secrets.yaml"].startswith(b'{"apiVersion":"v1","kind":"SecretList"')


def test_partial_metadata_as_a_real_server_gives_it(collect: Collect) -> None:
    cluster = small().serve("secrets")
    body = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {}, "items": [
        {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", **obj("s", "team-a")}]}  # fmt: skip
    cluster.faults["secrets"] = [forever(lambda _: aiohttp.web.json_response(body))]
    with cluster.running():
        bundle = collect(cluster)
    secret = bundle.items("namespaces/team-a/core/secrets.yaml")[0]
    assert (secret["apiVersion"], secret["kind"]) == ("v1", "Secret")


def test_secret_keys_on_request(collect: Collect) -> None:
    applied = json.dumps({"data": {"p": SECRET}})
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": applied, "vendor.example/copy": SECRET,
                   "kubernetes.io/service-account.name": "builder"}  # fmt: skip
    secret = obj(
        "s", "team-a", type="kubernetes.io/tls", data={"tls.key": SECRET, "tls.crt": ""}, metadata={"annotations": annotations}
    )
    with small().serve("secrets", secret).running() as cluster:
        bundle = collect(cluster, secret_keys=True)
    found = bundle.items("namespaces/team-a/core/secrets.yaml")[0]
    assert found["type"] == "kubernetes.io/tls"
    assert found["data"] == {"tls.key": "(17 bytes, not collected)", "tls.crt": "(0 bytes, not collected)"}
    assert found["metadata"]["annotations"] == {
        "kubernetes.io/service-account.name": "builder",
        "triage.dev/metadata-only": "true",
        "vendor.example/copy": "(24 bytes, not collected)",
    }
    assert SECRET.encode() not in text_of(bundle)
    assert bundle.manifest["options"]["includeSecretKeys"] is True


def test_config_maps(collect: Collect) -> None:
    cluster = small()
    cluster.serve(
        "configmaps",
        obj("app-settings", "team-a", data={"config": "some: value", "empty": ""}, binaryData={"logo": "AAAA"}),
        obj("inferenceservice-config", "kserve", data={"deploy": "{}", "password": "hunter22hunter"}),
        obj("my-mig", "gpu", data={"config.yaml": "version: v1"}),
        obj("node-1", "ome", data={"model": "Ready"}),
        obj("node-1", "team-a", data={"model": "Ready"}),
        obj("node-2-mig", "gpu", data={"config.yaml": "x"}, metadata={"labels": {"nvidia.com/node-name": "node-2"}}),
        obj("cluster-autoscaler-status", "kube-system", data={"status": "s" * 200_000}),
    )
    cluster.serve("clusterpolicies.nvidia.com", obj("policy", spec={"migManager": {"config": {"name": "my-mig"}}}))
    cluster.resources["pods"].append(running("ome-controller-manager-1", "ome"))
    with cluster.running():
        bundle = collect(cluster)
    data = {
        (path.split("/")[1], item["metadata"]["name"]): item
        for path in bundle.files
        if path.endswith("configmaps.yaml")
        for item in bundle.items(path)
    }
    assert data["team-a", "app-settings"]["data"] == {"config": "(11 bytes, not collected)", "empty": "(0 bytes, not collected)"}
    assert data["team-a", "app-settings"]["binaryData"] == {"logo": "(3 bytes, not collected)"}
    assert data["kserve", "inferenceservice-config"]["data"]["deploy"] == "{}"
    assert data["kserve", "inferenceservice-config"]["data"]["password"].startswith("[masked:password:")
    assert data["gpu", "my-mig"]["data"] == {"config.yaml": "version: v1"}
    assert data["ome", "node-1"]["data"] == {"model": "Ready"}
    assert data["team-a", "node-1"]["data"] == {"model": "(5 bytes, not collected)"}
    assert data["gpu", "node-2-mig"]["data"] == {"config.yaml": "x"}
    assert data["kube-system", "cluster-autoscaler-status"]["data"] == {"status": "(200000 bytes, not collected)"}
    assert bundle.left_out("ConfigMap content") == 4


def test_trimmed_kinds(collect: Collect) -> None:
    cluster = small()
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": {}}, "served": True}, {"name": "v2", "schema": {}, "served": False}]
    cluster.serve("customresourcedefinitions.apiextensions.k8s.io", obj("widgets.example.com", spec={"versions": versions}))
    cluster.serve(
        "controllerrevisions.apps",
        obj("ds-1", "team-a", revision=3, data={"spec": {}}),
        obj("r-1", "ome", revision=1, data={"x": 1}, metadata={"annotations": {"ome.io/created-by": "ome-controller"}}),
    )
    with cluster.running():
        bundle = collect(cluster)
    crd = bundle.items("cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions.yaml")[0]
    assert crd["spec"]["versions"] == [{"name": "v1", "served": True}, {"name": "v2", "served": False}]
    revision = bundle.items("namespaces/team-a/apps/controllerrevisions.yaml")[0]
    assert "data" not in revision
    assert revision["revision"] == 3
    assert bundle.items("namespaces/ome/apps/controllerrevisions.yaml")[0]["data"] == {"x": 1}


def test_masking_and_its_count(collect: Collect) -> None:
    cluster = small()
    env = [{"name": "DB_PASSWORD", "value": "hunter22hunter"}, {"name": "URL", "value": "https://me:pw4321xx@example.com/x"}]
    for pod in cluster.resources["pods"]:
        pod["spec"] = {"containers": [{"name": "app", "env": env}]}
        pod["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    with cluster.running():
        bundle = collect(cluster)
    assert b"hunter22hunter" not in text_of(bundle)
    assert b"pw4321xx" not in text_of(bundle)
    assert b"last-applied" not in bundle.files["namespaces/team-a/core/pods.yaml"]
    masked = {
        entry["value"]
        for path in ("namespaces/team-a/core/pods.yaml", "namespaces/team-b/core/pods.yaml")
        for pod in bundle.items(path)
        for entry in pod["spec"]["containers"][0]["env"]
        if entry["name"] == "DB_PASSWORD"
    }
    assert len(masked) == 1
    assert bundle.manifest["redacted"]["password"] >= 3
    assert bundle.left_out("annotation kubectl.kubernetes.io/last-applied-configuration") == 3


def test_the_preferred_version_and_kinds_of_others(collect: Collect) -> None:
    """nvidia.com has ClusterPolicy in v1 and NVIDIADriver in v1alpha1 only."""
    cluster = (
        small().serve("clusterpolicies.nvidia.com", obj("p")).serve("nvidiadrivers.nvidia.com", obj("d"), version="v1alpha1")
    )
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("clusterpolicies", "nvidia.com")["version"] == "v1"
    assert bundle.request("nvidiadrivers", "nvidia.com")["version"] == "v1alpha1"
    assert bundle.items("cluster-scoped-resources/nvidia.com/nvidiadrivers.yaml")[0]["apiVersion"] == "nvidia.com/v1alpha1"


def test_aggregated_discovery(collect: Collect) -> None:
    def entry(resource: str, kind: str, scope: str, verbs: list[str]) -> dict[str, Any]:
        return {"resource": resource, "responseKind": {"kind": kind}, "scope": scope, "verbs": verbs}

    def group(name: str, *versions: dict[str, Any]) -> dict[str, Any]:
        return {"metadata": {"name": name}, "versions": list(versions)}

    core = [entry("nodes", "Node", "Cluster", ["list"]), entry("pods", "Pod", "Namespaced", ["list"]),
            entry("bindings", "Binding", "Namespaced", ["create"])]  # fmt: skip
    lists = {
        "/api": [group("", {"version": "v1", "resources": core})],
        "/apis": [
            group(
                "kueue.x-k8s.io",
                {"version": "v1beta2", "resources": [entry("widgets", "Widget", "Namespaced", ["list"])]},
                {"version": "v1beta1", "resources": [entry("widgets", "Widget", "Namespaced", ["list"])]},
            ),
            group("ray.io", {"version": "v1", "freshness": "Stale"}),
        ],
    }

    def aggregated(asked: Asked) -> aiohttp.web.Response:
        assert asked.headers["Accept"].startswith("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
        return aiohttp.web.json_response({"kind": "APIGroupDiscoveryList", "items": lists[asked.path]})

    cluster = small().serve("widgets.kueue.x-k8s.io", version="v1beta2")
    for path in lists:
        cluster.faults[path] = [forever(aggregated)]
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("widgets", "kueue.x-k8s.io")["version"] == "v1beta2"
    assert bundle.request("pods")["outcome"] == "ok"
    assert bundle.request("*", "ray.io") | {"outcome": "failed", "version": "v1"} == bundle.request("*", "ray.io")
    assert "/api/v1" not in cluster.paths()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
PARTS = ("metadata", "data", "binaryData", "spec", "kind", "apiVersion")
OBJECTS = st.fixed_dictionaries({}, optional=dict.fromkeys(PARTS, JSON | st.fixed_dictionaries(
    {}, optional={"managedFields": JSON, "annotations": JSON, "labels": JSON, "versions": JSON, "name": JSON})))  # fmt: skip
NAMES = [
    ("", "secrets", "Secret"),
    ("", "configmaps", "ConfigMap"),
    ("", "nodes", "Node"),
    ("nvidia.com", "clusterpolicies", "ClusterPolicy"),
    ("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"),
]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(OBJECTS, st.sampled_from(NAMES), st.booleans())
def test_any_object_comes_through(value: dict[str, Any], name: tuple[str, str, str], keys: bool) -> None:
    group, plural, kind = name
    resource = Resource(group, "v1", plural, kind, namespaced=False, custom=group == "nvidia.com")
    shaper = Shaper(plans.load(), resource, lambda _: True, secret_keys=keys)
    line = shaper.shape(json.loads(json.dumps(value)), Tally())
    assert b"\n" not in line
    found = json.loads(line)
    assert isinstance(found["apiVersion"], str)
    assert "managedFields" not in found["metadata"]
    if plural == "secrets":
        assert set(found) <= {"apiVersion", "kind", "metadata", "type", "data"}
        assert all(text.endswith("not collected)") for text in found.get("data", {}).values())
