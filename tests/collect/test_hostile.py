"""A server that answers with anything at all: nothing it says ends the program or gets out of the bundle's folder."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp.web
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.bundle.errors import BundleError
from analyzer.collect import run
from analyzer.collect.connect import Identity
from analyzer.collect.logs import LogLimits

from .conftest import Collected
from .mock import Asked, Cluster, forever, small

WORDS = st.sampled_from(["", "v1", "pods", "Pod", "..", "a/b", "*", "nvidia.com", "list", "Namespaced", "x" * 300])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
RESOURCE = st.fixed_dictionaries({}, optional={
    "name": JSON, "kind": JSON, "namespaced": JSON, "verbs": JSON | st.just(["list"]), "resource": JSON, "scope": JSON,
    "responseKind": JSON | st.fixed_dictionaries({"kind": WORDS})})  # fmt: skip
VERSION = st.fixed_dictionaries(
    {}, optional={"version": JSON, "resources": JSON | st.lists(RESOURCE, max_size=3), "freshness": WORDS}
)
GROUP = st.fixed_dictionaries({}, optional={
    "name": JSON, "metadata": JSON | st.fixed_dictionaries({"name": WORDS}), "versions": JSON | st.lists(VERSION, max_size=2),
    "preferredVersion": JSON | VERSION})  # fmt: skip
GROUPS, RESOURCES = JSON | st.lists(GROUP, max_size=3), JSON | st.lists(RESOURCE, max_size=3)
ANSWER = JSON | st.fixed_dictionaries({}, optional={
    "kind": st.just("APIGroupDiscoveryList") | JSON, "items": GROUPS, "groups": GROUPS, "resources": RESOURCES,
    "versions": JSON, "metadata": JSON, "gitVersion": JSON})  # fmt: skip


def options(cluster: Cluster, folder: Path) -> run.Options:
    return run.Options(
        identity=Identity(cluster.kubeconfig(folder)),
        namespaces=None,
        include=("*",),
        secret_keys=True,
        logs=LogLimits(None, 1 << 16, 1 << 20),
        request_timeout=5.0,
        total_timeout=30.0,
        rate=1000.0,
        threads=4,
        compression="gzip",
    )


@pytest.fixture(scope="module")
def hostile() -> Any:
    cluster = small()
    with cluster.running():
        yield cluster


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(["/version", "/api", "/apis", "/api/v1", "/apis/apps/v1", "pods", "nodes", "log"]), ANSWER)
)
def test_any_answers(hostile: Cluster, tmp_path_factory: pytest.TempPathFactory, answers: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    hostile.faults.clear()
    hostile.requests.clear()
    for path, value in answers.items():
        body = json.dumps(value).encode()
        hostile.faults[path] = [forever(lambda _, body=body: aiohttp.web.Response(body=body))]  # type: ignore[misc]
    target = folder / "x.tar.gz"
    with suppress(BundleError):
        run.collect(options(hostile, folder), target, lambda _: None, lambda *_: None)
    if not target.exists():
        return
    bundle = Collected(target)
    for name in bundle.files:
        assert not set(name.split("/")) & {"", ".", ".."}
    assert not [entry for entry in bundle.manifest["requests"] if "internal error" in (entry["message"] or "")]


def test_escape_sequences_do_not_reach_the_terminal(tmp_path: Path) -> None:
    cluster = small()

    def refused(_: Asked) -> aiohttp.web.Response:
        return aiohttp.web.json_response({"message": "\x1b[31mred\x07\nline"}, status=401)

    cluster.faults["/version"] = [forever(refused)]
    with cluster.running(), pytest.raises(BundleError) as caught:
        run.collect(options(cluster, tmp_path), tmp_path / "x.tar.gz", lambda _: None, lambda *_: None)
    assert not re.search(r"[\x00-\x1f]", str(caught.value))
