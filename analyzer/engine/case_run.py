"""Running the cases of whole packs, in several processes, and holding every rule to what it must have."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from analyzer.engine.case_check import Bench, bench, check
from analyzer.engine.case_file import Case, read_cases
from analyzer.engine.lint import lint, lint_query
from analyzer.engine.pack import CASES_SUFFIX, Pack, joined, load_pack, load_packs
from analyzer.engine.rule import Rule
from analyzer.engine.yamltext import YamlError

PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one rule: cases that ran, and what is wrong, one line each."""

    code: str
    cases: int
    problems: tuple[str, ...]


def run_all(folder: Path | None = None, codes: Sequence[str] = (), processes: int = PROCESSES) -> Iterator[Outcome]:
    """Lints the rules of a pack and runs their cases.

    Args:
        folder: the pack; None for the built-in one. The rules of another pack run beside the built-in ones.
        codes: only these rules; empty for all.
        processes: how many run at once; 1 runs them here.

    Yields:
        One outcome a rule, broken ones first, then in the order of the files.
    """
    packs = _packs(folder)
    pack = packs[-1] if folder else packs[0]
    for broken in pack.broken:
        if not codes or broken.code in codes:
            yield Outcome(broken.code, 0, (str(broken),))
    wanted = [rule.code for rule in pack.rules if not codes or rule.code in codes]
    if processes <= 1 or len(wanted) < 2:
        for code in wanted:
            yield _run(folder, code)
        return
    # No connection is open here yet, and no thread runs: forking is safe, and much faster than starting anew.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context(method)) as pool:
        yield from pool.map(_run, [folder] * len(wanted), wanted)


@lru_cache(maxsize=4)
def _packs(folder: Path | None) -> tuple[Pack, ...]:
    """The packs that a run needs: the built-in one alone, or with the other one beside it."""
    if folder is None or folder.resolve() == _built_in().folder.resolve():
        return (_built_in(),)
    return joined([_built_in(), load_pack(folder, trusted=True)])


@cache
def _built_in() -> Pack:
    return load_packs()[0]


@lru_cache(maxsize=4)
def _bench(folder: Path | None) -> Bench:
    return bench(_packs(folder))


def _run(folder: Path | None, code: str) -> Outcome:
    """The outcome of one rule."""
    packs = _packs(folder)
    pack = packs[-1] if folder else packs[0]
    rule = next(rule for rule in pack.rules if rule.code == code)
    cases, problems = _cases(pack, rule)
    problems += [f"{rule.place}: {problem}" for problem in lint(rule, cases)]
    unbound = lint_query(rule)
    problems += [f"{rule.query_place}: {problem}" for problem in unbound]
    for case in cases or () if not unbound else ():
        problems += [f"{case.place}: {case.name}: {difference}" for difference in check(_bench(folder), rule, case)]
    return Outcome(code, len(cases or ()), tuple(problems))


def _cases(pack: Pack, rule: Rule) -> tuple[tuple[Case, ...] | None, list[str]]:
    """The rule's cases (None where there is no file), and why they cannot be read."""
    path = pack.folder / f"{rule.code}{CASES_SUFFIX}"
    if not path.is_file():
        return None, []
    try:
        return read_cases(path, f"{pack.folder.name}/{rule.code}{CASES_SUFFIX}"), []
    except YamlError as error:
        return (), [str(error)]
