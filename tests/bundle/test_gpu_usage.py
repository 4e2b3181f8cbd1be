"""What holds the GPUs of a node, as the tools print it: invented output, whole, cut at any byte, with noise, and hostile."""

from __future__ import annotations

import json
import time
from pathlib import Path

import duckdb
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.bundle.documents.gpu_usage import MAX_DEVICES, MAX_HOLDERS, programs, usage
from analyzer.bundle.formats import recognise
from analyzer.bundle.parse_gpu_operator import _holder
from analyzer.bundle.types import Entry
from tests.program import said

SMI = """\
# nvidia-smi output from kiln-1
Sun Nov  1 11:58:02 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.105.08             Driver Version: 580.105.08     CUDA Version: 13.0     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:18:00.0 Off |                   On |
| N/A   32C    P0             70W /  700W |       0MiB /  81559MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          Off |   00000000:2A:00.0 Off |                    0 |
| N/A   32C    P0             70W /  700W |     512MiB /  81559MiB |      0%      Default |
|                                         |                        |            Disabled* |
+-----------------------------------------+------------------------+----------------------+
| MIG devices:                                                                            |
|  0    7   0   0  |              15MiB /  9856MiB    | 16      0 |  1   0    1    0    1 |
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    1   N/A  N/A           91234      C   /usr/bin/python3 -u                     506MiB |
|    0    7    0            91300    M+C   nvidia-cuda-mps-server                      N/A |
+-----------------------------------------------------------------------------------------+
"""
LSOF = """\

# lsof /run/nvidia/driver/dev/nvidia* output from kiln-1
lsof: WARNING: can't stat() fuse.portal file system /run/user/1000/doc
      Output information may be incomplete.
COMMAND     PID  USER   FD   TYPE  DEVICE SIZE/OFF NODE NAME
nvidia-pe  2345  root    3u   CHR 195,255      0t0  812 /run/nvidia/driver/dev/nvidiactl
nvidia-pe  2345  root    4u   CHR   195,0      0t0  811 /run/nvidia/driver/dev/nvidia0
python3   91234  1000  mem    CHR   195,1           814 /dev/nvidia1
python3   91234  1000   11u   CHR   195,1      0t0  814 /dev/nvidia1
python3   91234  1000   12u   CHR   506,0      0t0  815 /dev/nvidia-uvm (deleted)
"""
PS = """\

# Process details for PIDs using GPU devices from kiln-1
PIDs using GPU: 2345
91234

=== Process 2345 ===
    PID    PPID USER     STAT  STARTED     ELAPSED %CPU %MEM    VSZ   RSS COMMAND
   2345       1 root     Ss     Oct 02 29-23:12:40  0.0  0.0   5412  2100 nvidia-persistenced --verbose

=== Process 91234 ===
    PID    PPID USER     STAT  STARTED     ELAPSED %CPU %MEM    VSZ   RSS COMMAND
  91234   91190 1000     Dl   11:02:03       55:59 99.0  1.2 8123 6128 /usr/bin/python3 -u a.py --api-key sk-kiln0123456789abcdef

=== Process 777 ===
Process 777 not found
"""
FUSER = """\

# fuser -v /run/nvidia/driver/dev/nvidia* output from kiln-1
                     USER        PID ACCESS COMMAND
/run/nvidia/driver/dev/nvidia0:
                     root       2345 F...m nvidia-persiste
/run/nvidia/driver/dev/nvidia1: 1000      91234 F...m python3
                     root      91400 F.... heat watch
                     root     kernel mount /run/nvidia/driver/dev/nvidia1
"""
LS = """\

# ls -la /run/nvidia/driver/dev/nvidia* output from kiln-1
crw-rw-rw- 1 root root 195, 0 Oct  2 11:20 /run/nvidia/driver/dev/nvidia0
"""
NONE = "# Process details for PIDs\nNo processes found using GPU devices\n"
WHOLE = SMI + LSOF + PS + FUSER + LS


