"""Which words of a collection are an error, and of what kind."""

from __future__ import annotations

import pytest

from analyzer.bundle.collect_errors import MAX_ERRORS, errors_in_json, errors_in_text

USER = 'User "system:serviceaccount:a:b" cannot list resource'


def found(text: str, subject: str = "", *, sure: bool = False) -> list[tuple[int, str, str]]:
    return [(one.line, one.kind, one.subject) for one in errors_in_text(text.encode(), subject, sure=sure)]


@pytest.mark.parametrize(
    ("line", "kind", "subject"),
    [
        ('error: the server doesn\'t have a resource type "teapots"', "not-served", "teapots"),
        (
            f'Error from server (Forbidden): nodes is forbidden: {USER} "nodes" in API group "" at the cluster scope',
            "forbidden",
            "nodes",
        ),
        (f'pods.metrics.k8s.io is forbidden: {USER} "pods" in API group "metrics.k8s.io"', "forbidden", "pods.metrics.k8s.io"),
        ("error: You must be logged in to the server (Unauthorized)", "forbidden", ""),
        ("Error from server (Timeout): the server was unable to return a response: context deadline exceeded", "timeout", ""),
        ('error: no matches for kind "Leaf" in version "tea.example/v1"', "not-served", "Leaf"),
        ("unable to retrieve container logs for cri-o://abc", "failed", ""),
        ("[must-gather      ] OUT 2026-08-18T13:06:00Z gather did not start: unable to pull image", "failed", ""),
        ("E0818 13:06:00.000001      12 gather.go:31] error: open /x: no such file", "failed", ""),
    ],
)
def test_errors(line: str, kind: str, subject: str) -> None:
    assert found(f"Gathering data for ns/a...\n{line}\n") == [(2, kind, subject)]


@pytest.mark.parametrize(
    "line",
    [
        "Wrote inspect data to must-gather.",
        'previous terminated container "brew" in pod "kettle-0" not found',
        'Error from server (BadRequest): previous terminated container "brew" in pod "kettle-0" not found',
        'Error from server (NotFound): namespaces "openshift-tea" not found',
        'container "brew" in pod "kettle-0" is waiting to start: PodInitializing',
        "No resources found in cellar namespace.",
        "error: errors occurred:",
        "[one or more errors occurred while gathering pod-specific data for namespace: cellar",
        "INFO: Gathering HAProxy config files, timeout 30s",
        "WARNING: Collecting one or more audit logs on ALL masters in your cluster.",
        "the operator reports Degraded: error syncing",
        "",
    ],
)
def test_chatter_is_no_error(line: str) -> None:
    assert found(line) == []


def test_in_a_file_of_errors_every_line_is_one() -> None:
    assert found("curl: (7) something odd\n\nrequest timed out\n", "monitoring/alerts", sure=True) == [
        (1, "failed", "monitoring/alerts"),
        (3, "timeout", "monitoring/alerts"),
    ]


def test_equal_errors_count_once_and_there_is_an_end() -> None:
    assert len(found("error: a\n" * 1000)) == 1
    assert len(found("".join(f"error: number {n}\n" for n in range(1000)))) == MAX_ERRORS


def test_secrets_in_messages_are_masked() -> None:
    (error,) = errors_in_text(b"error: login failed, password=hunter2hunter2\n", "", sure=False)
    assert "hunter2" not in error.message


def test_files_of_strings() -> None:
    refused = f'pods is forbidden: {USER} "pods" in API group "" in the namespace "a"'
    data = (
        '{\n "a": ' + '"' + refused.replace('"', '\\"') + '",\n "b": "the server could not find the requested resource"\n}'
    ).encode()
    one, two = errors_in_json(data, "pods") or []
    assert (one.kind, one.subject, one.line) == ("forbidden", "pods", 2)
    assert (two.kind, two.subject, two.line) == ("not-served", "pods", 3)
    (alone,) = errors_in_json(b'["release: not found", "configmaps \\"x\\" not found", 7, null]', "helm") or []
    assert (alone.kind, alone.subject) == ("failed", "helm")
    assert errors_in_json(b"not json", "x") is None
    assert errors_in_json(b"[" * 100_000, "x") is None
