"""Whose a namespace is, by its name."""

from __future__ import annotations

import pytest

from analyzer.facts.platform import owner_of


@pytest.mark.parametrize(
    ("namespace", "owner"),
    [
        ("kube-system", "platform"),
        ("openshift", "platform"),
        ("openshift-ingress", "platform"),
        ("d8-cni-cilium", "platform"),
        ("nvidia-gpu-operator", "cluster"),
        ("openshiftless", None),
        ("my-kube-system", None),
        ("default", None),
        ("", None),
        ("Kube-system", None),
    ],
)
def test_owner_by_name(namespace: str, owner: str | None) -> None:
    assert owner_of(namespace) == owner
