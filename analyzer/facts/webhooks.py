"""Admission webhooks: what calls them, and where the API server says that it could not call one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, moment, one_line, stored, text

_KINDS = (
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
)

# API server, apiserver/pkg/admission/plugin/webhook/errors: `failed calling webhook "NAME": MESSAGE`. In logs the
# quotes come escaped.
_CALL = re.compile(r'failed calling webhook \\?"([^"\\]{1,253})\\?"(?::\s*(.{0,1500}))?', re.DOTALL)
_LOG_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)")

WORDS = {
    "no-endpoints": "its Service has no endpoint",
    "service-missing": "its Service does not exist",
    "certificate": "its TLS certificate is not accepted",
    "refused": "nothing listens at its address",
    "timeout": "it does not answer in time",
    "error": "it answers with an error",
    "other": "the reason is in the message",
}
_CAUSES = tuple(
    (cause, re.compile(pattern, re.IGNORECASE))
    for cause, pattern in (
        ("no-endpoints", r"no endpoints available"),
        ("service-missing", r'service "[^"]*" not found|no such host'),
        ("certificate", r"x509|certificate|tls:"),
        ("refused", r"connection refused|no route to host|connection reset|network is unreachable"),
        ("timeout", r"deadline exceeded|timeout|timed out"),
        ("error", r"internal error|status code|server could not find|\b[45]\d\d\b|unknown"),
    )
)


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `webhooks`, `webhook_failures` and the edges of kind `webhook` in `relations`.

    `events`, `conditions` and `logs` are filled before. An edge goes from the configuration (where it is in the bundle)
    to the object whose event or condition names the webhook.
    """
    insert_rows(con, "webhooks", _webhooks(con))
    con.execute(
        "UPDATE webhooks SET service_id = o.object_id FROM objects AS o WHERE o.api_group = '' AND o.kind = 'Service' "
        "AND o.namespace = webhooks.service_namespace AND o.name = webhooks.service"
    )
    configurations = dict(con.execute("SELECT webhook, min(object_id) FROM webhooks GROUP BY webhook").fetchall())
    failures = (row | {"configuration_id": configurations.get(row["webhook"])} for row in _failures(con))
    insert_rows(con, "webhook_failures", failures)
    con.execute(
        "INSERT INTO relations (src, dst, kind) SELECT DISTINCT configuration_id, object_id, 'webhook' FROM webhook_failures "
        "WHERE configuration_id IS NOT NULL AND object_id IS NOT NULL"
    )


def _webhooks(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    for item in stored(con, _KINDS):
        for idx, webhook in enumerate(mappings(item.value.get("webhooks"))):
            name = text(webhook.get("name"))
            if name is None:
                continue
            service = mapping(mapping(webhook.get("clientConfig")).get("service"))
            yield {
                "object_id": item.object_id,
                "kind": item.kind,
                "configuration": item.name,
                "idx": idx,
                "webhook": name,
                "failure_policy": text(webhook.get("failurePolicy")) or "Fail",
                "service_namespace": text(service.get("namespace")),
                "service": text(service.get("name")),
            }


def _failures(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    mark = "contains(message, 'failed calling webhook')"
    events = con.execute(
        f"SELECT about_id, object_id, message, first_at, last_at FROM events WHERE {mark} ORDER BY object_id"  # noqa: S608
    ).fetchall()
    for about_id, event_id, message, first_at, last_at in events:
        if found := _parsed(message):
            yield found | {
                "source": "event", "object_id": about_id, "event_id": event_id, "path": "message",
                "first_at": first_at, "last_at": last_at,
            }  # fmt: skip
    conditions = con.execute(
        "SELECT c.object_id, c.idx, c.message, c.since, i.as_of FROM conditions AS c JOIN objects AS o USING (object_id) "  # noqa: S608
        f"LEFT JOIN inputs AS i ON i.input = o.input WHERE {mark.replace('message', 'c.message')} ORDER BY ALL"
    ).fetchall()
    for object_id, idx, message, since, as_of in conditions:
        if found := _parsed(message):
            yield found | {
                "source": "condition", "object_id": object_id, "path": f"status.conditions[{idx}].message",
                "first_at": since, "last_at": as_of or since,
            }  # fmt: skip
    yield from _in_logs(con)


def _in_logs(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """The last line of each log's tail that names each webhook."""
    logs = con.execute(
        "SELECT log_id, tail, tail_line FROM logs WHERE contains(tail, 'failed calling webhook') "
        "AND source IN ('current', 'previous') ORDER BY log_id"
    ).fetchall()
    for log_id, tail, tail_line in logs:
        newest: dict[str, dict[str, Any]] = {}
        for offset, line in enumerate(tail.split("\n")):
            found = _parsed(line) if "failed calling webhook" in line else None
            if found:
                at = _line_time(line)
                first = newest[found["webhook"]]["first_at"] if found["webhook"] in newest else at
                newest[found["webhook"]] = found | {
                    "source": "log", "log_id": log_id, "line": (tail_line or 1) + offset, "first_at": first, "last_at": at,
                }  # fmt: skip
        yield from newest.values()


def _line_time(line: str) -> datetime | None:
    found = _LOG_TIME.search(line[:200])
    return moment(found[0]) if found else None


def _parsed(message: str) -> dict[str, Any] | None:
    found = _CALL.search(message)
    if not found:
        return None
    words = one_line(found[2] or "")
    cause = next((cause for cause, pattern in _CAUSES if pattern.search(words)), "other")
    return {"webhook": found[1], "cause": cause, "words": WORDS[cause], "message": one_line(found[0], 1_000)}
