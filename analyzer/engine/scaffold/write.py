"""Writing a new rule, once it is known to pass its own tests."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import analyzer
from analyzer import content
from analyzer.bundle.errors import UsageError
from analyzer.engine.case_run import run_here
from analyzer.engine.pack import CASES_SUFFIX, code_of, load_pack, rule_files
from analyzer.engine.retired import retired_codes
from analyzer.engine.scaffold.answers import Answers
from analyzer.engine.scaffold.shapes import material
from analyzer.engine.scaffold.text import cases_text, rule_text, signatures_text
from analyzer.engine.signature_file import SUFFIX as SIGNATURES_SUFFIX


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written, and how many cases pass."""

    files: tuple[Path, ...]
    cases: int


def check_free(code: str, folder: Path) -> None:
    """Whether a rule of that code can be made in that pack.

    Raises:
        UsageError: the code is taken or was once, a file is there already, or the pack is the installed package.
    """
    inside, ours = Path(analyzer.__file__).resolve().parent, content.folder("rules")
    if folder.resolve() == inside or inside in folder.resolve().parents:
        raise UsageError(f"{folder} lies inside the installed package; give a folder of your own with --dir")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    for pack in (ours, folder):
        # A file system may take names that differ in case for the same.
        taken = {code_of(path).lower(): path for path in rule_files(pack)}
        if code.lower() in taken:
            where = taken[code.lower()]
            raise UsageError(f"the code {code_of(where)} is taken by {pack.name}/{where.parent.name}/{where.name}")
        old = retired_codes(pack).get(code.lower())
        if old:
            raise UsageError(f"the code {old.code} was used before and is never used again ({old.place}): {old.why}")
    for path in _paths(code, folder):
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path} is there already")


def write(answers: Answers, folder: Path) -> Written:
    """Makes a rule and its cases, runs them, and writes them where they pass.

    Args:
        answers: what was answered.
        folder: the pack; made where it is not there.

    Raises:
        UsageError: a file is there already or cannot be written, or no rule that holds can be made of the answers.
    """
    check_free(answers.code, folder)
    texts = texts_of(answers)
    cases = _proved(answers.code, texts)
    paths = _paths(answers.code, folder)[: len(texts)]
    done: list[Path] = []
    try:
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts, strict=True):
            with path.open("x", encoding="utf-8", newline="\n") as stream:
                done.append(path)
                stream.write(text)
    except OSError as error:
        for path in done:
            with contextlib.suppress(OSError):
                path.unlink()
        raise UsageError(f"{error.filename or folder} cannot be written: {error.strerror}") from None
    return Written(tuple(paths), cases)


def texts_of(answers: Answers) -> list[str]:
    """The texts of the rule, of its cases and, where it looks into logs, of its signatures.

    Raises:
        UsageError: there is no sample of a state.
    """
    made = material(answers)
    return [text for text in (rule_text(answers, made), cases_text(made), signatures_text(made)) if text]


def _proved(code: str, texts: list[str]) -> int:
    """The number of cases that pass; the rule is tried in a folder of its own.

    Raises:
        UsageError: something in the answers makes no rule that passes.
    """
    with tempfile.TemporaryDirectory(prefix="triage-new-") as name:
        pack = Path(name) / "pack"
        for path, text in zip(_paths(code, pack), texts, strict=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        broken = load_pack(pack).broken
        outcome = run_here(pack, code)
    problems = [broken[0].problem] if broken else [problem.partition(": ")[2] for problem in outcome.problems]
    if problems:
        # Where it would stand helps nobody: the files are not there.
        problem = problems[0]
        raise UsageError(f"no rule that passes its own cases can be made of these answers: {problem}")
    return outcome.cases


def _paths(code: str, folder: Path) -> list[Path]:
    return [folder / f"{code}{suffix}" for suffix in (".yaml", CASES_SUFFIX, SIGNATURES_SUFFIX)]
