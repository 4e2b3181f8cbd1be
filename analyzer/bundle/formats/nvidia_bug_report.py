"""What `nvidia-bug-report.sh` writes: one long text, mostly `nvidia-bug-report.log.gz`, about the GPUs of one host.

It is a log to us: its sections hold the kernel's messages of several boots, `nvidia-smi` and what the driver says of itself.
Where it lies inside another bundle that knows the file, it is that bundle's; folders that hold nothing but such reports are this
format's.
"""

from __future__ import annotations

import re

from analyzer.bundle.formats.base import Assignment, Place, Root, Tree, base_name, skip

FORMAT = "nvidia-bug-report"
ALONE = "alone"
"""Part of the root where the input holds such reports and nothing else: then it was collected when they were written."""

_NAME = re.compile(r"nvidia-bug-report.{0,300}\.log(?:\.gz)?", re.ASCII | re.IGNORECASE)


def is_report(name: str) -> bool:
    """Whether a file of this name is such a report."""
    return bool(_NAME.fullmatch(name))


def detect(tree: Tree) -> list[Root]:
    """The folders whose files are all such reports. They rank above plain files and below every bundle of a cluster."""
    others = {_folder(path) for path in tree.paths if not is_report(base_name(path))}
    folders = dict.fromkeys(_folder(path) for path in tree.paths if is_report(base_name(path)))
    part = "" if others else ALONE
    return [Root(FORMAT, folder, 2, part) for folder in folders if folder not in others]


def _folder(path: str) -> str:
    head, slash, _ = path.rpartition("/")
    return head + slash


def classify(root: Root, path: str, size: int) -> Assignment:  # noqa: ARG001 - one signature for all formats
    """What the file at `path` below the root is."""
    if not is_report(base_name(path)):
        return skip("no report of nvidia-bug-report.sh")
    return Assignment("log", "nvidia-bug-report", place=Place(source="other"), name="host" if root.part == ALONE else "")
