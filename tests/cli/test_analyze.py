"""`triage analyze` from outside: exit codes, one clear line, and an output folder that is never half written."""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.program import said

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
HEALTHY, GPU = SAMPLES / "healthy", SAMPLES / "gpu-cluster"
REPORTS = {"report.html", "report.md", "report.json", "bundle.duckdb"}

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `triage` in an empty folder with a temporary folder of its own, which must be empty afterwards."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()

    def call(*words: str | Path, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        done = said(*words, here=here, environment={"TMPDIR": str(temporary), **environment})
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert list(temporary.iterdir()) == []
        if code not in (0, 1):
            lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
            assert len(lines) == 1
            assert done.stderr.splitlines()[-1] == lines[0]
        return done

    return call


def test_the_reports_lie_in_a_folder_named_after_the_bundle(run: Run, tmp_path: Path) -> None:
    archive = tmp_path / "case-17.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(HEALTHY, "case-17")
    done = run("analyze", archive)
    assert {path.name for path in (tmp_path / "here" / "case-17.triage").iterdir()} == REPORTS
    assert "No fault found" in done.stdout
    assert done.stderr == ""


def test_fail_on_decides_the_exit_code(run: Run) -> None:
    run("analyze", HEALTHY, "-o", "a", "--fail-on", "warning")
    run("analyze", GPU, "-o", "b", "--fail-on", "error", code=1)
    run("analyze", GPU, "-o", "c")


def test_only_the_formats_asked_for_are_written_and_the_database_always(run: Run, tmp_path: Path) -> None:
    run("analyze", HEALTHY, "-o", "out", "--format", "md")
    assert {path.name for path in (tmp_path / "here" / "out").iterdir()} == {"report.md", "bundle.duckdb"}
    # It is still known as a report of ours, and replaced whole.
    run("analyze", HEALTHY, "-o", "out", "--format", "json,html")
    assert {path.name for path in (tmp_path / "here" / "out").iterdir()} == REPORTS - {"report.md"}


def test_as_of_moves_ages_and_not_the_collection(run: Run, tmp_path: Path) -> None:
    run("analyze", GPU, "-o", "now", "--format", "json")
    run("analyze", GPU, "-o", "later", "--format", "json", "--as-of", "2026-11-12T10:30:00.5Z")
    now, later = (json.loads((tmp_path / "here" / name / "report.json").read_bytes()) for name in ("now", "later"))
    assert now["bundle"] == later["bundle"]
    ages = {finding["id"]: finding["ageSeconds"] for finding in now["findings"] if finding["since"]}
    assert ages
    for finding in later["findings"]:
        if finding["id"] in ages:
            assert finding["ageSeconds"] == ages[finding["id"]] + 3600


def test_ids_hold_from_run_to_run(run: Run, tmp_path: Path) -> None:
    reports = []
    for name, jobs in (("a", "1"), ("b", "2")):
        run("analyze", GPU, "-o", name, "--jobs", jobs)
        reports.append((tmp_path / "here" / name / "report.json").read_bytes())
    assert reports[0] == reports[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "a command is missing"),
        (("analyze",), "Missing argument"),
        (("analyze", "gone.tar.gz"), "gone.tar.gz"),
        (("analyze", str(HEALTHY), "--format", "pdf"), "--format takes html, md and json"),
        (("analyze", str(HEALTHY), "--as-of", "yesterday"), "--as-of takes a time"),
        (("analyze", str(HEALTHY), "--jobs", "0"), "--jobs"),
        (("analyze", str(HEALTHY), "--fail-on", "sometimes"), "--fail-on"),
        (("analyze", str(HEALTHY), "--rules", "gone"), "no rule pack at gone"),
        (("analyze", str(HEALTHY), "--colour"), "--colour"),
        (("analyse", str(HEALTHY)), "analyse"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(run: Run, words: tuple[str, ...], says: str) -> None:
    assert says in run(*words, code=2).stderr


def test_what_is_no_bundle_is_one_line_and_exit_3(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + bytes(range(256)) * 40)
    (tmp_path / "README.md").write_text("# Title\n\nSome words.\n", encoding="utf-8")
    (tmp_path / "nothing.tar.gz").write_bytes(b"")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "letter.txt").write_text("Dear reader\n", encoding="utf-8")
    (mixed / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(50))
    for name in ("empty", "paper.pdf", "README.md", "nothing.tar.gz", "mixed"):
        assert name in run("analyze", tmp_path / name, "-o", "out", code=3).stderr
        assert not (tmp_path / "here" / "out").exists()


@pytest.mark.parametrize("share", [0.3, 0.5, 0.89, 0.9, 0.95, 0.99])
def test_a_cut_archive_gives_a_report_that_says_so(run: Run, tmp_path: Path, share: float) -> None:
    whole, cut = tmp_path / "whole.tar.gz", tmp_path / "cut.tar.gz"
    with tarfile.open(whole, "w:gz") as tar:
        tar.add(GPU, "gpu")
    data = whole.read_bytes()
    cut.write_bytes(data[: int(len(data) * share)])
    run("analyze", cut, "-o", "out")
    report = json.loads((tmp_path / "here" / "out" / "report.json").read_bytes())
    (torn,) = [finding for finding in report["findings"] if finding["code"] == "collect/Incomplete"]
    assert torn["evidence"]
    assert report["files"]
    assert "not whole" in report["summary"]["verdict"]


def test_an_archive_that_ends_between_two_files_is_itself_what_was_not_read(run: Run, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.tar", tmp_path / "cut.tar"
    with tarfile.open(whole, "w") as tar:
        tar.add(HEALTHY, "healthy")
    with tarfile.open(whole) as tar:
        last = tar.getmembers()[-1]
        end = last.offset_data + -(-last.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
    cut.write_bytes(whole.read_bytes()[:end])
    run("analyze", cut, "-o", "out")
    report = json.loads((tmp_path / "here" / "out" / "report.json").read_bytes())
    assert [(row["input"], row["path"], row["status"]) for row in report["files"]] == [(0, "cut.tar", "partial")]
    assert report["summary"]["health"] == "cannot-tell"


def test_a_folder_of_the_users_is_never_touched(run: Run, tmp_path: Path) -> None:
    mine = tmp_path / "here" / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work", encoding="utf-8")
    assert "thesis.tex" in run("analyze", HEALTHY, "-o", mine, code=2).stderr
    assert [path.name for path in mine.iterdir()] == ["thesis.tex"]
    # A foreign report.json beside nothing else is no report of ours either.
    other = tmp_path / "here" / "other"
    other.mkdir()
    (other / "report.json").write_text('{"schema": "somebody/else"}', encoding="utf-8")
    run("analyze", HEALTHY, "-o", other, code=2)
    assert (other / "report.json").read_text(encoding="utf-8") == '{"schema": "somebody/else"}'
    (tmp_path / "here" / "file").write_text("x", encoding="utf-8")
    run("analyze", HEALTHY, "-o", "file", code=2)


def test_an_old_report_stays_where_the_new_one_fails(run: Run, tmp_path: Path) -> None:
    run("analyze", HEALTHY, "-o", "out")
    before = (tmp_path / "here" / "out" / "report.json").read_bytes()
    (tmp_path / "here" / "void").mkdir()
    run("analyze", "void", "-o", "out", code=3)
    assert (tmp_path / "here" / "out" / "report.json").read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["out", "void"]
    run("analyze", GPU, "-o", "out")
    assert (tmp_path / "here" / "out" / "report.json").read_bytes() != before


def test_input_and_output_keep_apart(run: Run, tmp_path: Path) -> None:
    bundle = tmp_path / "here" / "bundle"
    bundle.mkdir()
    (bundle / "pods.yaml").write_text("apiVersion: v1\nkind: PodList\nitems: []\n", encoding="utf-8")
    run("analyze", bundle, "-o", bundle / "report", code=2)
    run("analyze", bundle, "-o", tmp_path / "here", code=2)
    assert [path.name for path in bundle.iterdir()] == ["pods.yaml"]


def test_a_temporary_folder_that_is_not_there_is_said(run: Run) -> None:
    assert "temporary folder" in run("analyze", HEALTHY, code=2, TMPDIR="/nowhere/at/all").stderr


def test_sql_asks_bundle_report_and_database_alike(run: Run) -> None:
    run("analyze", HEALTHY, "-o", "out")
    query = "SELECT count(*) AS n FROM objects WHERE kind = 'Node'"
    answers = {run("sql", name, query, "--format", "csv").stdout for name in (str(HEALTHY), "out", "out/bundle.duckdb")}
    assert answers == {"n\n4\n"}
    assert "objects" in run("sql", "out").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", ""),
        ("analyze", HEALTHY, "-o", ""),
        ("analyze", HEALTHY, "--rules", ""),
        ("show", "", "pod/web"),
        ("logs", "", "pod/web"),
        ("sql", "", "SELECT 1"),
        ("sql", HEALTHY, "SELECT 1", "-o", ""),
        ("rules", "list", "--rules", ""),
        ("rules", "test", ""),
    ],
)
def test_an_empty_path_is_not_the_current_folder(run: Run, words: tuple[str | Path, ...]) -> None:
    assert run(*words, code=2).stderr == "error: a path is empty; the current folder is .\n"
