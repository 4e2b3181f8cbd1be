"""Logs of every format with their pods, containers and sources; and signatures from the packs to the database."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer import facts
from analyzer.bundle import workers
from analyzer.bundle.read import read_bundle
from analyzer.bundle.signatures import Signature
from analyzer.store.load import load

from . import pipeline_trees as trees

LID = Signature("tea/lid", ("no lid",), r"no lid on (?P<pot>\w+)")
TYPES = {"rinse": "init", "brew": "main", "debug": "ephemeral"}
SOURCES = ("current", "previous")
Log = tuple[str, str, str, str, str | None]


def opened(tmp_path: Path, files: trees.Files, *signatures: Signature, jobs: int = 1) -> duckdb.DuckDBPyConnection:
    work = tmp_path / "work"
    work.mkdir()
    con = duckdb.connect(config={"threads": 1})
    con.execute("SET TimeZone = 'UTC'")
    load(con, read_bundle([trees.write(tmp_path / "in", files)], work, jobs, signatures=signatures))
    facts.derive_all(con)
    return con


def kettle(restarts: int = 1, **more: Any) -> dict[str, Any]:
    """A Pod with an init, a main and an ephemeral container."""
    image = {"image": "registry.example/tea:1"}
    spec = {
        "initContainers": [{"name": "rinse"} | image],
        "containers": [{"name": "brew"} | image],
        "ephemeralContainers": [{"name": "debug"} | image],
    }
    status = {
        "phase": "Running",
        "containerStatuses": [
            {
                "name": "brew",
                "restartCount": restarts,
                "ready": True,
                "state": {"running": {}},
                "lastState": {"terminated": {"exitCode": 3}},
            }
        ],
    }
    return trees.pod("kettle-0", spec=spec, status=status, **more)


def logs(con: duckdb.DuckDBPyConnection) -> set[Log]:
    """Pod, container, source, text, and the type of the container it joins to."""
    return set(
        con.execute(
            "SELECT l.pod, l.container, l.source, rtrim(l.tail, chr(10)), c.type FROM logs l "
            "LEFT JOIN containers c ON (c.namespace, c.pod, c.container) = (l.namespace, l.pod, l.container)"
        ).fetchall()
    )


def ids(con: duckdb.DuckDBPyConnection, container: str = "brew") -> tuple[str | None, str | None, str | None]:
    """The first lines of the container's current and previous log, and of the one of its last end."""
    query = """
        SELECT a.tail, b.tail, e.tail FROM containers c LEFT JOIN logs a ON a.log_id = c.log_id
        LEFT JOIN logs b ON b.log_id = c.previous_log_id LEFT JOIN logs e ON e.log_id = c.end_log_id WHERE c.container = ?
    """
    (row,) = con.execute(query, [container]).fetchall()
    first, second, end = (None if tail is None else tail.split("\n")[0] for tail in row)
    return first, second, end


def inspected(names: dict[str, str | bytes], *, folder: str = "brew/brew/logs", pod: dict[str, Any] | None = None) -> trees.Files:
    """An inspect of one pod with these log files."""
    home = "inspect.local.1/namespaces/teahouse"
    pod = pod or kettle()
    return {
        "inspect.local.1/timestamp": "2026-08-18T13:06:40Z\n",
        f"{home}/teahouse.yaml": trees.to_yaml(trees.namespace("teahouse")),
        f"{home}/core/pods.yaml": trees.to_yaml(trees.listed("Pod", [pod])),
        **{f"{home}/pods/kettle-0/{folder}/{name}": text for name, text in names.items()},
    }


def placed(prefix: str, *, previous: str, ending: str) -> trees.Files:
    """One log of each container in a folder of the pod, and a previous one of the main container."""
    files: trees.Files = {f"{prefix}{name}{ending}": f"{name} now\n" for name in TYPES}
    return files | ({f"{prefix}{previous}": "brew before\n"} if previous else {})


