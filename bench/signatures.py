#!/usr/bin/env python3
"""How fast logs are searched for all signatures, beside ripgrep with the same patterns on the same files and cores.

    .venv/bin/python bench/signatures.py                  # 1 GB of ordinary logs, made once
    .venv/bin/python bench/signatures.py --size 100 FILE  # 100 MB, or logs of your own

`rg -c -f PATTERNS` gets one alternation: of a signature its pattern, else its words. Both are run in turn, `rg` with as many
threads as this has processes. See README.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import genbundle

from analyzer.bundle.formats.base import Place
from analyzer.bundle.logs import CHUNK_BYTES
from analyzer.bundle.signatures import LogScan, Scanner, Signature
from analyzer.engine.pack import load_packs, signatures_of

WORK = Path(__file__).resolve().parent.parent / "out" / "bench" / "logs"
MB = 1_000_000
FILES = 16
DISTINCT_MB = 4
"""Of each file so much is made; it is repeated up to the size wanted."""
BAR = 0.5
"""We are to be at least half as fast as ripgrep."""
PLACE = Place("apps", "web-0", "main", "current")


def main(argv: list[str] | None = None) -> int:
    """Measure and print. Returns 1 where the bar is missed, 2 without ripgrep."""
    args = _options(argv)
    rg = shutil.which("rg")
    if rg is None:
        print("needs ripgrep (Debian: apt-get install ripgrep)", file=sys.stderr)
        return 2
    # Each of them in every log, wherever its rules look for it: ripgrep searches for all too.
    signatures = tuple(replace(one, sources=(), containers=(), pods=(), namespaces=()) for one in signatures_of(load_packs(())))
    files = args.files or _made(args.size)
    size = sum(file.stat().st_size for file in files)
    patterns = WORK / "patterns.txt"
    patterns.parent.mkdir(parents=True, exist_ok=True)
    patterns.write_text("\n".join(_patterns(signatures)) + "\n", encoding="utf-8")
    print(
        f"{size / MB:,.0f} MB in {len(files)} files, {len(signatures)} signatures, {args.jobs} cores; medians of {args.runs} runs"
    )
    ours, theirs, hits, counted, cpu = [], [], 0, 0, 0.0
    with ProcessPoolExecutor(args.jobs, initializer=_start, initargs=(signatures,)) as pool:
        # Processes that are there and files that are in memory: neither side pays for the other's first look.
        list(pool.map(_scan, files))
        before = os.times().children_user + os.times().children_system
        for _ in range(args.runs):
            begin = time.perf_counter()
            found = list(pool.map(_scan, files))
            hits, cpu = sum(one for one, _ in found), cpu + sum(seconds for _, seconds in found)
            ours.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            counted = _ripgrep(rg, patterns, files, args.jobs)
            theirs.append(time.perf_counter() - begin)
        spent = os.times().children_user + os.times().children_system - before
    mine, other = statistics.median(ours), statistics.median(theirs)
    print(f"ours      {mine:6.2f} s  {size / MB / mine:8,.0f} MB/s  {cpu / args.runs:6.2f} CPU s  {hits:,} hits")
    print(f"ripgrep   {other:6.2f} s  {size / MB / other:8,.0f} MB/s  {spent / args.runs:6.2f} CPU s  {counted:,} lines")
    print(f"{other / mine:.2f} of ripgrep's speed (to be at least {BAR})")
    return 0 if other / mine >= BAR else 1


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="*", help="logs to search (default: logs that are made)")
    parser.add_argument("--size", type=int, default=1000, help="MB of logs to make (default 1000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, medians are shown (default 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cores for each (default: all)")
    return parser.parse_args(argv)


def _made(size: int) -> list[Path]:
    """So many MB of ordinary logs, made once."""
    folder = WORK / str(size)
    done = folder / "done"
    names = [folder / f"{number:02d}.log" for number in range(FILES)]
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(names):
            cluster = genbundle.Cluster(30_000, seed=number)
            text = b"".join(cluster.log(min(DISTINCT_MB * MB, size * MB // FILES), "apps", f"web-{number}"))
            with name.open("wb") as file:
                for _ in range(max(1, size * MB // FILES // len(text))):
                    file.write(text)
        done.touch()
    return names


def _patterns(signatures: tuple[Signature, ...]) -> list[str]:
    """One alternation that ripgrep takes: it wants no name of a group twice, and no space escaped."""
    found: dict[str, None] = {}
    for signature in signatures:
        words = [re.sub(r"([][(){}.*+?^$|\\])", r"\\\1", word) for word in signature.words]
        for pattern in [signature.pattern] if signature.pattern else words:
            found[re.sub(r"\(\?P<\w+>", "(?:", pattern)] = None
    return list(found)


_scanner: Scanner


def _start(signatures: tuple[Signature, ...]) -> None:
    global _scanner  # noqa: PLW0603 - what a process of the pool compiles once
    _scanner = Scanner(signatures)


def _scan(path: Path) -> tuple[int, float]:
    begin = time.process_time()
    automaton = _scanner.automaton_for(PLACE, str(path), "plain")
    if automaton is None:
        return 0, 0.0
    scan = LogScan(_scanner, automaton)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            scan.feed(chunk)
    scan.finish()
    scan.hits()
    return sum(count.hits for count in scan.counts()), time.process_time() - begin


def _ripgrep(rg: str, patterns: Path, files: list[Path], jobs: int) -> int:
    command = [rg, "-c", "--no-filename", "--no-config", "-j", str(jobs), "-f", str(patterns), *map(str, files)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode > 1:
        raise SystemExit("ripgrep failed")
    return sum(map(int, done.stdout.split()))


if __name__ == "__main__":
    sys.exit(main())
