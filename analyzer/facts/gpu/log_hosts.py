"""Whose a log is: the node that it speaks of, and which boot of it a line belongs to."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import duckdb

_ENDINGS = (".gz", ".xz", ".zst", ".log", ".txt", ".out", ".json", ".dump")
_WORD = "dmesg|journal|journalctl|kern|kernel|kmsg|messages|syslog|logs?|node|host|nvidia-bug-report|kubelet|kubelet_service"
_BEHIND = re.compile(rf"(?:{_WORD})[-_.](.+)", re.ASCII)
_BEFORE = re.compile(rf"(.+?)[-_.](?:{_WORD})", re.ASCII)
_JOURNAL = re.compile(r"journalctl\b.{0,80}?\s-b\s?-?(\d{1,2})\b", re.ASCII)
_SAME_BOOT = 200
"""journald's line about a new boot and the kernel's first line stand this near to each other."""

_LOGS = """
SELECT l.log_id, f.input, f.path, p.node, host.host FROM logs l JOIN files f USING (file_id)
LEFT JOIN pods p ON p.input = f.input AND p.namespace = l.namespace AND p.name = l.pod AND l.pod <> ''
LEFT JOIN (SELECT log_id, any_value(json_extract_string(fields, '$.host')) AS host FROM log_hits
    WHERE signature = 'gpu/bug-report-host' GROUP BY log_id) host ON host.log_id = l.log_id
WHERE l.log_id IN (SELECT log_id FROM log_hit_counts WHERE starts_with(signature, 'gpu/')
    OR signature IN ('pod/kernel-oom', 'dra/prepare-failed'))
"""
_MARKS = """
SELECT log_id, line, signature = 'gpu/bug-report-section', after, starts_with(text, '-- ') FROM log_hits
WHERE signature IN ('gpu/boot', 'gpu/bug-report-section') ORDER BY log_id, line
"""


@dataclass(frozen=True, slots=True)
class Where:
    """A node as far as it can be told: its object, its name, the host's own name, and what told it, in words."""

    node_id: int | None = None
    node: str | None = None
    host: str | None = None
    how: str | None = None


@dataclass(slots=True)
class Hosts:
    """The nodes of all inputs, and the logs with hits of signatures about GPUs, devices or the kernel's memory."""

    nodes: dict[tuple[int, str], int] = field(default_factory=dict)
    short: dict[tuple[int, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    logs: dict[int, tuple[int, str, str | None, str | None]] = field(default_factory=dict)

    def input(self, log_id: int) -> int:
        """The input that a log is in."""
        return self.logs[log_id][0]

    def where(self, log_id: int, host: str | None) -> Where:
        """The node that a line of a log speaks of; `host` is the one that the line itself names."""
        number, path, pod_node, report_host = self.logs[log_id]
        if pod_node:
            return Where(self.nodes.get((number, pod_node)), pod_node, None, "the log is of a pod on that node")
        host = host or report_host
        name = self._named(number, host) if host else None
        if name:
            return Where(self.nodes[number, name], name, host, "the log names the host")
        if host is None:
            by_path = [name for name in dict.fromkeys(_candidates(path)) if (number, name) in self.nodes]
            if by_path:
                best = max(by_path, key=len)
                return Where(self.nodes[number, best], best, None, "the file is named after the node")
        return Where(None, None, host)

    def _named(self, number: int, host: str) -> str | None:
        if (number, host) in self.nodes:
            return host
        found = self.short.get((number, host.partition(".")[0]), [])
        return found[0] if len(found) == 1 else None


def _candidates(path: str) -> Iterator[str]:
    """What in a path may be the name of a node."""
    for part in path.split("/"):
        base = part
        while ending := next((one for one in _ENDINGS if base.endswith(one) and len(base) > len(one)), ""):
            base = base.removesuffix(ending)
        for piece in (part, base, *base.split("_")):
            yield piece
            for pattern in (_BEHIND, _BEFORE):
                if match := pattern.fullmatch(piece):
                    yield match[1]


def hosts_of(con: duckdb.DuckDBPyConnection) -> Hosts:
    """The nodes and logs of a bundle; needs `nodes`, `pods`, `logs` and `log_hit_counts`."""
    found = Hosts()
    for object_id, number, name in con.execute("SELECT object_id, input, name FROM nodes ORDER BY object_id").fetchall():
        found.nodes[number, name] = object_id
        found.short[number, name.partition(".")[0]].append(name)
    for log_id, number, path, node, host in con.execute(_LOGS).fetchall():
        found.logs[log_id] = (number, path, node or None, host)
    return found


@dataclass(slots=True)
class Boots:
    """For each log the lines at which a boot of the host begins, and the sections of reports of nvidia-bug-report.sh."""

    marks: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    sections: dict[int, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))

    def section(self, log_id: int, line: int) -> int:
        """The section of a report that a line is in; sections repeat one another, as the kernel's log and the journal do."""
        return bisect_right(self.sections.get(log_id, []), line, key=lambda one: one[0])

    def of(self, log_id: int, line: int) -> int | None:
        """The boot of a line: 0 the newest that the log shows, -1 the one before; None where nothing marks boots."""
        sections = self.sections.get(log_id)
        if sections:
            at = bisect_right(sections, line, key=lambda one: one[0]) - 1
            told = _JOURNAL.search(sections[at][1]) if at >= 0 else None
            return -int(told[1]) if told else 0
        marks = self.marks.get(log_id)
        return None if marks is None else bisect_left(marks, line) - len(marks)


def boots_of(con: duckdb.DuckDBPyConnection) -> Boots:
    """Where boots begin in logs; needs `log_hits`."""
    found = Boots()
    announced: dict[int, int] = {}
    for log_id, line, is_section, after, by_journal in con.execute(_MARKS).fetchall():
        if is_section:
            found.sections[log_id].append((line, after or ""))
        elif by_journal or line - announced.pop(log_id, -_SAME_BOOT) >= _SAME_BOOT:
            found.marks[log_id].append(line)
        if by_journal and not is_section:
            announced[log_id] = line
    return found
