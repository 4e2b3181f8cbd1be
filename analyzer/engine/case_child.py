"""The child in which the cases of a pack that nobody vouches for run; its parent is `case_apart`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from analyzer.engine import apart
from analyzer.engine.case_run import run_here


def _main() -> None:
    """The child: one request on standard input, one line a rule on standard output."""
    request = json.loads(sys.stdin.buffer.readline())
    apart.limit_memory()
    for code in request["codes"]:
        outcome = run_here(Path(request["folder"]), code)
        sys.stdout.buffer.write(json.dumps([outcome.cases, outcome.problems]).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _main()
