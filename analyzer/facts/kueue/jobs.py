"""The jobs that Workloads stand for, and the jobs that name a queue and have no Workload."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb
import orjson

from analyzer.facts.kueue.base import GROUP, QUEUE_LABEL
from analyzer.facts.kueue.load import Load
from analyzer.facts.rows import insert_rows
from analyzer.facts.values import flag, mapping, text

_STEPS = 10
"""Owners up from an object that are looked at."""
KINDS = frozenset(
    {
        ("", "Pod"),
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("batch", "Job"),
        ("jobset.x-k8s.io", "JobSet"),
        ("ray.io", "RayCluster"),
        ("ray.io", "RayJob"),
        ("ray.io", "RayService"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
        ("trainer.kubeflow.org", "TrainJob"),
        ("workload.codeflare.dev", "AppWrapper"),
        ("sparkoperator.k8s.io", "SparkApplication"),
    }
    | {("kubeflow.org", kind) for kind in ("MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MXJob")}
)
"""Kinds that Kueue makes Workloads for."""

_HASH = re.compile(r"-[0-9a-f]{5}")
_FINISHED = ["Complete", "Completed", "Failed", "Succeeded", "Finished"]
_OVER_PHASES = frozenset({"Succeeded", "Failed", "Complete", "Completed", "Stopped", "COMPLETED", "FAILED"})

_CANDIDATES = """
SELECT object_id, input, api_group, kind, namespace, name, uid, created_at, deleted_at,
  json -> '$.metadata.labels', json -> '$.metadata.annotations',
  json -> '$.spec.suspend', json -> '$.spec.runPolicy.suspend',
  json_extract_string(json, '$.status.phase'), json_extract_string(json, '$.status.jobDeploymentStatus'),
  json_extract_string(json, '$.spec.nodeName')
FROM objects
WHERE api_group <> ? AND kind <> 'Event' AND (contains(json::VARCHAR, '"kueue.x-k8s.io/') OR uid IN (SELECT unnest(?::VARCHAR[])))
ORDER BY object_id
"""


@dataclass(slots=True)
class Job:
    """An object that a Workload may stand for."""

    object_id: int
    row: dict[str, Any]
    uid: str
    marks: dict[str, str]
    suspended: bool | None
    over: bool
    bound: bool
    workload: Load | None = None
    joined_by: str | None = None


class Finder:
    """Finds the Workload of a job by the marks that Kueue leaves, the surest first."""

    def __init__(self, loads: Sequence[Load]) -> None:
        """Sorts the Workloads by what they can be found by."""
        self._by_name: dict[tuple[str, str], list[Load]] = {}
        self._by_uid: dict[str, list[Load]] = {}
        self._by_owner: dict[str, list[Load]] = {}
        self._by_base: dict[tuple[str, str], list[Load]] = {}
        for one in loads:
            self._by_name.setdefault((one.namespace, one.name), []).append(one)
            if one.job_uid:
                self._by_uid.setdefault(one.job_uid, []).append(one)
            for uid, _, _ in one.owners:
                if uid:
                    self._by_owner.setdefault(uid, []).append(one)
            if not one.job_uid and not one.owners and _HASH.fullmatch(one.name[-6:]):
                self._by_base.setdefault((one.namespace, one.name[:-6]), []).append(one)

    @property
    def uids(self) -> list[str]:
        """The uids of all jobs that Workloads name."""
        return sorted(self._by_uid.keys() | self._by_owner.keys())

    def find(self, job: Job) -> tuple[Load | None, str | None]:
        """The newest Workload of the job that is not finished, and what joins them."""
        space, marks = job.row["namespace"], job.marks
        base = f"{job.row['kind'].lower()}-{job.row['name']}"
        ways: tuple[tuple[str, Iterable[Load]], ...] = (
            ("prebuilt", self._by_name.get((space, marks.get("prebuilt-workload-name", "")), ())),
            ("uid", self._by_uid.get(job.uid, ()) if job.uid else ()),
            ("owner", self._by_owner.get(job.uid, ()) if job.uid else ()),
            ("group", self._by_name.get((space, marks.get("pod-group-name", "")), ())),
            ("annotation", self._by_name.get((space, marks.get("workload", "")), ())),
            ("name", self._by_base.get((space, base), ())),
        )
        for how, found in ways:
            listed = sorted(found, key=lambda one: (one.state != "Finished", one.created_at or datetime.min), reverse=True)  # noqa: DTZ901 - naive as all
            if listed:
                return listed[0], how
        return None, None


def derive(con: duckdb.DuckDBPyConnection, loads: Sequence[Load]) -> None:
    """Fills `kueue_jobs`, and the edges `workload`: Workload → its job → the job's pods."""
    finder = Finder(loads)
    jobs = _candidates(con, finder)
    owner_of = dict(
        con.execute("SELECT object_id, min(owner_id) FROM owners WHERE controller AND owner_id IS NOT NULL GROUP BY 1").fetchall()
    )
    for job in jobs.values():
        job.workload, job.joined_by = finder.find(job)
    pods = con.execute("SELECT object_id, node <> '' FROM pods").fetchall()
    working: set[int] = set()
    edges = [{"src": j.workload.object_id, "dst": j.object_id, "kind": "workload"} for j in jobs.values() if j.workload]
    for pod, bound in pods:
        for above in _above(pod, owner_of):
            if above in jobs:
                edges.append({"src": above, "dst": pod, "kind": "workload"})
                if bound:
                    working.add(above)
    insert_rows(con, "relations", edges)
    insert_rows(con, "kueue_jobs", (_row(job, jobs, owner_of, working) for job in jobs.values() if _counts(job)))


