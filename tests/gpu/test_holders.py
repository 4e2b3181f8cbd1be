"""Of which pods the processes are that hold GPUs: by program, command line or parent, or that it cannot be told."""

from __future__ import annotations

from typing import Any

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from analyzer.engine.sections import Section
from analyzer.facts.gpu import holders
from analyzer.overview.gpu import sections
from analyzer.overview.marks import Marks
from tests.facts.build import database
from tests.overview.cells import by_id, row_of
from tests.show.pages import page, section

FOX = {
    "apiVersion": "v1", "kind": "Node",
    "metadata": {"name": "fox-1", "labels": {
        "nvidia.com/gpu.present": "true", "nvidia.com/mig.capable": "true", "nvidia.com/mig.config": "half",
        "nvidia.com/mig.config.state": "failed"}},
    "status": {"capacity": {"nvidia.com/gpu": "4"}, "allocatable": {"nvidia.com/gpu": "4"}},
}  # fmt: skip


def pod(name: str, on: str = "fox-1", owner: str = "", phase: str = "Running", **container: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": "den", "uid": f"u-{name}"}
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": owner, "uid": "d", "controller": True}
        ]
    spec = {"nodeName": on, "containers": [{"name": "c", "image": "i"} | container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


def process(
    pid: int, args: str = "", program: str = "", ppid: int | None = None, stat: str = "Sl", **more: Any
) -> dict[str, Any]:
    program = program or args.split(" ", maxsplit=1)[0].rpartition("/")[2]
    given_by_ps = {"user": "7", "elapsed": "10:00", "devices": ["nvidia1"], "gpus": [], "line": pid, "text": f"{pid} {args}"}
    return {"pid": pid, "ppid": ppid, "program": program, "args": args, "stat": stat} | given_by_ps | more


def told(*processes: dict[str, Any], objects: tuple[dict[str, Any], ...] = (), **more: Any) -> duckdb.DuckDBPyConnection:
    value = {"node": "fox-1", "listed": True, "more": False, "gpus": [], "holders": list(processes)} | more
    return database([FOX, *objects], documents=[("gpu-usage", value)])


def found(con: duckdb.DuckDBPyConnection) -> dict[int, tuple[str | None, str]]:
    rows = con.execute("SELECT pid, pod, how FROM gpu_holders").fetchall()
    return {pid: (name, how) for pid, name, how in rows}


def test_a_command_line_with_an_interpreter_a_folder_or_an_entrypoint_before_it() -> None:
    objects = (
        pod("script", command=["/app/run.sh", "--fast"]),
        pod("search", command=["python3"], args=["serve.py", "--port=1"]),
        pod("image", args=["--model", "north-7b"]),
        pod("shell", command=["/bin/bash", "-c"], args=["set -e\nexec torchrun job.py --all\n"]),
        pod("short", command=["sleep", "9"]),
        pod("done", phase="Succeeded", command=["heatwatch", "--every", "5"]),
        pod("elsewhere", on="fox-2", command=["coolwatch", "--every", "5"]),
    )
    con = told(
        process(1, "/bin/sh /app/run.sh --fast"), process(2, "/usr/bin/python3 serve.py --port=1"),
        process(3, "/opt/bin/engine serve --model north-7b"), process(4, "/usr/local/bin/torchrun job.py --all"),
        process(5, "sleep 9"), process(6, "heatwatch --every 5"), process(7, "coolwatch --every 5"),
        process(8, program="mystery"), objects=objects,
    )  # fmt: skip
    pods = found(con)
    assert [pods[pid][0] for pid in (1, 2, 3, 4)] == ["den/script", "den/search", "den/image", "den/shell"]
    assert [pods[pid] for pid in (5, 6, 7)] == [(None, "its command line is that of no pod of the bundle on this node")] * 3
    assert pods[8] == (None, "the bundle does not tell its command line")


def test_secrets_do_not_keep_a_command_line_from_being_known() -> None:
    con = told(
        process(1, "train --name a --token [masked:token:0123456789]"),
        objects=(pod("a", args=["--name", "a", "--token", "[masked:secret:9876543210]"]),),
    )
    assert found(con)[1][0] == "den/a"


def test_parts_of_the_operator_by_their_programs_also_where_a_tool_cut_the_name() -> None:
    objects = (pod("exporter-x", owner="nvidia-dcgm-exporter"), pod("plug-x", owner="nvidia-device-plugin-daemonset"))
    con = told(
        process(1, program="dcgm-expo"), process(2, "nvidia-device-plugin --x"), process(3, "/usr/bin/nv-hostengine -n"),
        process(4, "nvidia-persistenced"), objects=objects,
    )  # fmt: skip
    pods = found(con)
    assert [pods[pid][0] for pid in (1, 2, 3, 4)] == ["den/exporter-x", "den/plug-x", None, None]
    parts = con.execute("SELECT part FROM gpu_holders ORDER BY pid").fetchall()
    assert parts == [("operand",), ("operand",), ("program",), ("driver",)]
    assert con.execute("SELECT pid FROM gpu_holders ORDER BY rank").fetchall() == [(3,), (1,), (2,), (4,)]


def test_two_pods_with_its_program_are_both_told() -> None:
    con = told(
        process(1, "dcgm-exporter"), objects=(pod("x", owner="nvidia-dcgm-exporter"), pod("y", owner="nvidia-dcgm-exporter"))
    )
    assert found(con)[1] == (None, "several pods run its program: den/x, den/y")


def test_what_a_process_of_a_pod_started_is_of_that_pod() -> None:
    con = told(
        process(9, "worker 2", ppid=8), process(8, "worker 1", ppid=4), process(4, "torchrun job.py", ppid=1),
        process(7, "x", ppid=6), process(6, "y", ppid=7), objects=(pod("job", command=["torchrun", "job.py"]),),
    )  # fmt: skip
    pods = found(con)
    assert [pods[pid][0] for pid in (9, 8, 4)] == ["den/job"] * 3
    assert pods[9][1] == "process 4 of this pod started it"
    assert (pods[7][0], pods[6][0]) == (None, None)


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12)), max_size=12, unique_by=lambda pair: pair[0]))
def test_parents_in_any_order_and_in_circles(pairs: list[tuple[int, int]]) -> None:
    first = holders._Pod(1, "den/a", "")
    tree = {pid: holders._Holder(process(pid, "w", ppid=parent)) for pid, parent in pairs}
    if 5 in tree:
        tree[5].pod = first
    holders._by_parent(tree)
    for pid, one in tree.items():
        at, seen = pid, set[int]()
        while at in tree and at != 5 and at not in seen:
            seen.add(at)
            at = tree[at].row["ppid"]
        assert (one.pod is first) == (at == 5 and 5 in tree)


