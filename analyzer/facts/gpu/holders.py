"""Which processes held the GPUs of a node when the bundle was collected, and of which pods they are.

Who tells is `gpu_device_usage_NODE.log` of the GPU Operator's must-gather (releases from 26.3 on): processes of the host as lsof,
fuser, ps and nvidia-smi print them. None of these names a pod. So a pod is concluded where just one pod of the node fits: the
process has the command line that its spec gives a container, it is a program that only one part of the GPU Operator runs, or a
process of that pod started it. In every other case it is said that it cannot be told.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import duckdb
import orjson

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mappings, strings

MIN_COMMAND: Final = 12
"""Characters that a command line has at least to be held against those of pods: `sleep 600` says nothing."""
MAX_NAMED: Final = 5
"""Processes that a sentence names."""
MAX_ARGS: Final = 500
"""Characters that are kept of a command line."""
MIN_CUT: Final = 9
"""Characters that lsof leaves of a program's name."""
MAX_SPEC_LINES: Final = 200
"""Lines of a shell script in a pod's spec that are held against command lines."""

MAX_SKIPPED: Final = 4
"""Words before the command line of a spec that an image, or the first line of a script, may have put there."""

_PARTS: Final = {
    "dcgm-exporter": "nvidia-dcgm-exporter",
    "nv-hostengine": "nvidia-dcgm",
    "nvidia-device-plugin": "nvidia-device-plugin-daemonset",
    "gpu-feature-discovery": "gpu-feature-discovery",
    "nvidia-cuda-mps-control": "nvidia-device-plugin-mps-control-daemon",
    "nvidia-cuda-mps-server": "nvidia-device-plugin-mps-control-daemon",
    "mps-control-daemon": "nvidia-device-plugin-mps-control-daemon",
    "nvidia-mig-manager": "nvidia-mig-manager",
    "nvidia-mig-parted": "nvidia-mig-manager",
}
"""Program → DaemonSet of the GPU Operator that runs it, by the images of its parts."""
_DRIVER: Final = ("nvidia-persistenced", "nv-fabricmanager", "nvidia-modprobe")
"""Daemons that come with the driver, in its pod or on the host."""
_SHELLS: Final = {"sh", "bash", "dash", "ash", "zsh"}
_RANK: Final = {"program": 1, "operand": 2, "driver": 3}
_SECRET: Final = re.compile(r"\[masked:[^\]\s]{0,100}\]")
_GPU: Final = re.compile(r"nvidia(\d{1,4})\Z", re.ASCII)

_USAGES = """
SELECT d.file_id, f.input, d.json, (SELECT min(n.object_id) FROM nodes n WHERE n.name = json_extract_string(d.json, '$.node'))
FROM documents d JOIN files f USING (file_id) JOIN inputs i ON i.input = f.input WHERE d.role = 'gpu-usage'
QUALIFY row_number() OVER (PARTITION BY d.json->>'$.node' ORDER BY i.collected_at DESC NULLS LAST, d.file_id) = 1
ORDER BY f.input, d.file_id
"""
_PODS = """
SELECT p.object_id, p.namespace || '/' || p.name, p.owner_name, o.json -> '$.spec.containers'
FROM pods p JOIN objects o USING (object_id)
WHERE p.node = $node AND p.phase NOT IN ('Succeeded', 'Failed') ORDER BY p.object_id
"""


@dataclass(slots=True)
class _Pod:
    object_id: int
    name: str
    owner: str
    commands: dict[str, list[str]] = field(default_factory=dict)
    """Container → the command lines that its process may have."""


