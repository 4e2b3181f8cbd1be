"""What `nvidia-bug-report.sh` writes: one long text, mostly `nvidia-bug-report.log.gz`, about the GPUs of one host.

It is a log to us: its sections hold the kernel's messages of several boots, `nvidia-smi` and what the driver says of itself.
Inside another bundle, or beside manifests, it is read in the same way as a part of that.
"""

from __future__ import annotations

import re

from analyzer.bundle.formats.base import Assignment, Place, Root, Tree, base_name, skip

FORMAT = "nvidia-bug-report"

_NAME = re.compile(r"nvidia-bug-report.{0,300}\.log(?:\.gz)?", re.ASCII | re.IGNORECASE)


def is_report(name: str) -> bool:
    """Whether a file of this name is such a report."""
    return bool(_NAME.fullmatch(name))


def detect(tree: Tree) -> list[Root]:
    """The whole input, where it holds such reports and nothing else. It ranks above plain files, below bundles of a cluster."""
    alone = bool(tree.paths) and all(is_report(base_name(path)) for path in tree.paths)
    return [Root(FORMAT, "", 2)] if alone else []


def as_log(*, alone: bool = False) -> Assignment:
    """How a report is read; `alone` tells that it makes up the input, so that its date is the time of the collection."""
    return Assignment("log", "nvidia-bug-report", place=Place(source="other"), name="host" if alone else "")


def classify(root: Root, path: str, size: int) -> Assignment:  # noqa: ARG001 - one signature for all formats
    """What the file at `path` below the root is."""
    return as_log(alone=True) if is_report(base_name(path)) else skip("no report of nvidia-bug-report.sh")