def layouts() -> dict[str, trees.Files]:
    bundle = trees.support_bundle("sb/")
    pods = json.dumps(trees.listed("Pod", [kettle()]))
    bundle = {path: text for path, text in bundle.items() if "/pods/" not in path} | {
        "sb/cluster-resources/pods/teahouse.json": pods
    }
    nested = {
        f"inspect.local.1/namespaces/teahouse/pods/kettle-0/{name}/{name}/logs/current.log": f"{name} now\n" for name in TYPES
    }
    gather = inspected({"previous.log": "brew before\n"}) | nested
    dump = trees.cluster_info()
    blocks = "".join(
        f"==== START logs for container {name} of pod teahouse/kettle-0 ====\n{name} now\n"
        f"==== END logs for container {name} of pod teahouse/kettle-0 ====\n"
        for name in TYPES
    )
    dump |= {"teahouse/pods.json": pods, "teahouse/kettle-0/logs.txt": blocks}
    sonobuoy: trees.Files = {
        "meta/config.json": json.dumps({"Resources": ["pods"]}),
        "resources/ns/teahouse/core_v1_pods.json": json.dumps([kettle()]),
    }
    return {
        "must-gather": {f"must-gather.local.1/{trees.IMAGE}/{path.split('/', 1)[1]}": text for path, text in gather.items()},
        "inspect": gather,
        "cluster-info": dump,
        "support-bundle": bundle
        | placed("sb/cluster-resources/pods/logs/teahouse/kettle-0/", previous="brew-previous.log", ending=".log"),
        "support-bundle, old": bundle | placed("sb/tea logs/kettle-0/", previous="brew-previous.log", ending=".log"),
        "sonobuoy": sonobuoy | placed("podlogs/teahouse/kettle-0/logs/", previous="", ending=".txt"),
        "plain": {"pods.json": pods} | placed("kettle-0/", previous="brew-previous.log", ending=".log"),
    }


@pytest.mark.parametrize("name", sorted(layouts()))
def test_logs_join_their_pods_and_the_type_of_their_container(tmp_path: Path, name: str) -> None:
    con = opened(tmp_path, {path: _dated(path, text) for path, text in layouts()[name].items()})
    wanted: set[Log] = {("kettle-0", one, "current", f"2026-08-18T13:00:00Z {one} now", kind) for one, kind in TYPES.items()}
    if name not in ("cluster-info", "sonobuoy"):  # those two have no logs of previous containers
        wanted.add(("kettle-0", "brew", "previous", "2026-08-18T13:00:00Z brew before", "main"))
    assert logs(con) == wanted
    previous = None if name in ("cluster-info", "sonobuoy") else "2026-08-18T13:00:00Z brew before"
    assert ids(con)[:2] == ("2026-08-18T13:00:00Z brew now", previous)
    assert con.execute("SELECT count(*) FROM files WHERE status IN ('partial', 'unread')").fetchall() == [(0,)]


def _dated(path: str, text: str | bytes) -> str | bytes:
    """Log lines with a time: of a file in a plain folder nothing else says that it is a log."""
    if not isinstance(text, str) or not path.endswith((".log", ".txt")):
        return text
    return "".join(
        f"2026-08-18T13:00:00Z {line}\n" if line.endswith((" now", " before")) else f"{line}\n" for line in text.splitlines()
    )


def test_sonobuoy_told_to_fetch_previous_logs_has_those(tmp_path: Path) -> None:
    files = layouts()["sonobuoy"] | {
        "meta/config.json": json.dumps({"Resources": ["pods"], "Limits": {"PodLogs": {"Previous": True}}})
    }
    con = opened(tmp_path, files)
    assert ids(con) == (None, "brew now", "brew now")