def _counts(job: Job) -> bool:
    return job.workload is not None or "queue-name" in job.marks


def _candidates(con: duckdb.DuckDBPyConnection, finder: Finder) -> dict[int, Job]:
    over = {
        number
        for (number,) in con.execute(
            "SELECT DISTINCT object_id FROM conditions WHERE status = 'True' AND list_contains(?, type)", [_FINISHED]
        ).fetchall()
    }
    known = set(finder.uids)
    jobs: dict[int, Job] = {}
    for row in con.execute(_CANDIDATES, [GROUP, finder.uids]).fetchall():
        object_id, origin, group, kind, namespace, name, uid, created_at, deleted_at = row[:9]
        if (group, kind) not in KINDS and uid not in known:
            continue
        marks = _marks(row[10]) | _marks(row[9])
        # Label beside annotation: pods of old versions name their queue in the annotation.
        path = "labels" if QUEUE_LABEL in _loaded(row[9]) else "annotations"
        suspend = flag(_loaded_value(row[11]))
        suspended = flag(_loaded_value(row[12])) if suspend is None else suspend
        jobs[object_id] = Job(
            object_id,
            {
                "object_id": object_id,
                "input": origin,
                "api_group": group,
                "kind": kind,
                "namespace": namespace,
                "name": name,
                "queue": marks.get("queue-name"),
                "queue_path": f'metadata.{path}["{QUEUE_LABEL}"]' if "queue-name" in marks else None,
                "created_at": created_at,
            },
            uid,
            marks,
            suspended,
            object_id in over or deleted_at is not None or row[13] in _OVER_PHASES or row[14] in _OVER_PHASES,
            bool(row[15]),
        )
    return jobs


def _row(job: Job, jobs: dict[int, Job], owner_of: dict[int, int], working: set[int]) -> dict[str, Any]:
    parent = next((jobs[above] for above in _above(job.object_id, owner_of) if above in jobs), None)
    return {key: value for key, value in job.row.items() if key != "created_at"} | {
        "workload_id": job.workload.object_id if job.workload else None,
        "joined_by": job.joined_by,
        "parent_id": parent.object_id if parent else None,
        "parent": f"{parent.row['kind']} {parent.row['name']}" if parent else None,
        "suspended": job.suspended,
        "over": job.over,
        "working": job.bound or job.object_id in working,
    }


def _above(object_id: int, owner_of: dict[int, int]) -> Iterable[int]:
    """The owners of an object, the nearest first."""
    number: int | None = object_id
    for _ in range(_STEPS):
        number = owner_of.get(number) if number is not None else None
        if number is None:
            return
        yield number


def _marks(held: str | None) -> dict[str, str]:
    """Kueue's own labels or annotations, without their prefix."""
    prefix = f"{GROUP}/"
    return {
        key.removeprefix(prefix): str(value) for key, value in _loaded(held).items() if key.startswith(prefix) and text(value)
    }


def _loaded(held: str | None) -> dict[str, Any]:
    return mapping(_loaded_value(held))


def _loaded_value(held: str | None) -> Any:
    return orjson.loads(held) if held else None