def test_each_tool_adds_to_a_process() -> None:
    found = usage(WHOLE.encode())
    assert found.listed
    assert not found.problem
    assert sorted(found.holders) == [2345, 91234, 91300, 91400]
    daemon, python, server, watch = (found.holders[pid] for pid in (2345, 91234, 91300, 91400))
    assert (daemon.user, daemon.stat, daemon.ppid, daemon.elapsed) == ("root", "Ss", 1, "29-23:12:40")
    assert daemon.devices == ["nvidiactl", "nvidia0"]
    assert (python.user, python.stat, python.ppid) == ("1000", "Dl", 91190)
    assert python.devices == ["nvidia1", "nvidia-uvm"]
    assert python.gpus == [1]
    assert python.args.startswith("/usr/bin/python3 -u a.py")
    assert WHOLE.split("\n")[python.line - 1].strip().startswith("91234   91190")
    assert (server.gpus, server.devices, server.command) == ([0], [], "nvidia-cuda-mps-server")
    assert (watch.command, watch.devices) == ("heat watch", ["nvidia1"])
    assert programs(found.holders.values()) == {
        2345: "nvidia-persistenced", 91234: "python3", 91300: "nvidia-cuda-mps-server", 91400: "heat watch",
    }  # fmt: skip


def test_the_mig_mode_of_each_gpu() -> None:
    found = usage(WHOLE.encode())
    assert [(gpu.index, gpu.product, gpu.mig) for gpu in found.gpus] == [
        (0, "NVIDIA H100 80GB HBM3", "Enabled"), (1, "NVIDIA H100 80GB HBM3", "Disabled*"),
    ]  # fmt: skip
    assert "Disabled*" in WHOLE.split("\n")[found.gpus[1].mig_line - 1]


def test_older_releases_have_no_columns_of_instances() -> None:
    head = "# nvidia-smi output from a\n| Processes: |\n|  GPU       PID   Type   Process name      Usage      |\n"
    text = f"{head}|    2     4321      C   train   100MiB |\n"
    assert usage(text.encode()).holders[4321].gpus == [2]


def test_secrets_of_command_lines_are_masked() -> None:
    found = usage(WHOLE.encode())
    row = orjson.dumps(_holder(found.holders[91234], "python3")).decode()
    assert "kiln0123456789" not in row
    assert "masked" in row


@pytest.mark.parametrize(
    ("text", "listed", "problem"),
    [
        (f"# lsof /x output from a\n\n{NONE}", True, ""),
        (
            f"# lsof /x output from a\nbash: line 1: lsof: command not found\n{NONE}",
            False,
            "bash: line 1: lsof: command not found",
        ),
        (
            f"# lsof /x output from a\nlsof: status error on /x/nvidia*: No such file or directory\n{NONE}",
            False,
            "lsof: status error on /x/nvidia*: No such file or directory",
        ),
        ("# nvidia-smi output from a\nFailed to run nvidia-smi on a\n", False, ""),
        ("# lsof /x output from a\n\n# Process details for PIDs\nerror: unable to upgrade connection\n", False, ""),
        ("# fuser -v /x output from a\n     USER        PID ACCESS COMMAND\n", True, ""),
    ],
)
def test_none_is_told_from_cannot_tell(text: str, listed: bool, problem: str) -> None:
    found = usage(text.encode())
    assert (found.listed, found.problem, found.holders) == (listed, problem, {})


@given(st.binary(max_size=300), st.integers(0, len(WHOLE)))
def test_no_text_breaks_it(noise: bytes, at: int) -> None:
    text = WHOLE.encode()
    for data in (noise, text[:at], text[:at] + noise + text[at:]):
        found = usage(data)
        lines = data.count(b"\n") + 1
        assert all(1 <= one.line <= lines and one.pid == pid for pid, one in found.holders.items())
        assert all(1 <= gpu.line <= lines for gpu in found.gpus)


