"""How a list goes: pages, tokens that expire, refusals, pauses, cut and slow answers."""

from __future__ import annotations

import asyncio
import gzip
import json
import time

import aiohttp.web
import pytest

from analyzer.bundle.errors import UsageError
from analyzer.collect.errors import ClusterError

from .conftest import Collect
from .mock import Asked, Cluster, forever, obj, running, small, status


def many(count: int, resource: str = "pods") -> Cluster:
    cluster = Cluster().serve("namespaces", obj("kube-system", metadata={"uid": "u"})).serve("nodes", obj("n"))
    return cluster.serve(resource, *(running(f"p-{number:05d}", f"ns-{number // 400:02d}") for number in range(count)))


async def cut(asked: Asked) -> aiohttp.web.StreamResponse:
    """Half an answer, then the connection is gone."""
    response = aiohttp.web.StreamResponse(headers={"Content-Length": "10000", "Content-Type": "application/json"})
    await response.prepare(asked.raw)
    await response.write(b'{"items":[')
    assert asked.raw.transport is not None
    asked.raw.transport.abort()
    return response


async def hang(asked: Asked) -> None:
    """No answer for a long time."""
    await asyncio.sleep(30)


async def drip(asked: Asked) -> aiohttp.web.StreamResponse:
    """An answer that never ends, a byte now and then."""
    response = aiohttp.web.StreamResponse()
    await response.prepare(asked.raw)
    for _ in range(100):
        await response.write(b" ")
        await asyncio.sleep(0.1)
    return response


def test_pages(collect: Collect) -> None:
    with many(1234).running() as cluster:
        bundle = collect(cluster)
    request = bundle.request("pods")
    assert (request["outcome"], request["pages"], request["objects"]) == ("ok", 3, 1234)
    names = [pod["metadata"]["name"] for number in range(4) for pod in bundle.items(f"namespaces/ns-{number:02d}/core/pods.yaml")]
    assert names == [f"p-{number:05d}" for number in range(1234)]


def test_an_expired_token_restarts_the_list_once(collect: Collect) -> None:
    cluster = many(1234)
    expired = status(410, "The provided continue parameter is too old", reason="Expired")
    cluster.faults["pods"] = [lambda _: None, lambda _: expired]
    with cluster.running():
        bundle = collect(cluster)
    request = bundle.request("pods")
    assert (request["outcome"], request["objects"]) == ("ok", 1234)
    assert bundle.manifest["counts"]["objects"] == 1236
    assert len(bundle.items("namespaces/ns-00/core/pods.yaml")) == 400


def test_a_token_that_expires_again_leaves_a_part(collect: Collect) -> None:
    cluster = many(1234)

    def expired(asked: Asked) -> aiohttp.web.Response | None:
        return status(410, "The provided continue parameter is too old") if "continue" in asked.params else None

    cluster.faults["pods"] = [forever(expired)]
    with cluster.running():
        bundle = collect(cluster)
    request = bundle.request("pods")
    assert (request["outcome"], request["status"], request["pages"], request["objects"]) == ("truncated", 410, 1, 500)
    assert "too old" in request["message"]
    assert len([path for path in cluster.paths() if path.startswith("/api/v1/pods")]) == 4


def test_forbidden_and_not_served(collect: Collect) -> None:
    cluster = small().serve("secrets").serve("services")
    cluster.forbidden.add("secrets")
    cluster.faults["services"] = [forever(lambda _: status(404, "the server could not find the requested resource"))]
    with cluster.running():
        bundle = collect(cluster)
    request = bundle.request("secrets", namespace="*")
    assert (request["outcome"], request["status"]) == ("forbidden", 403)
    assert request["message"] == 'secrets is forbidden: User "dev" cannot list resource "secrets"'
    assert bundle.request("services")["outcome"] == "not-served"
    assert bundle.request("pods")["outcome"] == "ok"


def test_too_many_requests_waits_as_asked(collect: Collect) -> None:
    cluster = small()
    cluster.faults["nodes"] = [lambda _: status(429, "slow down", {"Retry-After": "1"})]
    begin = time.monotonic()
    with cluster.running():
        bundle = collect(cluster)
    assert time.monotonic() - begin >= 1
    assert bundle.request("nodes")["outcome"] == "ok"


@pytest.mark.parametrize("code", [500, 503])
def test_a_server_error_is_tried_again_and_then_told(collect: Collect, code: int) -> None:
    cluster = small()
    cluster.faults["pods"] = [lambda _: status(code, "etcd is away", {"Retry-After": "0"})]
    cluster.faults["nodes"] = [forever(lambda _: status(code, "etcdserver: request timed out", {"Retry-After": "0"}))]
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("pods")["outcome"] == "ok"
    request = bundle.request("nodes")
    assert (request["outcome"], request["status"], request["message"]) == ("failed", code, "etcdserver: request timed out")
    assert len([path for path in cluster.paths() if path.startswith("/api/v1/nodes")]) == 4


