"""What holds the GPUs of a node: `gpu_device_usage_NODE.log` of the GPU Operator's must-gather (releases from 26.3 on).

The script writes one section after another, each under a line that begins with `# `: `nvidia-smi`, then on the host `lsof` over
the device files of the driver, `ps` of each process that it found, `fuser -v` and `ls -la`. Any of these tools may be missing,
and the file may end anywhere. Each line is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from analyzer.bundle.text import clean_text

MAX_HOLDERS = 2_000
"""Processes that are told apart in one file."""
MAX_DEVICES = 64
"""Device files, and GPUs, that are kept of one process."""
MAX_GPUS = 128
"""GPUs that are read of the table of nvidia-smi."""
MAX_LINE = 4_096
"""Characters that are looked at in one line."""

_SECTIONS = (("nvidia-smi output", "smi"), ("lsof ", "lsof"), ("Process details", "ps"), ("fuser ", "fuser"), ("ls -la", "ls"))
_DEVICE = re.compile(r"/dev/(nvidia[\w/-]{0,80})", re.ASCII)
_PROCESS = re.compile(r"=== Process (\d{1,10}) ===\s*\Z", re.ASCII)
_ELAPSED = re.compile(r"(?:(?:\d{1,6}-)?\d\d:)?\d\d:\d\d\Z", re.ASCII)
_GPU = re.compile(r"\|\s{1,5}(\d{1,4})\s{1,4}(\S.{0,60}?)\s{1,40}(?:On|Off|N/A|Enabled|Disabled)\s{1,10}\|", re.ASCII)
_MIG = re.compile(r"\|\s{1,60}(Enabled\*?|Disabled\*?|N/A)\s{0,5}\|\s*\Z", re.ASCII)
_NONE = "No processes found using GPU devices"
_FIELDS = ("pid", "ppid", "user", "stat", "started", "elapsed", "pcpu", "pmem", "vsz", "rss")
"""What `ps` prints before the command line."""


@dataclass(slots=True)
class Holder:
    """A process that has devices of NVIDIA open. `line` is the one that tells most of it; texts are as written, not masked."""

    pid: int
    line: int
    text: str
    command: str = ""
    args: str = ""
    user: str = ""
    ppid: int | None = None
    stat: str = ""
    elapsed: str = ""
    devices: list[str] = field(default_factory=list)
    gpus: list[int] = field(default_factory=list)

    def opens(self, device: str) -> None:
        """Note one device file, such as nvidia0 or nvidiactl."""
        if device not in self.devices and len(self.devices) < MAX_DEVICES:
            self.devices.append(device)

    def uses(self, gpu: int) -> None:
        """Note one GPU, by the index that nvidia-smi gives it."""
        if gpu not in self.gpus and len(self.gpus) < MAX_DEVICES:
            self.gpus.append(gpu)


@dataclass(slots=True)
class Gpu:
    """A GPU in the table of nvidia-smi; `mig` is its MIG mode as printed (a star: another is pending), `text` that line."""

    index: int
    line: int
    product: str
    mig: str = ""
    mig_line: int = 0
    text: str = ""


@dataclass(slots=True)
class Usage:
    """What one file tells. `listed` is true where it is told which processes there are, also where there are none."""

    holders: dict[int, Holder] = field(default_factory=dict)
    gpus: list[Gpu] = field(default_factory=list)
    listed: bool = False
    none_line: int | None = None
    none_text: str = ""
    problem: str = ""
    problem_line: int | None = None
    more: bool = False

    def holder(self, pid: int, line: int, text: str) -> Holder | None:
        """The process with this number, None where there are too many."""
        found = self.holders.get(pid)
        if found is None and len(self.holders) < MAX_HOLDERS:
            found = self.holders[pid] = Holder(pid, line, text)
        self.more = self.more or found is None
        return found


def usage(data: bytes) -> Usage:
    """Read a file, whole or cut anywhere; what does not look as the tools print it is passed over."""
    found = Usage()
    reader = _Lines(found)
    for number, raw in enumerate(data.split(b"\n"), 1):
        reader.read(number, clean_text(raw[: 4 * MAX_LINE].decode("utf-8", "replace")[:MAX_LINE]).rstrip())
    # Each of lsof and fuser tells all processes; without a list of either, the words of the script count only where lsof ran.
    found.listed = reader.has_list or (found.none_line is not None and not found.problem)
    return found


class _Lines:
    """Goes through the lines of a file and remembers in which section it is."""

    def __init__(self, found: Usage) -> None:
        self._found = found
        self._section = ""
        self._device = ""
        self._pid: int | None = None
        self._instances = False
        self._processes = False
        self.has_list = False

    def read(self, number: int, line: str) -> None:
        """One line of the file."""
        if line.startswith("# "):
            section = next((name for words, name in _SECTIONS if line.startswith(words, 2)), "")
            if section:
                self._section, self._device, self._pid, self._processes = section, "", None, False
                return
        if not line:
            return
        if self._section == "smi":
            self._smi(number, line)
        elif self._section == "lsof":
            self._lsof(number, line)
        elif self._section == "ps":
            self._ps(number, line)
        elif self._section == "fuser":
            self._fuser(number, line)

    def _smi(self, number: int, line: str) -> None:
        if not line.startswith("|"):
            return
        if not self._processes:
            self._processes = line.startswith("| Processes:")
            self._gpu(number, line)
            return
        words = line.strip("| ").split()
        if words[:1] == ["GPU"]:
            self._instances = "GI" in words
        at = 3 if self._instances else 1
        if len(words) < at + 4 or not (_number(words[0]) and _number(words[at])):
            return
        holder = self._found.holder(int(words[at]), number, line)
        if holder is not None:
            holder.uses(int(words[0]))
            holder.command = holder.command or " ".join(words[at + 2 : -1])

    def _gpu(self, number: int, line: str) -> None:
        gpus = self._found.gpus
        begins = _GPU.match(line)
        if begins and len(gpus) < MAX_GPUS:
            gpus.append(Gpu(int(begins[1]), number, begins[2]))
        elif gpus and not gpus[-1].mig and number == gpus[-1].line + 2 and (mode := _MIG.search(line[-70:])):
            # Each GPU has three lines; the last cell of the third is its MIG mode.
            gpus[-1].mig, gpus[-1].mig_line, gpus[-1].text = mode[1], number, line

    def _lsof(self, number: int, line: str) -> None:
        words = line.split()
        if words[:2] == ["COMMAND", "PID"]:
            self.has_list = True
            return
        device = _DEVICE.search(line)
        if len(words) > 5 and device and _number(words[1]) and "CHR" in words[4:8]:
            holder = self._found.holder(int(words[1]), number, line)
            if holder is not None:
                # Newer versions may print a thread between process and user: the user stands before the file's number.
                holder.user = holder.user or words[words.index("CHR", 4) - 2]
                holder.command = holder.command or words[0]
                holder.opens(device[1])
        elif not self._found.problem and _failed(line):
            self._found.problem, self._found.problem_line = line, number

    def _ps(self, number: int, line: str) -> None:
        begins = _PROCESS.match(line)
        if begins:
            self._pid = int(begins[1])
        elif line.startswith(_NONE):
            self._found.none_line, self._found.none_text = number, _NONE
        elif self._pid is not None:
            self._process(number, line, self._pid)

    def _process(self, number: int, line: str, pid: int) -> None:
        words = line.split(maxsplit=len(_FIELDS))
        if not words or words[0] != str(pid):
            return
        if len(words) > 5 and not _ELAPSED.match(words[5]):
            # A start before today is printed as month and day.
            words = line.split(maxsplit=len(_FIELDS) + 1)
            words[4:6] = [" ".join(words[4:6])]
        if len(words) <= len(_FIELDS) or not _number(words[1]) or not _ELAPSED.match(words[5]):
            return
        holder = self._found.holder(pid, number, line)
        if holder is not None:
            holder.line, holder.text = number, line
            holder.ppid, holder.user, holder.stat, holder.elapsed = int(words[1]), words[2], words[3], words[5]
            holder.args = words[len(_FIELDS)].rstrip()

    def _fuser(self, number: int, line: str) -> None:
        if line.split() == ["USER", "PID", "ACCESS", "COMMAND"]:
            self.has_list = True
            return
        if line.startswith("/"):
            path, _, line = line.partition(":")
            device = _DEVICE.search(path)
            self._device = device[1] if device else ""
        words = line.split(maxsplit=3)
        if len(words) < 4 or not self._device or not _number(words[1]) or not words[2].replace(".", "x").isalpha():
            return
        holder = self._found.holder(int(words[1]), number, f"{self._device}: {' '.join(words)}")
        if holder is not None:
            holder.opens(self._device)
            holder.user = holder.user or words[0]
            # fuser gives up to 15 characters of the name, lsof no more than 9.
            holder.command = words[3] if words[3].startswith(holder.command) else holder.command


def _number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 10


def _failed(line: str) -> bool:
    """Whether lsof, or what was to start it, says that it did not do its work. Warnings about other file systems do not count."""
    if line.startswith("lsof: "):
        return not line.startswith("lsof: WARNING")
    return line.endswith(("command not found", ": not found", "No such file or directory", "Permission denied"))


def programs(holders: Iterable[Holder]) -> dict[int, str]:
    """The name of each process' program without its folder: of its command line, else as a tool printed it (perhaps cut)."""
    return {
        one.pid: (one.args.split(maxsplit=1)[0] if one.args else one.command).rstrip(":").rpartition("/")[2] for one in holders
    }