@given(st.integers(0, len(WHOLE)))
def test_what_is_cut_off_adds_nothing_that_the_whole_lacks(at: int) -> None:
    # The last line may be cut in a number; every line before it says what it says in the whole file.
    whole, cut = usage(WHOLE.encode()), usage(WHOLE[: WHOLE.rfind("\n", 0, at) + 1].encode())
    for pid, one in cut.holders.items():
        assert set(one.devices) <= set(whole.holders[pid].devices)
        assert set(one.gpus) <= set(whole.holders[pid].gpus)


@given(st.dictionaries(st.integers(1, 4_000_000), st.sets(st.integers(0, 15), min_size=1, max_size=4), max_size=12))
def test_what_lsof_prints_is_read_back(opened: dict[int, set[int]]) -> None:
    rows = [f"prog {pid} root 3u CHR 195,{gpu} 0t0 8 /dev/nvidia{gpu}" for pid, gpus in opened.items() for gpu in sorted(gpus)]
    found = usage("\n".join(["# lsof x", "COMMAND PID USER FD TYPE DEVICE SIZE/OFF NODE NAME", *rows]).encode())
    assert {pid: set(one.devices) for pid, one in found.holders.items()} == {
        pid: {f"nvidia{gpu}" for gpu in gpus} for pid, gpus in opened.items()
    }


def test_limits_and_time() -> None:
    rows = "".join(f"p {pid} root 3u CHR 195,0 0t0 8 /dev/nvidia0\n" for pid in range(MAX_HOLDERS + 5))
    rows += "".join(f"p 1 root 3u CHR 195,0 0t0 8 /dev/nvidia{number}\n" for number in range(200))
    begun = time.process_time()
    found = usage(
        b"# lsof x\n" + rows.encode() + b"| " * 1_000_000 + b"\n# nvidia-smi output\n" + b"|" + b" " * 2_000_000 + b"\n"
    )
    assert time.process_time() - begun < 5
    assert found.more
    assert len(found.holders) == MAX_HOLDERS
    assert len(found.holders[1].devices) == MAX_DEVICES


def test_the_file_is_known_by_its_name() -> None:
    layout = recognise([Entry("a/gpu_nodes.descr", 10), Entry("a/gpu_device_usage_kiln-1.example.log", 10)])
    (found,) = (known.assignment for known in layout.known if "usage" in known.entry.path)
    assert (found.reader, found.name) == ("gpu-usage", "kiln-1.example")


def test_a_bundle_with_it_tells_the_file_and_no_secret(tmp_path: Path) -> None:
    bundle, out = tmp_path / "nvidia-gpu-operator_20261101_1200", tmp_path / "out"
    bundle.mkdir()
    (bundle / "gpu_nodes.labels").write_text("kiln-1\n- nvidia.com/gpu.present=true\n\n", encoding="utf-8")
    (bundle / "gpu_device_usage_kiln-1.log").write_text(WHOLE, encoding="utf-8")
    done = said("analyze", bundle, "-o", out)
    assert done.returncode == 0, done.stderr
    with duckdb.connect(str(out / "bundle.duckdb"), read_only=True) as con:
        rows = con.execute(
            "SELECT pid, f.path, h.line, node_id IS NOT NULL FROM gpu_holders h JOIN files f USING (file_id)"
        ).fetchall()
        everything = [con.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in con.execute("SHOW TABLES").fetchall()]
    place = {pid: (Path(path).name, line, known) for pid, path, line, known in rows}
    line = WHOLE[: WHOLE.index("  91234   91190")].count("\n") + 1
    assert place[91234] == ("gpu_device_usage_kiln-1.log", line, True)
    assert sorted(place) == [2345, 91234, 91300, 91400]
    report = json.loads((out / "report.json").read_bytes())
    assert not any(
        "kiln0123456789" in text for text in (str(everything), json.dumps(report), (out / "report.html").read_text("utf-8"))
    )
