"""Jobs that run to an end, of any kind: tries, pods, what failed first; what a training job or an AppWrapper is made of."""

from __future__ import annotations

import duckdb

from analyzer.facts.related.runs import TRAINING
from analyzer.facts.values import mapping, mappings, number, text
from analyzer.render import words as report_words
from analyzer.show import words
from analyzer.show.model import Fact, Item, Section, Table, Tone
from analyzer.show.subject import DetailsTable, Subject, lacking, one, rows, whole

_ROWS = 30
_TRAINER = "trainer.kubeflow.org"


def run(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """Tries against their limit, pods, the pod that failed first with what its log says, or else one that cannot start."""
    row = one(con, "SELECT * FROM job_runs WHERE object_id = ?", it.id)
    if row is None:
        return Section("Run")
    facts: list[Item] = []
    if row["counted"] and it.target.group != "batch":
        of = f" of {report_words.number(row['allowed'])}" if row["allowed"] is not None else ", no limit is written"
        facts.append(Fact(words.short(row["counted"]).capitalize(), f"{report_words.number(row['used'])}{of}"))
    if row["pods"]:
        failed = f", {report_words.number(row['pods_failed'])} failed" if row["pods_failed"] else ""
        facts.append(Fact("Pods", f"{row['pods_ready']} of {row['pods']} ready{failed}"))
    if row["failed_pod"]:
        container = f", container {words.short(row['failed_container'], 120)}" if row["failed_container"] else ""
        ended = f": {words.short(row['failed_words'])}" if row["failed_words"] else ""
        facts.append(Fact("Failed first", f"Pod {words.short(row['failed_pod'], 120)}{container}{ended}", "error"))
        said = one(
            con,
            "SELECT e.text FROM containers c JOIN log_ends e ON e.log_id = c.end_log_id AND e.telling "
            "WHERE c.object_id = ? AND c.container = ?",
            row["failed_pod_id"], row["failed_container"],
        )  # fmt: skip
        if said:
            facts.append(Fact("Its log says", words.quoted(said["text"])))
    elif row["stuck_pod"]:
        stuck = f"Pod {words.short(row['stuck_pod'], 120)}: {words.short(row['stuck_words'])}"
        facts.append(Fact("Does not run", stuck, "error"))
    return Section("Run", tuple(facts))


def replicas(_con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The replica types of a training job, by its status."""
    wanted = mapping(next((it.spec[key] for key in it.spec if key.endswith("ReplicaSpecs")), None))
    told = mapping(it.status.get("replicaStatuses"))
    lines: list[tuple[str, ...]] = []
    tones: list[Tone] = []
    for name in sorted({*wanted, *told})[:_ROWS]:
        spec, status = mapping(wanted.get(name)), mapping(told.get(name))
        count = number(spec.get("replicas"))
        counts = [number(status.get(key)) or 0 for key in ("active", "succeeded", "failed")]
        policy = words.short(text(spec.get("restartPolicy")), 40)
        lines.append((words.short(name, 60), "1" if count is None else str(count), *map(str, counts), policy))
        tones.append("error" if counts[2] else "")
    head = ("replicas", "wanted", "active", "succeeded", "failed", "restart policy")
    return Section("Replicas", (Table(head, tuple(lines), tuple(tones)),) if lines else ())


def train_job(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The runtime that a TrainJob names, and the JobSet that does its work."""
    runtime = mapping(it.spec.get("runtimeRef"))
    kind = text(runtime.get("kind")) or "ClusterTrainingRuntime"
    name = text(runtime.get("name"))
    facts: list[Item] = []
    if name:
        space = "" if kind == "ClusterTrainingRuntime" else it.namespace
        there = one(
            con,
            "SELECT 1 FROM objects WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ?",
            _TRAINER,
            kind,
            space,
            name,
        )
        lacks = "" if there else lacking(con, _TRAINER, kind, space or "*")
        facts.append(Fact("Runtime", f"{words.short(kind, 60)} {words.short(name, 120)}{lacks}", "" if there else "warning"))
    nodes = number(mapping(it.spec.get("trainer")).get("numNodes"))
    if nodes is not None:
        facts.append(Fact("Nodes", report_words.number(nodes)))
    row = one(con, "SELECT * FROM jobsets WHERE namespace = ? AND name = ?", it.namespace, it.name)
    if row is None:
        none = "none yet" if whole(con, "jobset.x-k8s.io", "JobSet", it.namespace) else "not in this bundle"
        facts.append(Fact("JobSet", none))
    else:
        facts.append(Fact("JobSet", f"{words.short(row['name'], 120)} ({words.short(row['state'])})"))
        if row["failed_job"]:
            said = words.said(row["failed_job_reason"], row["failed_job_message"])
            facts.append(Fact("Its failed Job", f"{words.short(row['failed_job'], 120)}{f': {said}' if said else ''}", "error"))
    return Section("Training", tuple(facts))


def app_wrapper(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """What an AppWrapper wraps, with the states that the bundle has of it."""
    lines: list[tuple[str, ...]] = []
    parts = mappings(it.spec.get("components"))
    for part in parts[:_ROWS]:
        template = mapping(part.get("template"))
        kind, group = text(template.get("kind")) or "", (text(template.get("apiVersion")) or "").rpartition("/")[0]
        name = text(mapping(template.get("metadata")).get("name")) or ""
        space = text(mapping(template.get("metadata")).get("namespace")) or it.namespace
        state = one(
            con,
            "SELECT o.object_id, s.state FROM objects o LEFT JOIN states s USING (object_id) "
            "WHERE o.api_group = ? AND o.kind = ? AND o.namespace = ? AND o.name = ?",
            group, kind, space, name,
        )  # fmt: skip
        known = "not in this bundle" if state is None else words.short(state["state"]) or "there"
        lines.append((words.short(f"{kind}.{group}" if group else kind, 100), words.short(name, 120), known))
    items: list[Item] = [Table(("kind", "name", "state"), tuple(lines))] if lines else []
    return Section("Wraps", (*items, *words.more(len(parts), _ROWS, "part")))


def group_workloads(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The Workloads of a LeaderWorkerSet: Kueue makes one for each of its groups."""
    query = (
        "SELECT w.* FROM owners o JOIN workloads w USING (object_id) WHERE o.owner_id = ? "
        "ORDER BY w.waiting DESC, w.namespace, w.name"
    )
    found = list(rows(con, query, it.id))
    if len(found) < 2:
        return Section("Workloads of its groups")
    lines = tuple(
        (
            words.short(row["name"], 120),
            f"{words.short(row['state'])}, {words.since(row['since'], it.as_of)}",
            words.said(row["wait_reason"], row["wait_message"]) if row["waiting"] else "",
        )
        for row in found[:_ROWS]
    )
    table: list[Item] = [Table(("workload", "state", "why it waits"), lines)]
    return Section("Workloads of its groups", (*table, *words.more(len(found), _ROWS, "workload")))


DETAILS: DetailsTable = {
    ("batch", "Job"): (run,),
    (_TRAINER, "TrainJob"): (train_job, run),
    ("workload.codeflare.dev", "AppWrapper"): (app_wrapper, run),
    ("batch.volcano.sh", "Job"): (run,),
    ("sparkoperator.k8s.io", "SparkApplication"): (run,),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (group_workloads,),
    **{("kubeflow.org", kind): (replicas, run) for kind in TRAINING},
}
