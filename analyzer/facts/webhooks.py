"""Admission webhooks: what calls them, and where the API server says that it could not call one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import mapping, mappings, one_line, stored, text

_KINDS = (
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
)

# API server, apiserver/pkg/admission/plugin/webhook/errors: `failed calling webhook "NAME": MESSAGE`.
_CALL = re.compile(r'failed calling webhook \\?"([^"\\]{1,253})\\?"(?::\s*(.{0,1500}))?', re.DOTALL)
SIGNATURE = "webhook/call-failed"
"""The same words in logs (rules/webhook/calls.signatures.yaml)."""

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

    `events`, `conditions`, `logs` and `log_hits` are filled before. An edge goes from the configuration (where it is in the
    bundle) to the object whose event or condition names the webhook.
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
    """The newest line of each log that names each webhook."""
    hits = con.execute(
        "SELECT log_id, line, \"at\", json_extract_string(fields, ['$.webhook', '$.said', '$.reason']) "
        "FROM log_hits JOIN logs USING (log_id) WHERE signature = ? AND source IN ('current', 'previous') ORDER BY log_id, line",
        [SIGNATURE],
    ).fetchall()
    newest: dict[tuple[int, str], dict[str, Any]] = {}
    for log_id, line, at, (webhook, said, reason) in hits:
        key = (log_id, webhook)
        first = newest[key]["first_at"] if key in newest else None
        newest[key] = _told(webhook, said, reason or "") | {
            "source": "log", "log_id": log_id, "line": line, "first_at": first or at, "last_at": at,
        }  # fmt: skip
    yield from newest.values()


def _parsed(message: str) -> dict[str, Any] | None:
    found = _CALL.search(message)
    if not found:
        return None
    return _told(found[1], found[0], found[2] or "")


def _told(webhook: str, said: str, reason: str) -> dict[str, Any]:
    """What a row says of words of the API server, `reason` being what follows the name of the webhook."""
    cause = next((cause for cause, pattern in _CAUSES if pattern.search(one_line(reason))), "other")
    return {"webhook": webhook, "cause": cause, "words": WORDS[cause], "message": one_line(said, 1_000)}