def test_what_hangs_in_the_kernel_comes_first_and_pending_mig_modes_are_counted() -> None:
    gpus = [{"index": 0, "mig": "Enabled", "line": 12, "text": "a"}, {"index": 1, "mig": "Disabled*", "line": 16, "text": "b"}]
    con = told(
        process(1, "heatwatch --all"), process(2, "dcgm-exporter", stat="Dsl"), process(3, "smi", devices=[], gpus=[2]), gpus=gpus
    )
    assert con.execute("SELECT pid, stuck, gpus FROM gpu_holders ORDER BY rank").fetchall() == [
        (2, True, [1]), (1, False, [1]), (3, False, [2]),
    ]  # fmt: skip
    usage = con.execute("SELECT holders, gpus, mig_on, mig_pending, mig_line, mig_text FROM gpu_usages").fetchall()
    assert usage == [(3, 2, 1, 1, 16, "b")]


def test_the_page_of_the_node_and_the_table_of_layouts_say_it() -> None:
    con = told(
        process(41, "torchrun job.py"), process(42, "nvidia-persistenced"), process(43, "heatwatch --all"),
        objects=(pod("job", command=["torchrun", "job.py"]),),
    )  # fmt: skip
    lines = section(page(con, "node/fox-1"), "GPUs held by")
    assert "torchrun (pid 41 of user 7, pod den/job)" in lines[1]
    assert "Deduced: pod den/job, since its command line is that of container c" in lines
    assert "Cannot tell its pod: its command line is that of no pod of the bundle on this node" in lines
    found_sections: dict[str, Section] = by_id(sections(con, Marks(())))
    cell = row_of(found_sections["mig"].tables[0], "fox-1")[5]
    assert "GPUs open in torchrun (pid 41 of user 7, pod den/job)" in cell.below
    assert "persistenced" not in cell.below


def test_none_and_cannot_tell() -> None:
    none = told(none_line=22, none_text="No processes found using GPU devices")
    assert any("no process, when the bundle was collected" in line for line in section(page(none, "node/fox-1"), "GPUs held by"))
    blind = told(listed=False, problem="lsof: command not found", problem_line=3)
    (line,) = section(page(blind, "node/fox-1"), "GPUs held by")[1:]
    assert line == 'Cannot tell whether there are any: lsof did not list them ("lsof: command not found")'
    assert section(page(database([FOX]), "node/fox-1"), "GPUs held by") == []
