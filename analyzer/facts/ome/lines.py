"""Lines of the logs of OME's manager and model agent: of which InferenceService and which model each speaks.

The manager writes `"InferenceService": {"name":"chat","namespace":"prod"}` and the like (controller-runtime's zap and klog
styles), or `prod/chat`; the agent names the model in its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

from analyzer.facts.rows import insert_rows

_NAME = re.compile(r'"?(?:name|isvc|inferenceservice|service)"?\s*[:= ]\s*"?([a-z0-9][a-z0-9.-]{0,252})', re.IGNORECASE)
_NAMESPACE = re.compile(r'"?namespace"?\s*[:= ]\s*"?([a-z0-9][a-z0-9.-]{0,252})', re.IGNORECASE)
_TOKEN = re.compile(r"[a-z0-9][a-z0-9./_-]{0,400}")
_MAX_TOKENS = 300
_MODEL_MARK = "ome/model-"


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `ome_lines`. Needs `log_hits`, `ome_services` and `ome_models`."""
    insert_rows(con, "ome_lines", _rows(con))


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    hits = con.execute(
        "SELECT signature, log_id, line, \"at\", text FROM log_hits WHERE starts_with(signature, 'ome/') ORDER BY log_id, line"
    ).fetchall()
    if not hits:
        return
    services: dict[str, int] = dict(con.execute("SELECT namespace || '/' || name, object_id FROM ome_services").fetchall())
    models: dict[str, int] = {}
    for name, object_id in con.execute(
        "SELECT CASE WHEN namespace = '' THEN name ELSE namespace || '/' || name END, object_id "
        "FROM ome_models ORDER BY object_id DESC"
    ).fetchall():
        models[name] = models[name.rpartition("/")[2]] = object_id
    for signature, log_id, line, at, text in hits:
        service = _service(text, services)
        model = _model(text, models) if signature.startswith(_MODEL_MARK) else None
        yield {
            "signature": signature,
            "log_id": log_id,
            "line": line,
            "at": at,
            "text": text,
            "service_id": service,
            "model_id": model,
        }


def _service(text: str, services: Mapping[str, int]) -> int | None:
    for token in _tokens(text):
        if token in services:
            return services[token]
    for namespace in _NAMESPACE.findall(text)[:20]:
        for name in _NAME.findall(text)[:20]:
            if (found := services.get(f"{namespace}/{name}")) is not None:
                return found
    return None


def _model(text: str, models: Mapping[str, int]) -> int | None:
    # The longest name that stands there as a word of its own.
    return next((models[token] for token in sorted(_tokens(text), key=len, reverse=True) if token in models), None)


def _tokens(text: str) -> list[str]:
    return [token.rstrip(".:/-") for token in _TOKEN.findall(text)[:_MAX_TOKENS]]
