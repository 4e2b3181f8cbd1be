"""What PowerShell writes with `>`: lists and logs in UTF-16."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analyzer.bundle.compression import decompressed
from tests.program import said

PODS = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "quay-0", "namespace": "harbour", "uid": "u1"},
            "spec": {"containers": [{"name": "quay", "image": "registry.example/quay"}]},
            "status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory. Größe"},
        }
    ],
}


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=300), st.sampled_from(["utf-16-le", "utf-16-be"]))
def test_any_text_comes_back(text: str, encoding: str) -> None:
    # A mark and two zero bytes are the mark of UTF-32.
    assume(not text.startswith("\0"))
    mark = "\ufeff".encode(encoding)
    assert decompressed(io.BytesIO(mark + text.encode(encoding))).read() == text.encode()


def test_half_a_character_at_the_end_costs_that_character() -> None:
    assert decompressed(io.BytesIO("\ufeffab".encode("utf-16-le")[:-1])).read() == b"a\xef\xbf\xbd"


@pytest.mark.parametrize("name", ["pods.json", "pods.yaml", "pods.txt"])
def test_a_list_in_utf16_is_a_bundle(tmp_path: Path, name: str) -> None:
    text = json.dumps(PODS, indent=1, ensure_ascii=False).replace("\n", "\r\n")
    (tmp_path / name).write_bytes(text.encode("utf-16"))
    out = tmp_path / "out"
    done = said("analyze", tmp_path / name, "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads((out / "report.json").read_bytes())
    (finding,) = [one for one in report["findings"] if one["code"] == "pod/Evicted"]
    assert "Größe" in json.dumps(finding, ensure_ascii=False)
