"""What the format modules share: the folder tree of a listing, roots, and what a file's path says about it.

A format module holds data and two plain functions: `detect(tree) -> list[Root]` finds the folders of its format by
marker files, `classify(root, path, size) -> Assignment` says what the file at that path below the root is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from analyzer.bundle.kinds import by_plural
from analyzer.bundle.types import Hint

Reader = Literal[
    "",
    "objects",
    "log",
    "blocks",
    "guess",
    "document",
    "version",
    "stamp",
    "errors",
    "sonobuoy-config",
    "sonobuoy-queries",
    "sonobuoy-run-log",
    "triage-manifest",
    "deckhouse",
    "deckhouse-errors",
    "nvidia-bug-report",
    "gpu-operator-nodes",
    "prefixed-log",
    "none-found",
    "gpu-usage",
]
Role = Literal["objects", "log", "document", "errors", "meta", "skipped", "unsafe"]
Source = Literal["current", "previous", "rotated", "service", "audit", "other"]
SOURCES: tuple[Source, ...] = get_args(Source)

ALL_NAMESPACES = "*"
CLEAN_REPORT = "clean-report"
"""Role of what must-gather-clean says that it did to a must-gather."""
FOREIGN_ANALYSIS = "foreign-analysis"
"""Role of what another tool concluded when it made the bundle."""
HOST_LOG = "host-log"
"""Name of a guess: a log or nothing; no objects, since what lies on a host (a kubelet's configuration) is not of the cluster."""
GUESS_JSON = "json"
"""Name of a guess: objects, or an answer of the cluster's Prometheus."""
NESTED = "!/"
"""Stands after the name of an archive inside the input, as in `a.tar.gz!/b`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a log comes from; the first three are empty where it is no container's."""

    namespace: str = ""
    pod: str = ""
    container: str = ""
    source: Source = "other"


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one file is and how it is read.

    `scope` is the namespace that a list in the file covers, `*` for all of them, empty where only the items can tell.
    `strict` says that the format puts objects there, so that text without any is a file that could not be read.
    `whole` is "Kind.group" where the folder of the file, one object a file, is known to hold every object of the kind.
    `name` is the role of a document, or what a file of collection errors is about. `reason` says why a skipped file
    is not read.
    """

    role: Role
    reader: Reader = ""
    hint: Hint = field(default_factory=Hint)
    scope: str = ""
    strict: bool = False
    whole: str = ""
    place: Place = Place()
    name: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that holds one bundle. `prefix` ends in `/`, or is empty for the input itself.

    `score` ranks the roots of one input: the format of the highest is the input's. `part` tells the format module
    what kind of folder of its format this is.
    """

    format: str
    prefix: str
    score: int
    part: str = ""

    @property
    def folder(self) -> str:
        """The prefix without its slash."""
        return self.prefix.rstrip("/")


class Tree:
    """The folders of a listing: each folder's path (ending in `/`, the top one empty) with the names in it."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths: tuple[str, ...] = tuple(paths)
        self._folders: dict[str, set[str]] = {"": set()}
        for path in self.paths:
            self._add(path)

    def _add(self, path: str) -> None:
        folder, name = _split(path)
        while True:
            names = self._folders.get(folder)
            if names is not None:
                names.add(name)
                return
            self._folders[folder] = {name}
            folder, name = _split(folder[:-1])

    def folders(self) -> Iterator[str]:
        """All folders, shallow ones first, then by name."""
        return iter(sorted(self._folders, key=lambda folder: (folder.count("/"), folder)))

    def names(self, folder: str) -> set[str]:
        """The names of files and folders directly in a folder; empty where there is no such folder."""
        return self._folders.get(folder, set())

    def subfolders(self, folder: str) -> list[str]:
        """The folders directly in a folder, as paths ending in `/`, by name."""
        return [path for name in sorted(self.names(folder)) if (path := f"{folder}{name}/") in self._folders]

    def is_folder(self, folder: str) -> bool:
        """Whether there is a folder of this path (ending in `/`)."""
        return folder in self._folders


def _split(path: str) -> tuple[str, str]:
    """Folder (ending in `/` or empty) and last name."""
    folder, slash, name = path.rpartition("/")
    return folder + slash, name


def skip(reason: str) -> Assignment:
    """A file that is known and not read."""
    return Assignment("skipped", reason=reason)


def stem(name: str) -> str:
    """A file's name without the endings that say how it is written (`.gz`, `.json`, `.yaml`, `.yml`)."""
    plain = name.removesuffix(".gz")
    for ending in (".json", ".yaml", ".yml"):
        plain = plain.removesuffix(ending)
    return plain


def is_objects_name(name: str) -> bool:
    """Whether a file of this name is YAML or JSON."""
    return name.removesuffix(".gz").lower().endswith((".yaml", ".yml", ".json", ".jsonl", ".ndjson"))


HOST_LOG_NAME = re.compile(r"(?:^|[-_.])(?:dmesg|kern|kernel|kmsg|journal|journalctl|messages|syslog)(?:[-_.]|$)")
"""Names of logs of a host, whatever stands before or behind (messages-20261101, node-1.dmesg, syslog.1)."""


def is_log_name(name: str) -> bool:
    """Whether a file of this name is a log, as the collectors name them."""
    plain = name.lower().removesuffix(".gz")
    return plain.endswith(".log") or ".log." in plain


def hint_for(plural: str, group: str, namespace: str, name: str) -> Hint:
    """The hint of a file that holds objects of one resource.

    Args:
        plural: the resource, such as `pods`.
        group: its API group, `core` or empty for the core group.
        namespace: the namespace of its folder, empty where there is none.
        name: name of the file.
    """
    group = "" if group == "core" else group
    is_json = name.removesuffix(".gz").lower().endswith(".json")
    known = by_plural(plural, group)
    version = "" if group else "v1"
    return Hint(known.kind if known else "", group, version, namespace, json=is_json)


def base_name(path: str) -> str:
    """The last name of a path."""
    return posixpath.basename(path)
