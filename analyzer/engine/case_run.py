"""Running the cases of whole packs, in several processes, and holding every rule to what it must have."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from analyzer import content
from analyzer.engine import case_apart
from analyzer.engine.case_check import Bench, bench, check
from analyzer.engine.case_file import Case, read_cases
from analyzer.engine.lint import lint, lint_names, lint_query
from analyzer.engine.pack import CASES_SUFFIX, Pack, built_in, code_of, joined, load_pack, rule_files, signatures_of
from analyzer.engine.retired import FILE as RETIRED
from analyzer.engine.retired import Retired, retired_codes
from analyzer.engine.rule import Rule
from analyzer.engine.signature_file import SUFFIX as SIGNATURES_SUFFIX
from analyzer.engine.yamltext import YamlError, read_yaml

PROCESSES = 2
APART_SHARE = 8
"""Rules of others that are worth a process of their own."""


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
        processes: how many run at once; 1 runs ours here. Those of another pack always run apart, with limits.

    Yields:
        One outcome a rule, broken ones first, then in the order of the files.
    """
    pack = _packs(folder)[-1]
    domains = {code.partition("/")[0] for code in codes}
    for outcome in _outside_rules(pack):
        domain, _, name = outcome.code.partition("/")
        # Every rule of a domain may look for a signature of it.
        if not codes or outcome.code in codes or (domain in domains and name.endswith(SIGNATURES_SUFFIX.removesuffix(".yaml"))):
            yield outcome
    wanted = [rule.code for rule in pack.rules if not codes or rule.code in codes]
    if len(_packs(folder)) > 1:
        yield from _run_apart(pack.folder, wanted, processes)
        return
    if processes <= 1 or len(wanted) < 2:
        for code in wanted:
            yield run_here(folder, code)
        return
    # No connection is open here yet, and no thread runs: forking is safe, and much faster than starting anew.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context(method)) as pool:
        yield from pool.map(run_here, [folder] * len(wanted), wanted)


def _outside_rules(pack: Pack) -> Iterator[Outcome]:
    """What is wrong with a pack beside the rules that can be read."""
    for broken in pack.broken:
        yield Outcome(broken.code, 0, (str(broken),))
    try:
        retired_codes(pack.folder)
    except YamlError as error:
        yield Outcome(RETIRED, 0, (str(error),))
    known = {code_of(path) for path in rule_files(pack.folder)}
    for path in sorted(pack.folder.glob(f"*/*{CASES_SUFFIX}")):
        if code_of(path) not in known:
            yield Outcome(code_of(path), 0, (f"{_shown(pack, path)}:1: these cases have no rule beside them",))


def _run_apart(folder: Path, codes: Sequence[str], processes: int) -> Iterator[Outcome]:
    """The rules of a pack of others, in processes with limits."""
    count = max(1, min(processes, len(codes) // APART_SHARE))
    shares = [codes[number::count] for number in range(count)]
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        told = [one for share in pool.map(lambda share: list(case_apart.run(folder, share)), shares) for one in share]
    for code, cases, problems in sorted(told, key=lambda one: codes.index(one[0])):
        yield Outcome(code, cases, problems)


@lru_cache(maxsize=4)
def _packs(folder: Path | None) -> tuple[Pack, ...]:
    """The packs that a run needs: the built-in one alone, or with the other one beside it."""
    if folder is None or folder.resolve() == content.folder("rules").resolve():
        return (_built_in(),)
    # The words of ours were checked when they were tested; they are only the surroundings of the other pack.
    return joined([_built_in(checked=False), load_pack(folder, trusted=True)])


@lru_cache(maxsize=4)
def _names(folder: Path | None) -> tuple[frozenset[str], frozenset[str]]:
    """All codes and all log signatures that a rule of the pack may name."""
    packs = _packs(folder)
    codes = {code_of(path) for pack in packs for path in rule_files(pack.folder)}
    return frozenset(codes), frozenset(signature.id for signature in signatures_of(packs))


@cache
def _built_in(*, checked: bool = True) -> Pack:
    return built_in(checked=checked)


@lru_cache(maxsize=4)
def _bench(folder: Path | None) -> Bench:
    shared = bench(_packs(folder))
    # What runs in it is not always ours: nothing is spilled to the working directory, no setting can be changed.
    for setting in ("memory_limit = '1GB'", "max_temp_directory_size = '0KiB'", "lock_configuration = true"):
        shared.con.execute(f"SET {setting}")
    return shared


def run_here(folder: Path | None, code: str) -> Outcome:
    """Lints one rule of a pack and runs its cases in this process, without limits."""
    packs = _packs(folder)
    pack = packs[-1]
    broken = next((broken for broken in pack.broken if broken.code == code), None)
    if broken:
        return Outcome(code, 0, (str(broken),))
    rule = next(rule for rule in pack.rules if rule.code == code)
    path = pack.folder / f"{code}.yaml"
    document = read_yaml(path, _shown(pack, path))
    cases, problems = _cases(pack, rule)
    if not problems:
        problems += lint(rule, document, cases, _retired(packs, code))
        problems += lint_names(rule, document, *_names(folder))
    unbound = lint_query(rule, document, path)
    problems += unbound
    for case in cases or () if not unbound else ():
        problems += [f"{case.place}: {case.name}: {difference}" for difference in check(_bench(folder), rule, case)]
    return Outcome(code, len(cases or ()), tuple(problems))


def _cases(pack: Pack, rule: Rule) -> tuple[tuple[Case, ...] | None, list[str]]:
    """The rule's cases (None where there is no file), and why they cannot be read."""
    path = pack.folder / f"{rule.code}{CASES_SUFFIX}"
    if not path.is_file():
        return None, []
    try:
        return read_cases(path, _shown(pack, path)), []
    except YamlError as error:
        return (), [str(error)]


def _retired(packs: Sequence[Pack], code: str) -> Retired | None:
    """Where a code is out of use, in any of the packs."""
    for pack in packs:
        try:
            found = retired_codes(pack.folder).get(code.lower())
        except YamlError:
            continue
        if found:
            return found
    return None


def _shown(pack: Pack, path: Path) -> str:
    return f"{pack.folder.name}/{path.relative_to(pack.folder).as_posix()}"