@dataclass(slots=True)
class _Holder:
    """A process of the document, with what was concluded about it."""

    row: dict[str, Any]
    part: str = "program"
    pod: _Pod | None = None
    how: str = ""

    @property
    def stuck(self) -> bool:
        return str(self.row.get("stat") or "").startswith("D")


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `gpu_usages` and `gpu_holders`, of each node what the newest input tells; needs `documents`, `nodes` and `pods`."""
    for file_id, number, text, node_id in con.execute(_USAGES).fetchall():
        told = orjson.loads(text)
        node = str(told.get("node") or "")
        holders = [_Holder(row) for row in told.get("holders") or []]
        _find_pods(holders, _pods(con, node) if holders else [])
        own = {"file_id": file_id, "input": number, "node_id": node_id, "node": node}
        ranked = sorted(holders, key=lambda one: (not one.stuck, _RANK[one.part], one.row["pid"]))
        insert_rows(con, "gpu_usages", [own | _usage(told, ranked)])
        insert_rows(con, "gpu_holders", (own | _columns(one) | {"rank": rank} for rank, one in enumerate(ranked, 1)))


def _usage(told: dict[str, Any], holders: Sequence[_Holder]) -> dict[str, Any]:
    gpus = told.get("gpus") or []
    pending = [gpu for gpu in gpus if str(gpu["mig"]).endswith("*")]
    unknown = None
    if not told.get("listed"):
        said = told.get("problem")
        unknown = f'lsof did not list them ("{said}")' if said else "the file has no list of lsof or fuser"
    row = {
        "holders": len(holders),
        "more": bool(told.get("more")),
        "unknown": unknown,
        "line": told.get("problem_line") if unknown else told.get("none_line"),
        "text": (told.get("problem") or None) if unknown else (told.get("none_text") or None),
        "gpus": len(gpus) or None,
        "mig_on": sum(str(gpu["mig"]).startswith("Enabled") for gpu in gpus) if gpus else None,
        "mig_pending": len(pending) if gpus else None,
        "mig_line": pending[0]["line"] if pending else None,
        "mig_text": pending[0]["text"] if pending else None,
    }
    return row | {"told": _told(row, [one for one in holders if one.part != "driver"])}


def _told(row: dict[str, Any], holders: Sequence[_Holder]) -> str:
    """What held the GPUs, as sentences."""
    words = [_words(one) for one in holders]
    if len(words) > MAX_NAMED:
        words[MAX_NAMED - 1 :] = [f"{len(words) - MAX_NAMED + 1} more"]
    named = " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
    told = []
    if named:
        told.append(f"When the bundle was collected, GPUs of this node were open in {named}.")
        if any(one.pod for one in holders[:MAX_NAMED]):
            told.append("Deduced: which pods these are, from programs and command lines.")
        if any(one.pod is None for one in holders[:MAX_NAMED]):
            told.append("Where no pod is named, the bundle does not tell of which one it is, or whether it is of any.")
    elif row["unknown"]:
        told.append(f"Which processes have GPUs of this node open cannot be told: {row['unknown']}.")
    elif row["holders"]:
        told.append("When the bundle was collected, no process but daemons of the driver had GPUs of this node open.")
    else:
        told.append("When the bundle was collected, no process had GPUs of this node open.")
    if named and (row["unknown"] or row["more"]):
        told.append("Whether there are others cannot be told.")
    if row["mig_pending"]:
        gpus = f"{row['mig_pending']} of {row['gpus']} GPUs"
        told.append(f"nvidia-smi shows a change of the MIG mode that has not taken effect on {gpus}.")
    return " ".join(told)


def _columns(one: _Holder) -> dict[str, Any]:
    row = one.row
    files = [int(found[1]) for device in row["devices"] if (found := _GPU.match(device))]
    return {
        **{key: row[key] for key in ("line", "text", "pid", "ppid", "user", "program", "stat", "elapsed", "devices")},
        "args": row["args"] if len(row["args"]) <= MAX_ARGS else f"{row['args'][: MAX_ARGS - 1]}…",
        "stuck": one.stuck,
        "gpus": sorted({*files, *row["gpus"]}),
        "part": one.part,
        "pod_id": one.pod.object_id if one.pod else None,
        "pod": one.pod.name if one.pod else None,
        "how": one.how,
        "words": _words(one),
    }


def _words(one: _Holder) -> str:
    """The process for people: `python3 train.py (pid 91234 of user 1000, pod studio/bowl)`."""
    row = one.row
    program = str(row["program"]) or "a process"
    user = f" of user {row['user']}" if row["user"] else ""
    told = [f"pid {row['pid']}{user}"]
    if one.stuck:
        told.append(f"state {row['stat']}: it waits in the kernel and cannot be ended meanwhile")
    if one.pod:
        told.append(f"pod {one.pod.name}")
    elif one.part == "driver":
        told.append("a daemon of the driver")
    elif one.part == "operand":
        told.append("a part of the GPU Operator")
    return f"{program} ({', '.join(told)})"


def _find_pods(holders: Sequence[_Holder], pods: Sequence[_Pod]) -> None:
    """Concludes of which pod each process is: by its program, its command line, then by the process that started it."""
    by_command: dict[str, list[tuple[_Pod, str]]] = defaultdict(list)
    for pod in pods:
        for container, commands in pod.commands.items():
            for command in commands:
                by_command[command].append((pod, container))
    for one in holders:
        _by_program(one, pods)
        if one.pod is None:
            _by_command(one, by_command)
    _by_parent({one.row["pid"]: one for one in holders})
    for one in holders:
        if one.pod is None and not one.how:
            one.how = "its command line is that of no pod of the bundle on this node"
            if not one.row["args"]:
                one.how = "the bundle does not tell its command line"


def _by_program(one: _Holder, pods: Sequence[_Pod]) -> None:
    name = str(one.row["program"])
    if any(_is(name, known) for known in _DRIVER):
        one.part, one.how = "driver", "its program comes with the driver"
        return
    owners = {owner for known, owner in _PARTS.items() if _is(name, known)}
    if not owners:
        return
    one.part = "operand"
    fitting = [pod for pod in pods if pod.owner in owners]
    if len(fitting) == 1:
        one.pod, one.how = fitting[0], "its program is what this part of the GPU Operator runs"
    elif fitting:
        one.how = f"several pods run its program: {', '.join(pod.name for pod in fitting[:4])}"
    else:
        # It may as well be a service of the host, or a part that somebody deployed in another way.
        one.part, one.how = "program", "no pod of the GPU Operator on this node runs its program"


def _by_command(one: _Holder, by_command: dict[str, list[tuple[_Pod, str]]]) -> None:
    found: dict[int, tuple[_Pod, str]] = {}
    for command in _endings(str(one.row["args"])):
        for pod, container in by_command.get(command, ()):
            found.setdefault(pod.object_id, (pod, container))
        if found:
            break
    if len(found) == 1:
        ((one.pod, container),) = found.values()
        one.how = f"its command line is that of container {container}"
    elif found:
        one.how = f"several pods have its command line: {', '.join(pod.name for pod, _ in list(found.values())[:4])}"


def _endings(args: str) -> Iterator[str]:
    """A command line, and what is left of it without an interpreter, or without the program that an image brings."""
    words = args.split()
    for skipped in range(min(MAX_SKIPPED + 1, len(words))):
        text = _comparable(words[skipped:])
        if len(text) >= MIN_COMMAND:
            yield text


def _by_parent(holders: dict[int, _Holder]) -> None:
    """A process that one of a known pod started is of that pod; of each process the parents are walked once."""
    seen: set[int] = set()
    for first in holders:
        chain: list[_Holder] = []
        at: int | None = first
        while at in holders and at not in seen and holders[at].pod is None and holders[at].part == "program":
            seen.add(at)
            chain.append(holders[at])
            at = holders[at].row["ppid"]
        # Those above were walked before: their pod is known by now, or never.
        above = holders.get(at) if at is not None else None
        if above and above.pod:
            for child in chain:
                child.pod, child.how = above.pod, f"process {at} of this pod started it"


def _is(name: str, known: str) -> bool:
    """Whether a program's name, perhaps cut by lsof or fuser, is a known one."""
    return name == known or (len(name) >= MIN_CUT and known.startswith(name))


