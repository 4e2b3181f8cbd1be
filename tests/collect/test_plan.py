from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from analyzer.collect import plan as plans
from analyzer.collect.plan import has_any, matches

DOMAINS = Path(plans.__file__).parents[1] / "engine" / "domains.yaml"


def test_the_plan_loads_and_takes_every_domain() -> None:
    plan = plans.load()
    assert plan.version == 1
    for domain in yaml.safe_load(DOMAINS.read_text()):
        for group in domain.get("groups", ()):
            name = group.replace("*", "x")
            assert plan.group_rank(name) is not None or name == "x.openshift.io", (
                f"{group} of {domain['name']} is not in the plan"
            )


def test_logs_of_every_controller_of_a_domain_are_taken() -> None:
    rules = plans.load().logs
    for domain in yaml.safe_load(DOMAINS.read_text()):
        for pod in domain.get("pods", ()):
            assert plans.matches_any(rules.pods, pod.replace("*", "x")), f"{pod} of {domain['name']}"


def test_what_is_never_taken() -> None:
    plan = plans.load()
    assert plan.why_never("oauthaccesstokens.oauth.openshift.io", "oauth.openshift.io") == "holds tokens"
    assert plan.why_never("componentstatuses", "")
    assert plan.why_never("pods", "") is None
    assert plan.why_never("pods.metrics.k8s.io", "metrics.k8s.io")
    assert plan.why_never("workloads.kueue.x-k8s.io", "kueue.x-k8s.io") is None


def test_order_and_custom() -> None:
    plan = plans.load()
    core, kueue = plan.group_rank(""), plan.group_rank("kueue.x-k8s.io")
    assert core is not None
    assert kueue is not None
    assert core < kueue
    assert plan.group_rank("example.com") is None
    assert plan.is_custom("kueue.x-k8s.io")
    assert not plan.is_custom("apps")


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("a*", "abc", True),
        ("*-config", "x-config", True),
        ("a.c", "abc", False),
        ("*", "", True),
        ("a*b", "a\nb", True),
        ("a", "ab", False),
    ],
)
def test_patterns(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected


def test_labels() -> None:
    assert has_any(["a=b"], {"a": "b"})
    assert has_any(["a"], {"a": "c"})
    assert not has_any(["a=b", "c"], {"a": "c"})


def test_wrong_plans_are_told() -> None:
    text = Path(plans.__file__).with_name("plan.yaml").read_bytes()
    with pytest.raises(ValueError, match="unknown field: surprise"):
        plans.parse(text + b"\nsurprise: 1\n")
    with pytest.raises(ValueError, match="no YAML"):
        plans.parse(b"a: [")
    with pytest.raises(ValueError, match="missing required field"):
        plans.parse(b"version: 1")
