#!/usr/bin/env python3
"""How long `triage analyze` takes and how much memory, beside plain decompression of the same bundle.

Absolute times say little about another machine, or about this one an hour later. So each figure stands beside a
yardstick measured in turn with it in the same run: `gzip -dc BUNDLE | wc -c`, or `xz -dc`. See README.md here.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import genbundle
from memory import Peak, peak_memory

from analyzer import __version__
from analyzer.bundle.containers import open_container

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "out" / "bench"
MB = 1_000_000
DECOMPRESSORS = {".gz": "gzip", ".tgz": "gzip", ".xz": "xz", ".txz": "xz", ".zst": "zstd"}


@dataclass(frozen=True)
class Figures:
    """Measured seconds of one bundle: the whole program, the yardstick, and the listing alone."""

    analyze: list[float]
    yardstick: list[float]
    listing: list[float]

    def ratio(self) -> float:
        """How many times the yardstick the whole program takes."""
        return statistics.median(self.analyze) / statistics.median(self.yardstick)


def main(argv: list[str] | None = None) -> int:
    """Measure what the options ask for and print it. Returns the exit code."""
    args = _options(argv)
    print(
        f"bundle-triage {__version__}, Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}; "
        f"medians of {args.runs} runs (least to most)\n"
    )
    real = args.bundle or _default_real()
    if not real:
        print("real bundle: none given (--bundle PATH, or a folder of must-gathers in TRIAGE_CORPUS)\n")
    for bundle in real:
        _print_bundle("real", bundle, _measure(bundle, args.runs, args.jobs), args.jobs)
    if args.real_only:
        return 0
    objects, logs = genbundle.SIZES[args.size]
    once = _generated(args.size, objects, logs)
    figures = _measure(once, args.runs, args.jobs)
    _print_bundle("generated", once, figures, args.jobs)
    if not args.no_growth:
        twice = _generated(f"{args.size}-twice", 2 * objects, 2 * logs)
        doubled = _measure(twice, args.runs, args.jobs)
        _print_bundle("generated", twice, doubled, args.jobs)
        growth = statistics.median(doubled.analyze) / statistics.median(figures.analyze)
        print(f"growth: twice the bundle takes {growth:.2f} times as long (2.00 is linear)")
    return 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--bundle", type=Path, action="append", help="a real bundle, repeatable (default: the must-gathers in TRIAGE_CORPUS)"
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each, medians are shown (default 5)")
    parser.add_argument("--size", choices=sorted(genbundle.SIZES), default="medium", help="of the generated bundle")
    parser.add_argument("--jobs", type=int, help="passed on to triage analyze")
    parser.add_argument("--real-only", action="store_true", help="leave the generated bundles out")
    parser.add_argument("--no-growth", action="store_true", help="leave the bundle of twice the size out")
    args = parser.parse_args(argv)
    if args.runs < 1:
        parser.error("--runs must be at least 1")
    return args


def _default_real() -> list[Path]:
    corpus = os.environ.get("TRIAGE_CORPUS")
    if not corpus:
        return []
    return sorted(path for path in Path(corpus).glob("must-gather*.tar.*") if path.suffix in DECOMPRESSORS)


def _generated(name: str, objects: int, logs: int) -> Path:
    """The generated bundle of this size; made once and kept, since the same arguments give the same bytes."""
    target = WORK / f"{name}-{objects}-{logs}.tar.gz"
    if not target.exists():
        print(f"making {target.relative_to(ROOT)} …", file=sys.stderr)
        WORK.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=WORK) as scratch:
            tree = Path(scratch) / "tree"
            genbundle.generate(tree, "must-gather", objects, logs)
            genbundle.make_tar(tree, Path(scratch) / "tree.tar.gz")
            (Path(scratch) / "tree.tar.gz").replace(target)
    return target


def _measure(bundle: Path, runs: int, jobs: int | None) -> Figures:
    """Time the three in turn, so that a slow minute of the machine falls on all of them."""
    figures = Figures([], [], [])
    _yardstick(bundle)  # once unmeasured: the file is in the page cache from here on
    for _ in range(runs):
        figures.yardstick.append(_seconds(lambda: _yardstick(bundle)))
        figures.listing.append(_seconds(lambda: open_container(bundle).listing()))
        figures.analyze.append(_seconds(lambda: _analyze(bundle, jobs)))
    return figures


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _yardstick(bundle: Path) -> int:
    """`gzip -dc BUNDLE | wc -c` (or xz, zstd); the number of bytes that it counts."""
    program = DECOMPRESSORS.get(bundle.suffix)
    if program is None or shutil.which(program) is None or shutil.which("wc") is None:
        sys.exit(f"error: no decompressor on this machine to compare {bundle.name} with")
    with subprocess.Popen([program, "-dc", str(bundle)], stdout=subprocess.PIPE) as decompress:
        counted = subprocess.run(["wc", "-c"], stdin=decompress.stdout, capture_output=True, check=True)
    return int(counted.stdout)


def _command(bundle: Path, out: Path, jobs: int | None) -> list[str]:
    command = [sys.executable, "-m", "analyzer", "analyze", str(bundle), "-o", str(out)]
    return command if jobs is None else [*command, "--jobs", str(jobs)]


def _analyze(bundle: Path, jobs: int | None) -> None:
    """The whole program in a process of its own, as a user runs it."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            _command(bundle, Path(scratch) / "out", jobs), cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.exit(f"error: triage analyze {bundle.name} ended with {done.returncode}: {done.stderr.strip()}")


def _memory(bundle: Path, jobs: int | None) -> Peak:
    with tempfile.TemporaryDirectory() as scratch:
        return peak_memory(_command(bundle, Path(scratch) / "out", jobs), ROOT)


def _print_bundle(title: str, bundle: Path, figures: Figures, jobs: int | None) -> None:
    files = len(open_container(bundle).listing().entries)
    unpacked = _yardstick(bundle)
    print(f"{title}: {bundle.name}, {bundle.stat().st_size / MB:.1f} MB, {unpacked / MB:.0f} MB unpacked, {files:,} files")
    program = DECOMPRESSORS[bundle.suffix]
    for name, seconds in (
        ("triage analyze", figures.analyze),
        (f"{program} -dc | wc -c", figures.yardstick),
        ("listing alone", figures.listing),
    ):
        print(f"  {name:<18} {statistics.median(seconds):7.2f} s  ({min(seconds):.2f} to {max(seconds):.2f})")
    print(f"  {'ratio':<18} {figures.ratio():7.1f}    triage analyze / {program} -dc | wc -c")
    peak = _memory(bundle, jobs)
    print(f"  {'peak memory':<18} {peak.main / MB:7.0f} MB main process", end="")
    print(f", {', '.join(f'{worker / MB:.0f}' for worker in peak.workers)} MB its workers\n" if peak.workers else "\n")


if __name__ == "__main__":
    sys.exit(main())
