"""What a status or a spec holds that is no name may be a secret: no output shows it, and a digest stands in for the reason."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.ome.envelope import FORMATS
from tests.ome.pond import NAME, NAMESPACE, chosen, container, model, run, runtime, service, text
from tests.program import said

SECRET = "ghp_Marsh7heronReed2skiffOar4tiller9"
FIT: dict[str, Any] = {"acceleratorClass": "gpu-a", "nodeSelector": {"pool": "a"}, "resourceRequests": {"cpu": "1"}}
NAMED: dict[str, Any] = {"acceleratorSelector": {"acceleratorClass": "gpu-a"}}
CREDENTIALS = "picked by https://tern:sandpiper-42@vault.example/"


def shown(own: Any, *others: Any) -> str:
    """All that the command prints of a service, in every format."""
    found = run(own, *others)
    return "\n".join(text(found, form) for form in FORMATS)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"acceleratorClass": SECRET}, "ClassInvalid"),
        ({"acceleratorClass": "a" * 254}, "ClassInvalid"),
        ({"nodeSelector": {"pool": f"{SECRET}!"}}, "NodeSelectorInvalid"),
        ({"nodeSelector": {f"{SECRET}!": "a"}}, "NodeSelectorInvalid"),
        ({"nodeSelector": {f"{SECRET.lower()}-{number}": "a" for number in range(65)}}, "NodeSelectorInvalid"),
        ({"resourceRequests": {"cpu": SECRET}}, "RequestsInvalid"),
        ({"resourceRequests": {f"{SECRET}!": "1"}}, "RequestsInvalid"),
        ({"resourceRequests": {f"{SECRET.lower()}-{number}": "1" for number in range(65)}}, "RequestsInvalid"),
        ({"resourceRequests": {"cpu": "1" + "0" * 128}}, "RequestsInvalid"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_selection_that_is_not_valid_is_named_and_never_shown(fields: dict[str, Any], code: str) -> None:
    out = shown(service(status=chosen(**(FIT | fields)), **NAMED))
    assert code in out
    assert SECRET.lower() not in out.lower()
    assert "a" * 254 not in out
    assert "0" * 128 not in out


def test_node_selectors_are_not_shown_even_where_they_are_valid() -> None:
    assert "tern-pool-17" not in shown(service(status=chosen(**(FIT | {"nodeSelector": {"pool": "tern-pool-17"}})), **NAMED))


def test_a_digest_stands_in_for_the_reason() -> None:
    out = shown(service(status=chosen(**(FIT | {"reason": CREDENTIALS})), **NAMED))
    assert f"rs1:{hashlib.sha256(CREDENTIALS.encode()).hexdigest()[:12]}" in out
    assert "sandpiper" not in out
    assert "vault.example" not in out


@pytest.mark.parametrize("where", ["service", "component"])
def test_a_declared_class_that_is_no_name_is_not_shown(where: str) -> None:
    named = {"acceleratorClass": SECRET}
    own = service(acceleratorSelector=named) if where == "service" else service(engine={"acceleratorOverride": named})
    out = shown(own)
    assert "DeclaredClassInvalid" in out
    assert SECRET not in out


def test_a_policy_that_is_none_and_a_component_that_is_none_are_not_shown() -> None:
    out = shown(service(acceleratorSelector={"policy": SECRET}, status=chosen(SECRET, **FIT)))
    assert "PolicyInvalid" in out
    assert "UnexpectedComponentEvidence" in out
    assert SECRET not in out


def test_requests_of_a_runtime_that_are_not_valid_are_not_shown() -> None:
    held = {"runner": container({SECRET + "!": "1", "cpu": "2"})}
    out = "\n".join(text(run(service(**NAMED), runtime(engineConfig=held), bare=True), form) for form in FORMATS)
    assert SECRET not in out


def test_no_report_shows_them_either(tmp_path: Path) -> None:
    status = chosen(
        acceleratorClass=SECRET, reason=CREDENTIALS, nodeSelector={"pool": f"{SECRET}!"}, resourceRequests={"cpu": SECRET}
    )
    own = service(
        status=status | {"modelStatus": {"lastFailureInfo": {"reason": SECRET, "message": "m"}}},
        acceleratorSelector={"policy": SECRET},
    )
    items = [
        {"apiVersion": "ome.io/v1beta1", "kind": one.kind, **one.value, "metadata": dict(one.metadata) | {"name": one.name}}
        for one in (own, runtime(), model())
    ]
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    whole = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "9"}, "items": items}
    (bundle / "objects.json").write_text(json.dumps(whole), encoding="utf-8")
    done = said("analyze", bundle, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    printed = done.stdout + done.stderr
    report = (tmp_path / "out" / "report.json").read_text(encoding="utf-8")
    assert f"{NAMESPACE}/{NAME}" in report
    assert "ome/ClassInvalid" in report
    for told in (
        printed,
        report,
        *((tmp_path / "out" / f"report.{form}").read_text(encoding="utf-8") for form in ("md", "html")),
    ):
        assert SECRET not in told
        assert "sandpiper" not in told