def test_cut_answers(collect: Collect) -> None:
    cluster = small()
    cluster.faults["pods"] = [cut]
    cluster.faults["nodes"] = [forever(cut)]
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("pods")["outcome"] == "ok"
    request = bundle.request("nodes")
    assert (request["outcome"], request["objects"]) == ("failed", 0)


def test_slow_answers_time_out(collect: Collect) -> None:
    cluster = small()
    cluster.faults["nodes"] = [forever(hang)]
    cluster.faults["deployments.apps"] = [forever(drip)]
    with cluster.running():
        bundle = collect(cluster, request_timeout=2.0)
    assert bundle.request("nodes")["outcome"] == "timed-out"
    request = bundle.request("deployments", "apps")
    assert (request["outcome"], request["message"]) == ("timed-out", "no whole answer within 2 s")
    assert bundle.request("pods")["outcome"] == "ok"


def test_words_of_a_refusal_that_never_end(collect: Collect) -> None:
    async def dripping(asked: Asked) -> aiohttp.web.StreamResponse:
        response = aiohttp.web.StreamResponse(status=403)
        await response.prepare(asked.raw)
        for _ in range(600):
            await response.write(b"no ")
            await asyncio.sleep(0.1)
        return response

    cluster = small()
    cluster.faults["nodes"] = [dripping]
    with cluster.running():
        begin = time.monotonic()
        request = collect(cluster, request_timeout=1.0).request("nodes")
    assert time.monotonic() - begin < 50
    assert (request["outcome"], request["message"].split()[0]) == ("forbidden", "no")


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b"<html>login</html>", "failed"),
        (b"[]", "failed"),
        (b'{"items": 3}', "failed"),
        (b'{"items": null}', "ok"),
        (b'{"items":[1,{"metadata":{"name":"ok"}}]}', "truncated"),
        (b'{"items":[' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"]}", "failed"),
    ],
)
def test_answers_that_are_no_lists(collect: Collect, body: bytes, outcome: str) -> None:
    cluster = small()
    cluster.faults["nodes"] = [forever(lambda _: aiohttp.web.Response(body=body))]
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("nodes")["outcome"] == outcome


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"come back later"}', "failed"),
        (b'{"error":"log in first"}', "failed"),
        (b"{}", "failed"),
        (b'{"kind":"PodList","apiVersion":"v1","metadata":{}}', "ok"),
        (b'{"items":null}', "ok"),
    ],
)
def test_an_answer_without_items_proves_nothing_unless_it_is_a_list(collect: Collect, body: bytes, outcome: str) -> None:
    cluster = small()
    cluster.faults["pods"] = [forever(lambda _: aiohttp.web.Response(body=body, content_type="application/json"))]
    with cluster.running():
        found = collect(cluster).request("pods")
    assert (found["outcome"], found["objects"]) == (outcome, 0)
    if b"Status" in body:
        assert found["message"] == "the answer is no list: come back later"


def test_a_list_that_began_anew_counts_nothing_twice(collect: Collect) -> None:
    def older(asked: Asked) -> aiohttp.web.Response:
        meta = {"resourceVersion": "76", "continue": "500"}
        items = [running(f"p-{number:05d}", "ns-00") for number in range(500)]
        return aiohttp.web.json_response({"kind": "PodList", "apiVersion": "v1", "metadata": meta, "items": items})

    cluster = many(800)
    cluster.faults["pods"] = [older, lambda _: status(410, "too old")]
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("pods")["objects"] == 800
    assert bundle.left_out("logs of pods") == 800
    assert json.loads(bundle.files["namespaces/ns-00/core/pods.yaml"])["metadata"] == {"resourceVersion": "77"}


def test_a_list_without_end(collect: Collect) -> None:
    cluster = small()
    body = b'{"metadata":{"continue":"again"},"items":[]}'
    cluster.faults["nodes"] = [forever(lambda _: aiohttp.web.Response(body=body))]
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("nodes")["outcome"] == "truncated"


def test_pages_too_large_are_asked_for_in_smaller_ones(collect: Collect) -> None:
    cluster = many(30, "widgets.nvidia.com")

    def large(asked: Asked) -> aiohttp.web.Response | None:
        return aiohttp.web.Response(body=b" " * (65 << 20)) if int(asked.params["limit"]) > 8 else None

    cluster.faults["widgets.nvidia.com"] = [forever(large)]
    with cluster.running():
        bundle = collect(cluster)
    request = bundle.request("widgets", "nvidia.com")
    assert (request["outcome"], request["objects"], request["pages"]) == ("ok", 30, 5)