def _pods(con: duckdb.DuckDBPyConnection, node: str) -> list[_Pod]:
    found = []
    for object_id, name, owner, text in con.execute(_PODS, {"node": node}).fetchall():
        pod = _Pod(object_id, name, owner or "")
        for container in mappings(orjson.loads(text) if text else None):
            pod.commands[str(container.get("name") or "")] = list(_commands(container))
        found.append(pod)
    return found


def _commands(container: dict[str, Any]) -> Iterator[str]:
    """The command lines that a container's process may have by its spec: command and arguments, or a line of its shell script."""
    command, args = (strings(container.get(key)) for key in ("command", "args"))
    words = [*command, *args]
    lines = [words]
    if command and command[0].rpartition("/")[2] in _SHELLS and len(words) > 2:
        lines += [line.removeprefix("exec ").split() for line in words[-1].replace("\\\n", " ").split("\n")[:MAX_SPEC_LINES]]
    for line in lines:
        text = _comparable(line)
        if len(text) >= MIN_COMMAND:
            yield text


def _comparable(words: Sequence[str]) -> str:
    """A command line without the folder of its program, which a search path may have added.

    Masked secrets are all made alike: what kind they are is judged by what stands around them.
    """
    text = " ".join([words[0].rpartition("/")[2], *words[1:]]) if words else ""
    return _SECRET.sub("[masked]", " ".join(text.split()))
