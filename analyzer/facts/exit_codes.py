"""What the end of a container means, in words.

Codes above 128 are 128 + the signal (POSIX shells, container runtimes); 125 to 127 are the runtime's and the shell's
own; 137 is only then a lack of memory where the kubelet says OOMKilled (Kubernetes docs, "Determine the reason for pod
failure").
"""

from __future__ import annotations

_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL, an instruction that this CPU does not have",
    5: "SIGTRAP",
    6: "SIGABRT, the program gave up by itself (a failed assertion, an uncaught C++ exception)",
    7: "SIGBUS, often a shared memory (/dev/shm) that is full or a mapped file that was cut",
    8: "SIGFPE, a division by zero or the like",
    9: "SIGKILL",
    10: "SIGUSR1",
    11: "SIGSEGV, the program touched memory that is not its own",
    12: "SIGUSR2",
    13: "SIGPIPE, the reader of its output went away",
    14: "SIGALRM",
    15: "SIGTERM, it was asked to end: by a failed liveness probe, an eviction or a deletion",
    24: "SIGXCPU",
    25: "SIGXFSZ",
    31: "SIGSYS, a system call that its seccomp profile forbids",
}
_CODES = {
    0: "a normal end",
    1: "the program's own error",
    2: "wrong usage of a command, or a Go program that panicked",
    125: "the container runtime itself failed",
    126: "the command was found but cannot be executed",
    127: "the command was not found, or a library that it needs was not",
    128: "the runtime could not start the command",
    255: "no code of its own: the program failed, or the node lost the container",
}
_REASONS = {
    "OOMKilled": "OOMKilled: it needed more memory than its limit allows",
    "ContainerStatusUnknown": "the kubelet lost the container, most often because the node restarted",
    "Unknown": "the kubelet lost the container, most often because the node restarted",
    "StartError": "StartError: the container runtime could not start it",
    "ContainerCannotRun": "ContainerCannotRun: the container runtime could not start it",
}
_KILLED = "it was killed from outside: after a liveness probe, by the node's own lack of memory, or with the node"


def end_words(code: int | None, signal: int | None = None, reason: str | None = None) -> str | None:
    """The end of a container in words, beginning with `exit code N`; None where there is neither code nor signal.

    Args:
        code: terminated.exitCode.
        signal: terminated.signal, which old runtimes set instead.
        reason: terminated.reason.
    """
    if code is None and not signal:
        return None
    if code is None or (code == 0 and signal):
        return f"signal {signal} ({_signal(signal or 0)})"
    return f"exit code {code} ({_meaning(code, reason)})"


def _meaning(code: int, reason: str | None) -> str:
    if reason in _REASONS:
        return _REASONS[reason]
    if code in _CODES:
        return _CODES[code]
    if 128 < code < 160:
        return f"{_signal(code - 128)}; {_KILLED}" if code == 137 else _signal(code - 128)
    return "a code of the program's own"


def _signal(number: int) -> str:
    return _SIGNALS.get(number, f"signal {number}")
