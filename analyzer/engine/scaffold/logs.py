"""A line of a log: a signature that finds it, and a rule over its hits."""

from __future__ import annotations

import re

from analyzer.engine.scaffold.answers import Answers, LogLine
from analyzer.engine.scaffold.material import AT, SPACE, Json, Material, just_now, literal, long_ago, shown

POD = "sample-pod"
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def of_log(shape: LogLine, answers: Answers) -> Material:
    """The signature, the query and the cases of a log line."""
    domain, _, name = answers.code.partition("/")
    signature = f"{domain}/{_CAPITAL.sub('-', name).lower()}"
    query = f"""
SELECT max(p.object_id) AS object_id, '' AS object_group, 'Pod' AS object_kind,
  l.namespace AS object_namespace, l.pod AS object_name,
  l.namespace, l.pod AS name, l.namespace || '/' || l.pod AS about, string_agg(DISTINCT l.container, ', ') AS containers,
  min(h.at) AS since, max(h.at) AS last_at, max(c.hits) AS hits,
  list(h.text ORDER BY h.at DESC NULLS LAST, h.line DESC)[1] AS words,
  list(ev_log(h.log_id, h.line, h.text) ORDER BY h.at DESC NULLS LAST, h.line DESC)[:3] AS evidence
FROM log_hits AS h
JOIN logs AS l USING (log_id)
JOIN (
  SELECT l.namespace, l.pod, sum(c.hits) AS hits FROM log_hit_counts AS c JOIN logs AS l USING (log_id)
  WHERE c.signature = {literal(signature)} GROUP BY l.namespace, l.pod
) AS c ON c.namespace = l.namespace AND c.pod = l.pod
LEFT JOIN objects AS p ON p.api_group = '' AND p.kind = 'Pod' AND p.namespace = l.namespace AND p.name = l.pod
WHERE h.signature = {literal(signature)} AND l.pod <> ''
GROUP BY l.namespace, l.pod
ORDER BY since NULLS LAST, l.namespace, l.pod
"""  # noqa: S608 - every answer stands in it as a quoted literal
    message = (
        f"The log of Pod {{{{ about }}}} (container {{{{ containers }}}}) says {shown(shape.text)} {{{{ hits|plural('time') }}}}"
        "{% if last_at %}, last at {{ last_at|when }}{% endif %}: {{ words|clip(400)|quote }}."
    )

    def case(name: str, text: str, since: str, expect: Json) -> Json:
        lines = [f"{since} starting", f"{since} {text}", "2026-11-01T11:59:59Z done"]
        log = {"namespace": SPACE, "pod": POD, "container": "main", "text": "\n".join(lines) + "\n"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD, "namespace": SPACE}}
        return {"name": name, "at": AT, "objects": [pod], "logs": [log], "expect": expect}

    old = long_ago(answers)
    found = {"object": f"Pod {SPACE}/{POD}", "severity": answers.severity, "since": old, "contains": [shape.text]}
    cases = [
        case("fires: the log has the line", f"level=error {shape.text}", old, {"findings": [found]}),
        case("silent: a line near it", f"level=error {shape.text[:-1]}", old, {"none": True}),
        {"name": "not evaluated: no logs were collected", "at": AT, "expect": {"notEvaluated": True}},
    ]
    if answers.after:
        cases.insert(2, case(f"silent: it is younger than {answers.after}", shape.text, just_now(answers), {"none": True}))
    return Material("Pod", ("logs",), query, message, tuple(cases), ({"id": signature, "words": [shape.text]},))