def test_compressed_answers(collect: Collect) -> None:
    cluster = small()
    body = b'{"metadata":{},"items":[' + b",".join(b'{"metadata":{"name":"n-%06d"}}' % number for number in range(20_000)) + b"]}"

    def packed(asked: Asked) -> aiohttp.web.Response:
        assert asked.headers["Accept-Encoding"] == "gzip"
        return aiohttp.web.Response(body=gzip.compress(body), headers={"Content-Encoding": "gzip"})

    cluster.faults["nodes"] = [packed]
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("nodes")["objects"] == 20_000


def test_a_redirect_is_not_followed(collect: Collect) -> None:
    cluster = small()
    cluster.faults["nodes"] = [forever(lambda _: aiohttp.web.Response(status=302, headers={"Location": "/api/v1/pods"}))]
    with cluster.running():
        bundle = collect(cluster)
    assert (bundle.request("nodes")["outcome"], bundle.request("nodes")["status"]) == ("failed", 302)


def test_secrets_in_a_refusal_are_masked(collect: Collect) -> None:
    cluster = small()
    cluster.faults["nodes"] = [forever(lambda _: status(403, "webhook https://me:hunter22@proxy.example/x?token=abc says no"))]
    with cluster.running():
        bundle = collect(cluster)
    assert "hunter22" not in bundle.request("nodes")["message"]
    assert "token=abc" not in bundle.request("nodes")["message"]


def test_fallback_to_the_own_namespace(collect: Collect) -> None:
    cluster = small()
    cluster.forbidden.update({"pods@*", "namespaces", "nodes"})
    with cluster.running():
        bundle = collect(cluster)
    assert bundle.request("pods", namespace="*")["outcome"] == "forbidden"
    assert bundle.request("pods", namespace="team-a") | {"outcome": "ok", "objects": 2} == bundle.request(
        "pods", namespace="team-a"
    )
    assert [value["metadata"]["name"] for value in bundle.items("cluster-scoped-resources/core/namespaces.yaml")] == ["team-a"]
    # One of them proves nothing of the others.
    assert bundle.request("namespaces") | {"outcome": "forbidden", "objects": 1} == bundle.request("namespaces")


def test_some_namespaces_only(collect: Collect) -> None:
    with small().running() as cluster:
        bundle = collect(cluster, namespaces=("team-b", "team-a"))
    assert bundle.manifest["scope"] == {"namespaces": ["team-a", "team-b"]}
    assert bundle.request("pods", namespace="team-a")["objects"] == 2
    assert bundle.request("pods", namespace="team-b")["objects"] == 1
    assert bundle.request("nodes")["namespace"] == ""
    assert not [path for path in cluster.paths() if path.startswith("/api/v1/pods")]


def test_a_namespace_that_is_not_there(collect: Collect) -> None:
    with small().running() as cluster, pytest.raises(UsageError, match="the cluster has no namespace nope"):
        collect(cluster, namespaces=("team-a", "nope"))


def test_no_permission_at_all(collect: Collect) -> None:
    cluster = small()
    cluster.forbidden.update({"namespaces", "nodes", "pods", "events", "deployments.apps"})
    cluster.resources["namespaces"].clear()
    with cluster.running(), pytest.raises(ClusterError, match=r"no permission to read anything of the cluster: .* is forbidden"):
        collect(cluster)


def test_events_of_the_second_api_only_where_the_first_is_not_had(collect: Collect) -> None:
    cluster = small().serve("events.events.k8s.io", obj("e", "team-a", note="x"))
    with cluster.running():
        plain = collect(cluster)
        cluster.forbidden.add("events")
        other = collect(cluster)
    assert plain.left_out("events.events.k8s.io") == 1
    assert not [entry for entry in plain.manifest["requests"] if entry["resource"] == "events" and entry["group"]]
    assert other.request("events", "events.k8s.io")["outcome"] == "ok"
    assert "namespaces/team-a/events.k8s.io/events.yaml" in other.files


def test_fifty_thousand_pods(collect: Collect) -> None:
    with many(50_000).running() as cluster:
        bundle = collect(cluster)
    request = bundle.request("pods")
    assert (request["outcome"], request["objects"], request["pages"]) == ("ok", 50_000, 100)
    assert sum(len(bundle.items(name)) for name in bundle.files if name.endswith("/core/pods.yaml")) == 50_000
