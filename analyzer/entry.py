"""Where `triage` starts: nothing is imported before Ctrl-C has a quiet way out."""

from __future__ import annotations

import signal


def main() -> None:
    """The entry point of `triage` and `kubectl-triage`."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from analyzer.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()
