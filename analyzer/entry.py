"""Where `triage` starts: nothing is imported before Ctrl-C has a quiet way out."""

from __future__ import annotations

import os
import signal


def main() -> None:
    """The entry point of `triage` and `kubectl-triage`."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not os.environ.get("COLUMNS", "").strip("0"):
        # A terminal of unknown width has none or 0; Rich would print nothing at all in 0 columns.
        os.environ.pop("COLUMNS", None)
    from analyzer.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()
