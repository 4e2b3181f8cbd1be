"""Questions that a reader may go on with, as SQL over the tables of bundle.duckdb. No text of a bundle is in them."""

from __future__ import annotations

from typing import Final

QUESTIONS: Final[tuple[tuple[str, str], ...]] = (
    (
        "Every incident, most important first",
        "SELECT rank, title, root FROM incidents ORDER BY rank",
    ),
    (
        "Which states do the objects of each kind have",
        "SELECT kind, state, count(*) AS objects FROM states GROUP BY ALL ORDER BY kind, objects DESC",
    ),
    (
        "The newest warning events of a namespace (put its name in)",
        (
            "SELECT last_at, about_kind, about_name, reason, message FROM events\n"
            "WHERE type = 'Warning' AND namespace = 'default' ORDER BY last_at DESC LIMIT 50"
        ),
    ),
    (
        "Containers by restarts, with their last exit",
        (
            "SELECT namespace, pod, container, restarts, last_reason, last_exit_code, last_finished_at FROM containers\n"
            "WHERE restarts > 0 ORDER BY restarts DESC LIMIT 50"
        ),
    ),
    (
        "What was not collected whole",
        "SELECT api_group, kind, objects, status, reason FROM coverage\nWHERE status NOT IN ('complete', 'absent') ORDER BY kind",
    ),
)
