"""Why a container that has its image does not start: parsed messages of the kubelet and of the container runtime."""

from __future__ import annotations

import re
from dataclasses import dataclass

START_REASONS = frozenset(
    {
        "CreateContainerError",
        "RunContainerError",
        "StartError",
        "ContainerCannotRun",
        "CreateContainerConfigError",
        "PreCreateHookError",
        "PreStartHookError",
        "PostStartHookError",
        "CrashLoopBackOff",
    }
)


@dataclass(frozen=True, slots=True)
class Missing:
    """A ConfigMap or Secret, or a key in one, that a message calls missing; an empty name where it names none."""

    kind: str
    name: str
    key: str | None = None


_KINDS = {"config": "ConfigMap", "configmap": "ConfigMap", "configmaps": "ConfigMap", "secret": "Secret", "secrets": "Secret"}
_OBJECT = re.compile(r'\b(configmaps?|secrets?) "([^"]{1,253})" not found', re.IGNORECASE)
_KEY = re.compile(r"couldn't find key (\S{1,253}) in (ConfigMap|Secret) (?:\S{1,253}/)?(\S{1,253})", re.IGNORECASE)
_VOLUME_KEY = re.compile(r"references non-existent (config|secret) key: (\S{1,253})", re.IGNORECASE)


def missing(message: str | None) -> Missing | None:
    """What a message of the kubelet calls missing; None where it names no ConfigMap, Secret or key."""
    words = (message or "")[:8_000]
    if found := _KEY.search(words):
        return Missing(_KINDS[found[2].lower()], found[3].rstrip(".,;"), found[1])
    if found := _OBJECT.search(words):
        return Missing(_KINDS[found[1].lower()], found[2])
    if found := _VOLUME_KEY.search(words):
        return Missing(_KINDS[found[1].lower()], "", found[2].rstrip(".,;"))
    return None


START_WORDS = {
    "non-root": "the pod must not run as root, and the image does",
    "not-found": "the command is not in the image",
    "permission": "the command may not be executed",
    "platform": "the program is built for another architecture than the node's",
    "nvidia": "the NVIDIA container runtime could not set up the GPU",
    "cdi": "a device that the container needs (CDI) is not known on the node",
    "hook": "a hook of the container runtime failed",
    "timeout": "the container runtime did not answer in time",
    "name-taken": "the runtime still holds an older container of that name",
    "workdir": "the working directory cannot be entered",
    "mount": "a mount inside the container failed",
    "no-command": "neither the image nor the pod names a command",
    "cache": "the kubelet has not got its ConfigMaps and Secrets from the API server",
    "other": "the reason is in the message",
}

_CAUSES = tuple(
    (cause, re.compile(pattern, re.IGNORECASE))
    for cause, pattern in (
        ("non-root", r"runAsNonRoot|image will run as root|non-numeric user"),
        ("cache", r"failed to sync (configmap|secret) cache"),
        ("cdi", r"unresolvable CDI|CDI device"),
        ("nvidia", r"nvidia-container-(cli|runtime)|nvidia-ctk|libnvidia|nvidia-smi|driver/library version mismatch"),
        ("not-found", r"executable file not found|(exec:|stat) .{0,300}no such file or directory"),
        ("platform", r"exec format error"),
        ("workdir", r"chdir to cwd|mkdir cwd"),
        ("no-command", r"no command specified"),
        ("mount", r"error mounting|subpath|not a directory|failed to mount"),
        ("permission", r"permission denied"),
        ("hook", r"\bhooks?\b"),
        ("name-taken", r"name .{0,300}(is reserved|already in use|already reserved)"),
        ("timeout", r"deadline exceeded|timed? ?out"),
    )
)


def start_cause(message: str | None) -> str:
    """Why the runtime cannot create or start a container, a key of `START_WORDS`."""
    words = (message or "")[:8_000]
    for cause, pattern in _CAUSES:
        if pattern.search(words):
            return cause
    return "other"