@pytest.mark.parametrize("insecure", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_an_empty_pair_is_no_log_and_no_damage(tmp_path: Path, source: str, insecure: bool) -> None:
    there = f"{source}{'.insecure' if insecure else ''}.log"
    names: dict[str, str | bytes] = {f"{one}{kind}.log": "" for one in SOURCES for kind in ("", ".insecure")}
    names[there] = "words\n"
    con = opened(tmp_path, inspected(names))
    assert logs(con) == {("kettle-0", "brew", source, "words", "main")}
    wanted = ("words", None) if source == "current" else (None, "words")
    assert ids(con)[:2] == wanted
    # Of a pair without words only one file is looked into.
    states = con.execute("SELECT DISTINCT status FROM files WHERE contains(path, '/logs/')").fetchall()
    assert {state for (state,) in states} == {"empty", "read", "skipped"}


def test_all_four_empty_is_a_container_without_a_log(tmp_path: Path) -> None:
    names: dict[str, str | bytes] = {
        f"{source}{kind}.log": "" for source in ("current", "previous") for kind in ("", ".insecure")
    }
    con = opened(tmp_path, inspected(names))
    assert logs(con) == set()
    assert ids(con) == (None, None, None)
    assert con.execute("SELECT count(*) FROM files WHERE status IN ('partial', 'unread')").fetchall() == [(0,)]


def cri(*lines: str) -> str:
    """Lines as the container runtime writes them to files."""
    return "".join(f"{line.split()[0]} stderr F {line.split(' ', 1)[1]}\n" for line in lines)


def test_rotated_logs_plain_and_compressed(tmp_path: Path) -> None:
    names: dict[str, str | bytes] = {
        "current.log": "2026-08-18T13:05:00Z now\n",
        "previous.log": "",
        "rotated/1.log.20260818-130000.gz": gzip.compress(cri("2026-08-18T12:00:00Z one", "2026-08-18T12:59:59Z two").encode()),
        "rotated/1.log.20260818-131000": cri("2026-08-18T13:01:00Z three"),
    }
    con = opened(tmp_path, inspected(names))
    query = """
        SELECT regexp_extract(f.path, '[0-9]{6}(?:\\.gz)?$'), l.source, l.lines, strftime(l.first_at, '%H:%M'),
            strftime(l.last_at, '%H:%M')
        FROM logs l JOIN files f USING (file_id) ORDER BY l.first_at
    """
    assert con.execute(query).fetchall() == [
        ("130000.gz", "rotated", 2, "12:00", "12:59"),
        ("131000", "rotated", 1, "13:01", "13:01"),
        ("", "current", 1, "13:05", "13:05"),
    ]
    assert {row[:3] for row in logs(con)} == {("kettle-0", "brew", "rotated"), ("kettle-0", "brew", "current")}
    assert ids(con)[:2] == ("2026-08-18T13:05:00Z now", None)


def test_where_only_rotated_logs_are_left_they_stand_for_the_runs_they_are_of(tmp_path: Path) -> None:
    names: dict[str, str | bytes] = {
        "current.log": "",
        "previous.log": "",
        "rotated/3.log.20260818-130000.gz": gzip.compress(b"2026-08-18T12:00:00Z run 3, older\n"),
        "rotated/3.log.20260818-131000": "2026-08-18T13:01:00Z run 3, newer\n",
        "rotated/2.log.20260818-110000": "2026-08-18T11:00:00Z run 2\n",
        "rotated/1.log.20260818-100000": "2026-08-18T10:00:00Z run 1\n",
    }
    con = opened(tmp_path, inspected(names, pod=kettle(restarts=3)))
    newer, before = "2026-08-18T13:01:00Z run 3, newer", "2026-08-18T11:00:00Z run 2"
    assert ids(con) == (newer, before, before)


def test_a_copy_of_a_log_goes_with_its_hits(tmp_path: Path) -> None:
    files = layouts()["support-bundle"] | {"sb/tea logs/kettle-0/brew.log": "brew now\n"}
    hit = Signature("tea/now", ("brew now",))
    con = opened(tmp_path, files, hit)
    assert con.execute("SELECT count(*) FROM logs WHERE container = 'brew' AND source = 'current'").fetchall() == [(1,)]
    assert con.execute("SELECT count(*), count(l.log_id) FROM log_hits h LEFT JOIN logs l USING (log_id)").fetchall() == [(1, 1)]
    assert con.execute("SELECT sum(hits) FROM log_hit_counts").fetchall() == [(1,)]


def test_hits_of_logs_of_blocks_have_the_line_of_the_file(tmp_path: Path) -> None:
    files = layouts()["cluster-info"]
    text = str(files["teahouse/kettle-0/logs.txt"]).replace("brew now\n", "a\nno lid on pan\nb\n")
    con = opened(tmp_path, files | {"teahouse/kettle-0/logs.txt": text}, LID)
    query = "SELECT l.container, h.line, h.text, h.before, h.after, h.fields->>'$.pot' FROM log_hits h JOIN logs l USING (log_id)"
    line = text.split("\n").index("no lid on pan") + 1
    assert con.execute(query).fetchall() == [("brew", line, "no lid on pan", "a", "b", "pan")]


@pytest.mark.parametrize(("jobs", "method"), [(1, "fork"), (2, "spawn")])
def test_hits_and_counts_reach_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, method: str) -> None:
    if method == "spawn" or sys.platform == "linux":
        monkeypatch.setattr(workers, "start_method", lambda: method)
    lines = "".join(f"2026-08-18T13:05:{n % 60:02d}Z no lid on pot{n} token=Xq7hunter2Zz\n" for n in range(1, 501))
    files: dict[str, str | bytes] = {
        "current.log": lines,
        "previous.log": "2026-08-18T12:00:00Z no lid on pan\n",
        "previous.insecure.log": "",
    }
    con = opened(tmp_path, inspected(files), LID, jobs=jobs)
    counts = con.execute(
        "SELECT l.source, c.* EXCLUDE (log_id) FROM log_hit_counts c JOIN logs l USING (log_id) ORDER BY 1"
    ).fetchall()
    assert counts == [("current", "tea/lid", 500, 200, 1, 500), ("previous", "tea/lid", 1, 1, 1, 1)]
    kept = con.execute(
        "SELECT line FROM log_hits h JOIN logs l USING (log_id) WHERE l.source = 'current' ORDER BY line"
    ).fetchall()
    assert [line for (line,) in kept] == [*range(1, 51), *range(351, 501)]
    assert con.execute(
        "SELECT count(*) FROM log_hits WHERE contains(text || before || after || fields, 'hunter2')"
    ).fetchall() == [(0,)]
    (at,) = con.execute("SELECT strftime(max(\"at\"), '%H:%M:%S') FROM log_hits WHERE line = 1").fetchall()[0]
    assert at == "13:05:01"


