"""A bundle of our own format, written from its documentation alone (docs/bundle-format.md), and what `analyze` makes of it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from analyzer import facts
from analyzer.bundle.read import read_bundle
from analyzer.store.load import load
from tests.program import said

TOP = "triage-bundle/"
MANIFEST = "triage-manifest.json"
START, END = "2026-08-18T13:00:00Z", "2026-08-18T13:06:40Z"
PLURALS = {"Pod": "pods", "Node": "nodes", "Namespace": "namespaces", "ConfigMap": "configmaps", "Secret": "secrets"}
PLURALS |= {"Event": "events", "Deployment": "deployments", "CustomResourceDefinition": "customresourcedefinitions"}
CLUSTER_KINDS = {"Node", "Namespace", "CustomResourceDefinition"}


def meta(name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    space = {"namespace": namespace} if namespace else {}
    return {"name": name, **space, "uid": f"uid-{namespace}-{name}", "resourceVersion": "7", **more}


def pod(name: str, namespace: str, **more: Any) -> dict[str, Any]:
    value = {"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, namespace), "status": {"phase": "Running"}}
    return value | {"spec": {"containers": [{"name": "stir", "image": "registry.example/stir:1"}]}} | more


def bare(kind: str, name: str, namespace: str = "", api: str = "v1", **more: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": meta(name, namespace), **more}


def request(kind: str, outcome: str = "ok", namespace: str = "*", *, group: str = "", **more: Any) -> dict[str, Any]:
    spaced = kind not in CLUSTER_KINDS
    plural = PLURALS.get(kind, kind.lower() + "s")
    place = {"resource": plural, "group": group, "version": "v1", "kind": kind, "namespaced": spaced}
    place["namespace"] = namespace if spaced else ""
    return place | {"outcome": outcome, "status": 200, "message": "", "pages": 1, "objects": 0} | more


@dataclass
class Written:
    """A bundle: objects and logs by place, and a manifest that tests may bend."""

    objects: Iterable[Mapping[str, Any]] = ()
    requests: list[dict[str, Any]] = field(default_factory=list)
    logs: Mapping[str, str] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    drop: Iterable[str] = ()
    alter: Mapping[str, bytes] = field(default_factory=dict)

    def files(self) -> dict[str, bytes]:
        """Path below the top folder → text; the manifest last."""
        lists: dict[str, list[Mapping[str, Any]]] = {}
        for one in self.objects:
            group = one["apiVersion"].rpartition("/")[0]
            space = one["metadata"].get("namespace")
            folder = f"namespaces/{space}" if space else "cluster-scoped-resources"
            lists.setdefault(f"{folder}/{group or 'core'}/{PLURALS[one['kind']]}.yaml", []).append(one)
        for asked in self.requests:
            if not asked["namespaced"] and asked["outcome"] == "ok":
                lists.setdefault(f"cluster-scoped-resources/{asked['group'] or 'core'}/{asked['resource']}.yaml", [])
        found = {"version": b"bundle-triage\n1.2.3\n", "timestamp": f"{START}\n{END}\n".encode()}
        for path, items in sorted(lists.items()):
            rows = ",\n".join(json.dumps(item) for item in items)
            kind = items[0]["kind"] if items else "Thing"
            head = {"apiVersion": "v1", "kind": f"{kind}List", "metadata": {"resourceVersion": "99"}}
            found[path] = f'{json.dumps(head)[:-1]},"items":[\n{rows}\n]}}\n'.encode()
        found |= {path: text.encode() for path, text in self.logs.items()}
        digests = [
            {"path": path, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()} for path, text in sorted(found.items())
        ]
        manifest = {
            "format": "triage.bundle/v1",
            "tool": {"name": "bundle-triage", "version": "1.2.3", "collector": "python"},
            "redaction": "full",
            "started": START,
            "ended": "2026-08-18T13:09:00Z",
            "serverStarted": START,
            "serverEnded": END,
            "cluster": {"uid": "uid--kube-system", "version": "v1.33.1", "platform": None},
            "scope": {"namespaces": None},
            "options": {"includeSecretKeys": False, "since": None, "include": [], "as": None},
            "interrupted": False,
            "requests": self.requests,
            "logs": [],
            "leftOut": [],
            "redacted": {},
            "counts": {},
            "files": digests,
        } | self.manifest
        found |= self.alter
        if manifest["format"]:
            found[MANIFEST] = json.dumps(manifest, indent=1).encode()
        return {path: text for path, text in found.items() if path not in self.drop}

    def tar(self, path: Path, top: str = TOP) -> Path:
        """Write it as NAME.tar.gz."""
        with tarfile.open(path, "w:gz") as archive:
            for name, text in self.files().items():
                info = tarfile.TarInfo(top + name)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text))
        return path


@contextlib.contextmanager
def loaded(folder: Path, written: Written) -> Iterator[duckdb.DuckDBPyConnection]:
    """A bundle read and loaded, with all facts."""
    work = folder / "parts"
    work.mkdir()
    con = duckdb.connect(config={"threads": 1})
    try:
        con.execute("PRAGMA disable_optimizer")  # it takes longer than any plan over so few rows
        con.execute("SET TimeZone = 'UTC'")
        load(con, read_bundle([written.tar(folder / "case.tar.gz")], work, 1))
        facts.derive_all(con)
        yield con
    finally:
        con.close()


class Analyzed:
    """What `triage analyze` makes of inputs."""

    def __init__(self, folder: Path, *inputs: Path) -> None:
        done = said("analyze", *inputs, "-o", "out", "--format", "json", "--jobs", "1", here=folder)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        self.report: dict[str, Any] = json.loads((folder / "out" / "report.json").read_bytes())
        self._database = folder / "out" / "bundle.duckdb"

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self._database), read_only=True) as con:
            return con.execute(query).fetchall()

    def kind(self, kind: str, group: str = "") -> tuple[str, Any]:
        """Status and scope."""
        (one,) = [one for one in self.report["coverage"]["kinds"] if (one["group"], one["kind"]) == (group, kind)]
        return one["status"], one["scope"]

    def why(self, kind: str) -> str:
        ((reason,),) = self.sql(f"SELECT reason FROM coverage WHERE kind = '{kind}'")
        return reason or ""

    def finding(self, code: str) -> dict[str, Any]:
        (one,) = [dict(one) for one in self.report["findings"] if one["code"] == code]
        return one

    def codes(self) -> set[str]:
        return {one["code"] for one in self.report["findings"]}
