"""What the fields of a container mean: its last end, its image, its configuration, its start."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.facts.exit_codes import end_words
from analyzer.facts.images import pull_cause
from analyzer.facts.startup import Missing, missing, start_cause

from .build import database, one, rows
from .test_pods import ENDED, INIT, RUNS, ago, pod, status


def container(value: dict[str, Any], *others: dict[str, Any], logs: Any = ()) -> dict[str, Any]:
    return one(database([value, *others], logs=logs), "SELECT * FROM containers WHERE container = 'app'")


def log(source: str, text: str = "words") -> dict[str, Any]:
    return {"namespace": "ns", "pod": "p", "container": "app", "source": source, "text": text}


def test_the_last_end_is_the_current_one_where_it_has_ended() -> None:
    row = container(
        pod(
            containerStatuses=[
                status(terminated={"exitCode": 3, "startedAt": ago(seconds=50), "finishedAt": ago(seconds=20)}, last=ENDED)
            ]
        )
    )
    assert (row["end_code"], row["end_path"], row["ran_seconds"]) == (3, "status.containerStatuses[0].state.terminated", 30)


def test_the_last_end_of_a_running_one_stands_in_last_state() -> None:
    row = container(pod(containerStatuses=[status("other"), status(restarts=1, running=RUNS, last=ENDED)]))
    assert (row["end_code"], row["end_path"]) == (1, "status.containerStatuses[1].lastState.terminated")


@pytest.mark.parametrize(
    ("state", "sources", "wanted"),
    [
        ({"waiting": {"reason": "CrashLoopBackOff"}, "last": ENDED}, ["current", "previous"], "previous"),
        ({"waiting": {"reason": "CrashLoopBackOff"}, "last": ENDED}, ["current"], "current"),
        ({"terminated": ENDED}, ["current", "previous"], "current"),
        ({"terminated": ENDED}, ["previous"], "previous"),
    ],
)
def test_which_log_tells_of_the_last_run(state: dict[str, Any], sources: list[str], wanted: str) -> None:
    row = container(pod(containerStatuses=[status(restarts=1, **state)]), logs=[log(source) for source in sources])
    assert row["end_log_id"] == sources.index(wanted)


@pytest.mark.parametrize(
    ("code", "signal", "reason", "words"),
    [
        (0, None, "Completed", "exit code 0 (a normal end)"),
        (64, None, "Error", "exit code 64 (a code of the program's own)"),
        (127, None, "Error", "command was not found"),
        (137, None, "Error", "SIGKILL; it was killed from outside"),
        (137, None, "OOMKilled", "more memory than its limit"),
        (139, None, "Error", "SIGSEGV"),
        (255, None, "Unknown", "lost the container"),
        (0, 9, None, "signal 9 (SIGKILL"),
        (128, None, "StartError", "could not start it"),
        (-1, None, None, "exit code -1"),
    ],
)
def test_exit_codes_in_words(code: int, signal: int | None, reason: str | None, words: str) -> None:
    assert words in str(end_words(code, signal, reason))


def test_137_alone_is_not_called_a_lack_of_memory_of_the_container() -> None:
    assert "OOMKilled" not in str(end_words(137, None, "Error"))


def test_no_end_has_no_words() -> None:
    assert end_words(None) is None


@pytest.mark.parametrize(
    ("reason", "message", "cause"),
    [
        ("ErrImagePull", "failed to resolve image: registry.example/a:9: not found", "not-found"),
        ("ErrImagePull", "manifest for registry.example/a:9 not found: manifest unknown", "not-found"),
        ("ErrImagePull", "unexpected status from GET request to https://registry.example/token: 401 Unauthorized", "auth"),
        ("ErrImagePull", "pull access denied for a, repository does not exist or may require 'docker login'", "auth"),
        ("ErrImagePull", 'Get "https://registry.example/v2/": x509: certificate signed by unknown authority', "tls"),
        ("ErrImagePull", "http: server gave HTTP response to HTTPS client", "tls"),
        ("ErrImagePull", "net/http: TLS handshake timeout", "network"),
        ("ErrImagePull", "dial tcp: lookup registry.example on 10.0.0.10:53: no such host", "network"),
        ("ErrImagePull", "dial tcp 192.0.2.1:443: connect: connection refused", "network"),
        ("ErrImagePull", "toomanyrequests: You have reached your pull rate limit", "rate-limit"),
        ("ErrImagePull", "no matching manifest for linux/arm64/v8 in the manifest list entries", "platform"),
        ("ErrImagePull", "write /var/lib/containers/x: no space left on device", "disk"),
        ("InvalidImageName", 'couldn\'t parse image name "A": invalid reference format', "invalid-name"),
        ("ErrImageNeverPull", "Container image is not present with pull policy of Never", "never-pull"),
        ("SignatureValidationFailed", "image validation failed", "signature"),
        ("ErrImagePull", "Source image rejected: a signature was required, but no signature exists", "signature"),
        ("ErrImagePull", "something new", "other"),
        ("ErrImagePull", None, "other"),
    ],
)
def test_why_an_image_cannot_be_pulled(reason: str, message: str | None, cause: str) -> None:
    assert pull_cause(reason, message) == cause


def test_words_in_the_name_of_an_image_are_no_cause() -> None:
    image = "registry.example/denied-not-found/unauthorized:x509"
    assert pull_cause("ErrImagePull", f'failed to pull image "{image}": i/o timeout', image) == "network"


def test_a_digest_is_no_status_code() -> None:
    assert pull_cause("ErrImagePull", "sha256:40140342950040145 something new") == "other"


def test_an_event_says_why_where_the_status_only_says_that_it_waits() -> None:
    waiting = status(waiting={"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.example/app:1"'})
    row = container(
        pod("Pending", containerStatuses=[waiting]),
        event("Failed", 'Failed to pull image "registry.example/app:1": manifest unknown', field_path="spec.containers{app}"),
        event("Failed", "Error: ImagePullBackOff", field_path="spec.containers{app}"),
        event("Failed", 'Failed to pull image "registry.example/other:1": unauthorized', field_path="spec.containers{other}"),
    )
    assert (row["pull_cause"], row["pull_event_id"]) == ("not-found", 1)
    assert "manifest unknown" in row["pull_message"]


def test_where_nothing_says_why_nothing_is_said() -> None:
    waiting = status(waiting={"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.example/app:1"'})
    assert container(pod("Pending", containerStatuses=[waiting]))["pull_cause"] == "unknown"


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ('configmap "a" not found', Missing("ConfigMap", "a")),
        ('secret "b.c" not found', Missing("Secret", "b.c")),
        ("couldn't find key k.txt in ConfigMap ns/a", Missing("ConfigMap", "a", "k.txt")),
        ("couldn't find key k in Secret ns/b", Missing("Secret", "b", "k")),
        (
            'MountVolume.SetUp failed for volume "v" : references non-existent secret key: tls.key',
            Missing("Secret", "", "tls.key"),
        ),
        ("container has runAsNonRoot and image will run as root", None),
        ("failed to sync configmap cache: timed out waiting for the condition", None),
        (None, None),
    ],
)
def test_what_a_message_calls_missing(message: str | None, found: Missing | None) -> None:
    assert missing(message) == found


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("container has runAsNonRoot and image will run as root", "non-root"),
        ("failed to sync secret cache: timed out waiting for the condition", "cache"),
        ('exec: "serve": executable file not found in $PATH: unknown', "not-found"),
        ("error during container init: exec /app: exec format error", "platform"),
        ("nvidia-container-cli: initialization error: nvml error: driver not loaded", "nvidia"),
        ("CDI device injection failed: unresolvable CDI devices gpu.example/0", "cdi"),
        ("error running createContainer hook #1: exit status 1", "hook"),
        ("context deadline exceeded", "timeout"),
        ('the container name "k8s_a" is already in use by another container', "name-taken"),
        ("something new", "other"),
        (None, "other"),
    ],
)
def test_why_a_container_cannot_be_started(message: str | None, cause: str) -> None:
    assert start_cause(message) == cause


def test_a_log_of_another_container_is_not_taken() -> None:
    con = database(
        [pod(spec=INIT, containerStatuses=[status(terminated=ENDED)])], logs=[log("previous") | {"container": "setup"}]
    )
    found = {row["container"]: row["previous_log_id"] for row in rows(con, "SELECT container, previous_log_id FROM containers")}
    assert found == {"app": None, "setup": 0}


def event(
    reason: str, message: str, *, field_path: str = "", minutes: float = 1, kind: str = "Warning", count: int = 1
) -> dict[str, Any]:
    """An event about the Pod that `pod()` makes."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{reason}-{minutes}-{len(message)}", "namespace": "ns"},
        "involvedObject": {"kind": "Pod", "namespace": "ns", "name": "p", "apiVersion": "v1", "fieldPath": field_path},
        "type": kind,
        "reason": reason,
        "message": message,
        "count": count,
        "lastTimestamp": ago(minutes=minutes),
    }
