"""`report.json`: the contract that other programs read. docs/report.schema.json describes it strictly."""

from __future__ import annotations

from typing import Any, Final

import orjson

from analyzer.engine.model import Coverage, NotEvaluated, Report, State
from analyzer.engine.plain import finding_dict, incident_dict
from analyzer.times import rfc3339

SCHEMA: Final = "triage.report/v1"
TOOL: Final = "bundle-triage"


def _state(state: State) -> dict[str, Any]:
    return {
        "group": state.object.group,
        "kind": state.object.kind,
        "namespace": state.object.namespace,
        "name": state.object.name,
        "state": state.state,
        "reason": state.reason,
        "message": state.message,
        "since": rfc3339(state.since),
    }


def _not_evaluated(item: NotEvaluated) -> dict[str, Any]:
    return {"code": item.code, "reason": item.reason, "needs": list(item.needs), "ask": list(item.ask)}


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "kinds": [
            {
                "group": kind.group,
                "kind": kind.kind,
                "objects": kind.objects,
                "scope": kind.scope if isinstance(kind.scope, str) else list(kind.scope),
                "status": kind.status,
            }
            for kind in coverage.kinds
        ],
        "logs": {
            "files": dict(coverage.logs.files),
            "podsWithLogs": coverage.logs.pods_with_logs,
            "pods": coverage.logs.pods,
            "cappedHits": [
                {"input": one.input, "file": one.file, "signature": one.signature, "hits": one.hits, "kept": one.kept}
                for one in coverage.logs.capped
            ],
        },
        "events": [
            {"namespace": window.namespace, "from": rfc3339(window.first), "to": rfc3339(window.last), "count": window.count}
            for window in coverage.events
        ],
        "collectErrors": [
            {
                "input": error.input,
                "file": error.file,
                "line": error.line,
                "kind": error.kind,
                "subject": error.subject,
                "message": error.message,
            }
            for error in coverage.collect_errors
        ],
    }


def single_rules(report: Report) -> list[NotEvaluated]:
    """The entries of single rules: all but `DOMAIN/*`, which stands for a domain without a trace in the bundle."""
    return [item for item in report.not_evaluated if not item.code.endswith("/*")]


def _summary(report: Report) -> dict[str, Any]:
    return {
        "health": report.health,
        "verdict": report.verdict,
        "error": report.count("error"),
        "warning": report.count("warning"),
        "info": report.count("info"),
        "incidents": len(report.incidents),
        "notEvaluated": len(single_rules(report)),
    }


def _bundle(report: Report) -> dict[str, Any]:
    cluster = report.cluster
    return {
        "inputs": [
            {
                "path": item.path,
                "format": item.format,
                "sha256": item.sha256,
                "bytes": item.bytes,
                "collectedAt": rfc3339(item.collected_at),
            }
            for item in report.inputs
        ],
        "collectedAt": rfc3339(report.collected_at),
        "collectedAtSource": report.collected_at_source,
        "cluster": {
            "uid": cluster.uid,
            "version": cluster.version,
            "platform": cluster.platform,
            "nodes": cluster.nodes,
            "gpuNodes": cluster.gpu_nodes,
            "gpus": cluster.gpus,
        },
    }


def report_dict(report: Report) -> dict[str, Any]:
    """The whole report as plain data, keys in the order of the contract."""
    return {
        "schema": SCHEMA,
        "tool": {
            "name": TOOL,
            "version": report.tool_version,
            "rules": {"count": report.rules.count, "digest": report.rules.digest},
        },
        "bundle": _bundle(report),
        "summary": _summary(report),
        "incidents": [incident_dict(incident) for incident in report.incidents],
        "findings": [finding_dict(finding) for finding in report.findings],
        "states": [_state(state) for state in report.states],
        "notEvaluated": [_not_evaluated(item) for item in report.not_evaluated],
        "coverage": _coverage(report.coverage),
        "files": [
            {"input": file.input, "path": file.path, "bytes": file.bytes, "status": file.status, "error": file.error}
            for file in report.files
        ],
    }


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def report_json(report: Report) -> bytes:
    """report.json: UTF-8, indented by two, one line break at the end.

    Half of a surrogate pair (a file name that is no UTF-8 may hold one) cannot be written as UTF-8; it becomes `?`.
    """
    data = report_dict(report)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    try:
        return orjson.dumps(data, option=options)
    except TypeError:
        return orjson.dumps(_without_surrogates(data), option=options)
