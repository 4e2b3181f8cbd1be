"""Which object KIND/NAME means: words of a kind, groups, namespaces, what is gone, and why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer.bundle.errors import UnreadableError, UsageError
from analyzer.facts.rows import insert_rows
from analyzer.store.lookup import AmbiguousError, NotInBundleError, asked, lookup
from analyzer.store.reading import reading
from tests.facts.build import database


def thing(api: str, kind: str, name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata | more.pop("metadata", {}), **more}


CRD = thing(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", "gadgets.lab.example",
    spec={"group": "lab.example", "scope": "Namespaced",
          "names": {"kind": "Gadget", "plural": "gadgetry", "singular": "gadgeteer", "shortNames": ["gdg", 7]}},
)  # fmt: skip

OBJECTS = [
    CRD,
    thing("v1", "Namespace", "shop"),
    thing("v1", "Namespace", "lab"),
    thing("v1", "Pod", "app-0", "shop", metadata={"uid": "u-1"}),
    thing("v1", "Pod", "app-0", "lab", metadata={"uid": "u-2"}),
    thing("v1", "Pod", "one", "shop"),
    thing("v1", "Service", "web", "shop"),
    thing("serving.knative.dev/v1", "Service", "web", "shop"),
    thing("serving.knative.dev/v1", "Service", "only-knative", "shop"),
    thing("v1", "Node", "n1"),
    thing("longhorn.io/v1beta2", "Node", "n1", "lab"),
    thing("apps/v1", "Deployment", "web", "shop"),
    thing("serving.kserve.io/v1beta1", "InferenceService", "m", "lab"),
    thing("ome.io/v1beta1", "InferenceService", "m", "lab"),
    thing("machine.openshift.io/v1beta1", "Machine", "x", "lab"),
    thing("cluster.x-k8s.io/v1beta1", "Machine", "x", "lab"),
    thing("lab.example/v1", "Gadget", "g", "lab"),
    thing("v1", "Event", "e", "shop", metadata={"uid": "same"}),
    thing("events.k8s.io/v1", "Event", "e", "shop", metadata={"uid": "same"}),
]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    con = database(OBJECTS, lists=[("", "ConfigMap")])
    insert_rows(
        con, "states",
        [{"object_id": 9, "api_group": "resource.k8s.io", "kind": "Device", "namespace": "", "name": "drv/pool/gpu-0",
          "state": "Free"}],
    )  # fmt: skip
    insert_rows(
        con, "gone_objects",
        [{"object_id": 900, "input": 0, "api_group": "", "kind": "Pod", "namespace": "shop", "name": "old",
          "uid": "u-9", "json": {}}],
    )  # fmt: skip
    with con:
        yield con


@pytest.mark.parametrize(
    ("text", "namespace", "found"),
    [
        ("pod/one", None, "Pod/one -n shop"),
        ("PODS/one", None, "Pod/one -n shop"),
        ("po/one", "shop", "Pod/one -n shop"),
        ("pods.v1/one", None, "Pod/one -n shop"),
        ("pod./one", None, "Pod/one -n shop"),
        ("pod/app-0", "lab", "Pod/app-0 -n lab"),
        ("deploy/web", None, "Deployment.apps/web -n shop"),
        ("deployments.v1.apps/web", None, "Deployment.apps/web -n shop"),
        ("Deployment.apps/web", None, "Deployment.apps/web -n shop"),
        ("svc/web", None, "Service/web -n shop"),
        ("svc/web", "shop", "Service/web -n shop"),
        ("service.serving.knative.dev/web", None, "Service.serving.knative.dev/web -n shop"),
        ("ksvc/web", None, "Service.serving.knative.dev/web -n shop"),
        ("service/only-knative", None, "Service.serving.knative.dev/only-knative -n shop"),
        ("node/n1", None, "Node/n1"),
        ("node/n1", "shop", "Node/n1"),
        ("node/n1", "lab", "Node/n1"),
        ("nodes.longhorn.io/n1", None, "Node.longhorn.io/n1 -n lab"),
        ("isvc.ome/m", None, "InferenceService.ome.io/m -n lab"),
        ("gadget/g", None, "Gadget.lab.example/g -n lab"),
        ("gadgetry/g", None, "Gadget.lab.example/g -n lab"),
        ("GADGETEER/g", None, "Gadget.lab.example/g -n lab"),
        ("gdg/g", None, "Gadget.lab.example/g -n lab"),
        ("gdg.lab.example/g", "lab", "Gadget.lab.example/g -n lab"),
        ("event/e", None, "Event/e -n shop"),
        ("crd/gadgets.lab.example", None, "CustomResourceDefinition.apiextensions.k8s.io/gadgets.lab.example"),
        ("device/drv/pool/gpu-0", "shop", "Device.resource.k8s.io/drv/pool/gpu-0"),
        ("pod/old", None, "Pod/old -n shop"),
    ],
)
def test_what_is_meant(con: duckdb.DuckDBPyConnection, text: str, namespace: str | None, found: str) -> None:
    assert str(lookup(con, asked(text), namespace)) == found


def test_what_is_gone_or_no_object_says_so(con: duckdb.DuckDBPyConnection) -> None:
    assert lookup(con, asked("pod/old")).gone
    assert not lookup(con, asked("pod/one")).gone
    device = lookup(con, asked("devices/drv/pool/gpu-0"))
    assert not device.is_object
    assert not device.gone


@pytest.mark.parametrize(
    ("text", "namespace", "count"),
    [("pod/app-0", None, 2), ("isvc/m", None, 2), ("isvc/m", "lab", 2), ("machine/x", None, 2)],
)
def test_several_are_listed(con: duckdb.DuckDBPyConnection, text: str, namespace: str | None, count: int) -> None:
    with pytest.raises(AmbiguousError) as caught:
        lookup(con, asked(text), namespace)
    assert len(caught.value.matches) == count


@pytest.mark.parametrize(
    ("text", "namespace", "word", "says"),
    [
        ("pod/none", "shop", "not found", "Pod none in namespace shop"),
        ("pod/none", None, "not found", "Pod none"),
        ("pod/one", "lab", "not found", "namespace lab"),
        ("pod/one", "moon", "not found", "there is no namespace moon"),
        ("configmap/x", "shop", "not found", "ConfigMap x"),
        ("lease/x", "shop", "not collected", "the bundle has no file of it"),
        ("whatsit/x", None, "not collected", "of a kind whatsit"),
        ("isvc.nowhere.example/m", None, "not collected", "isvc.nowhere.example"),
    ],
)
def test_why_there_is_none(con: duckdb.DuckDBPyConnection, text: str, namespace: str | None, word: str, says: str) -> None:
    with pytest.raises(NotInBundleError) as caught:
        lookup(con, asked(text), namespace)
    assert (caught.value.word, says in str(caught.value)) == (word, True), str(caught.value)


@pytest.mark.parametrize(
    ("status", "scope", "word", "says"),
    [
        ("complete", ["*"], "not found", "not found"),
        ("absent", ["*"], "not found", "not found"),
        ("complete", ["shop"], "not collected", "no list of that namespace"),
        ("partial", ["*"], "partial", "not found in what was collected"),
        ("forbidden", [], "forbidden", "not collected"),
        ("removed", [], "removed", "not collected"),
        ("not-collected", [], "not collected", "not collected"),
    ],
)
def test_coverage_decides(status: str, scope: list[str], word: str, says: str) -> None:
    with database([thing("v1", "Pod", "p", "lab")]) as con:
        con.execute("UPDATE coverage SET status = ?, scope = ?, reason = 'why so' WHERE kind = 'Pod'", [status, scope])
        with pytest.raises(NotInBundleError) as caught:
            lookup(con, asked("pod/q"), "lab")
        assert caught.value.word == word
        assert says in str(caught.value)


def test_hints_name_what_may_be_meant(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(NotInBundleError) as caught:
        lookup(con, asked("pod/one"), "lab")
    assert caught.value.hints == ("pod/one -n shop",)
    with pytest.raises(NotInBundleError) as caught:
        lookup(con, asked("pod/app"), "lab")
    assert caught.value.hints == ("pod/app-0 -n lab",)
    with pytest.raises(NotInBundleError, match=r"^not found: Device gpu-0$") as caught:
        lookup(con, asked("device/gpu-0"))
    assert caught.value.hints == ("device/drv/pool/gpu-0",)


@pytest.mark.parametrize("text", ["", "pod", "pod/", "/x", "  /  ", "pod app-0"])
def test_what_is_no_kind_and_name(text: str) -> None:
    with pytest.raises(UsageError):
        asked(text)


def test_hostile_words_are_only_words(con: duckdb.DuckDBPyConnection) -> None:
    for text in ("pod/'; DROP TABLE objects; --", "p'od/x", "pod.%/x", "pod/\x1b[31m", "a.b.c.d.e/x" * 50):
        with pytest.raises(NotInBundleError):
            lookup(con, asked(text), "'")


def test_only_databases_of_ours_are_read(tmp_path: Path) -> None:
    other = tmp_path / "bundle.duckdb"
    duckdb.connect(str(other)).close()
    noise = tmp_path / "noise.duckdb"
    noise.write_bytes(b"no database at all" * 100)
    for path in (other, noise, tmp_path / "missing"):
        with pytest.raises(UnreadableError), reading(path):
            pass


def test_a_database_that_is_read_reaches_no_file(tmp_path: Path) -> None:
    path = tmp_path / "bundle.duckdb"
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE meta AS SELECT 'schema' AS key, 'triage.db/v1' AS value")
        con.execute(f"CREATE VIEW objects AS SELECT content FROM read_text('{secret}')")
    with reading(path) as con, pytest.raises(duckdb.Error):
        con.execute("FROM objects").fetchall()