def test_the_log_of_a_sonobuoy_plugin_is_that_of_its_pod(tmp_path: Path) -> None:
    pod = kettle()
    pod["metadata"]["labels"] = {"sonobuoy-plugin": "brew"}
    ended = {"exitCode": 1, "finishedAt": "2026-08-18T13:00:00Z"}
    pod["status"]["containerStatuses"][0] |= {"restartCount": 0, "state": {"terminated": ended}, "lastState": {}}
    files: trees.Files = {
        "meta/config.json": json.dumps({"Resources": ["pods"]}),
        "resources/ns/teahouse/core_v1_pods.json": json.dumps([pod]),
        "plugins/brew/results/global/brew.log": "Summarizing 1 Failure:\n\n[Fail] pours without spilling\n/spill.go:9\n\n"
        "Ran 2 of 9 Specs\nFAIL! -- 1 Passed | 1 Failed\n--- FAIL: TestTea (0.5s)\nFAIL\n\nTest Suite Failed\n",
    }
    con = opened(tmp_path, files)
    assert ids(con) == ("Summarizing 1 Failure:", None, "Summarizing 1 Failure:")
    told = con.execute("SELECT words, line FROM log_ends WHERE telling").fetchall()
    assert told == [("[Fail] pours without spilling", 3)]
    # Fetched from the container itself too, that is its log.
    (tmp_path / "both").mkdir()
    con = opened(tmp_path / "both", files | {"podlogs/teahouse/kettle-0/logs/brew.txt": "own words\n"})
    assert ids(con)[0] == "own words"
