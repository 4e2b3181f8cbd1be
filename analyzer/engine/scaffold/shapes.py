"""What a new rule asks and what its cases hold, for each shape of trouble."""

from __future__ import annotations

from analyzer import times
from analyzer.engine.scaffold.answers import Answers, Condition, Event, Field, KindName, LogLine, State
from analyzer.engine.scaffold.fields import of_field
from analyzer.engine.scaffold.logs import of_log
from analyzer.engine.scaffold.material import (
    Json,
    Material,
    about,
    firing_case,
    is_kind,
    just_now,
    literal,
    long_ago,
    name_of,
    sample_object,
    shown,
    silent_case,
    unknown_case,
)
from analyzer.engine.scaffold.states import sample_of


def material(answers: Answers) -> Material:
    """The query and the cases for what was answered.

    Raises:
        UsageError: there is no sample of a state.
    """
    shape = answers.shape
    if isinstance(shape, Condition):
        return _condition(shape, answers)
    if isinstance(shape, Event):
        return _event(shape, answers)
    if isinstance(shape, Field):
        return of_field(shape, answers)
    if isinstance(shape, LogLine):
        return of_log(shape, answers)
    return _state(shape, answers)


# --- a condition ------------------------------------------------------------------------------------------------------


def _condition(shape: Condition, answers: Answers) -> Material:
    reason = f" AND c.reason = {literal(shape.reason)}" if shape.reason else ""
    query = f"""
SELECT c.object_id, c.since, c.namespace, c.name, {about("c")}, c.reason, c.message AS words,
  [ev(c.object_id, 'status.conditions[' || c.idx || '].status', c.status),
   ev(c.object_id, 'status.conditions[' || c.idx || '].reason', c.reason),
   ev(c.object_id, 'status.conditions[' || c.idx || '].message', c.message)] AS evidence
FROM conditions AS c
WHERE {is_kind("c", shape.kind)}
  AND c.type = {literal(shape.type)} AND c.status = {literal(shape.status)}{reason}
ORDER BY c.since NULLS LAST, c.namespace, c.name
"""  # noqa: S608 - every answer stands in it as a quoted literal
    message = (
        f"The status of {shape.kind.kind} {{{{ about }}}} says {shape.type}={shape.status}"
        "{% if reason %} ({{ reason }}){% endif %}{% if words %}: {{ words|clip(400)|quote }}{% endif %}."
        "{% if since %} It has been so for {{ age }}.{% endif %}"
    )
    other = "False" if shape.status == "True" else "True"
    words = "Invented words of the controller."

    def case(status: str, reason: str | None, since: str) -> Json:
        item = {"type": shape.type, "status": status} | ({"reason": reason} if reason else {})
        return sample_object(shape.kind, {"status": {"conditions": [item | {"message": words, "lastTransitionTime": since}]}})

    old = long_ago(answers)
    firing = case(shape.status, shape.reason or "AnyReason", old)
    found = {
        "object": name_of(firing),
        "severity": answers.severity,
        "since": old,
        "contains": [f"{shape.type}={shape.status}", words],
    }
    silent = [silent_case(f"{shape.type} is {other}", [case(other, shape.reason or "AnyReason", old)])]
    if shape.reason:
        silent.append(silent_case("another reason", [case(shape.status, f"Not{shape.reason}", old)]))
    young = (
        [silent_case(f"it is younger than {answers.after}", [case(shape.status, shape.reason, just_now(answers))])]
        if answers.after
        else []
    )
    cases = [firing_case(f"{shape.type} is {shape.status}", [firing], [found]), *silent, *young, unknown_case(str(shape.kind))]
    return Material(shape.kind.kind, ({"kind": str(shape.kind), "status": True},), query, message, tuple(cases))


# --- an event ---------------------------------------------------------------------------------------------------------


def _event(shape: Event, answers: Answers) -> Material:
    query = f"""
SELECT max(e.about_id) AS object_id, e.about_group AS object_group, e.about_kind AS object_kind,
  e.about_namespace AS object_namespace, e.about_name AS object_name, e.about_namespace AS namespace, e.about_name AS name,
  CASE WHEN e.about_namespace = '' THEN e.about_name ELSE e.about_namespace || '/' || e.about_name END AS about,
  min(e.first_at) AS since, max(e.last_at) AS last_at, sum(e.times) AS seen, arg_max(e.message, e.last_at) AS words,
  [ev(arg_max(e.object_id, e.last_at), 'message', arg_max(e.message, e.last_at), k := 'Observed')] AS evidence
FROM events AS e
WHERE e.about_group = {literal(shape.kind.group)} AND e.about_kind = {literal(shape.kind.kind)}
  AND e.reason = {literal(shape.reason)}
GROUP BY e.about_group, e.about_kind, e.about_namespace, e.about_name
ORDER BY since NULLS LAST, e.about_namespace, e.about_name
"""  # noqa: S608 - every answer stands in it as a quoted literal
    message = (
        f"The event {shape.reason} on {shape.kind.kind} {{{{ about }}}} was seen {{{{ seen|plural('time') }}}}"
        ", last at {{ last_at|when }}{% if words %}: {{ words|clip(400)|quote }}{% endif %}."
    )
    target = sample_object(shape.kind, {})
    words = "Invented words of the controller."

    def event(reason: str, since: str, about: Json) -> Json:
        space = about["metadata"].get("namespace")
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "sample.1", "namespace": space or "default"},
            "type": "Warning",
            "reason": reason,
            "message": words,
            "involvedObject": {key: about[key] for key in ("apiVersion", "kind")} | about["metadata"],
            "count": 3,
            "firstTimestamp": since,
            "lastTimestamp": "2026-11-01T11:59:00Z",
        }

    old = long_ago(answers)
    found = {"object": name_of(target), "severity": answers.severity, "since": old, "contains": [shape.reason, words, "3 times"]}
    elsewhere = sample_object(KindName("invented.example.com", "Sample"), {})
    silent = [
        silent_case("an event with another reason", [target, event(f"Not{shape.reason}", old, target)]),
        silent_case("that event about an object of another kind", [elsewhere, event(shape.reason, old, elsewhere)]),
    ]
    if answers.after:
        silent.append(
            silent_case(f"it is younger than {answers.after}", [target, event(shape.reason, just_now(answers), target)])
        )
    firing = [
        firing_case(f"the event {shape.reason}", [target, event(shape.reason, old, target)], [found]),
        firing_case(
            f"the event {shape.reason} about an object that the bundle lacks", [event(shape.reason, old, target)], [found]
        ),
    ]
    return Material(shape.kind.kind, ("Event",), query, message, (*firing, *silent, unknown_case("Event")))


# --- a state ----------------------------------------------------------------------------------------------------------


def _state(shape: State, answers: Answers) -> Material:
    query = f"""
SELECT s.object_id, s.api_group AS object_group, s.kind AS object_kind, s.namespace AS object_namespace, s.name AS object_name,
  s.since, s.namespace, s.name, {about("s")}, s.reason, s.message AS words,
  [ev(s.object_id, 'status', concat_ws(': ', s.state, s.reason), k := 'Computed')] AS evidence
FROM states AS s
WHERE {is_kind("s", shape.kind)} AND s.state = {literal(shape.state)}
ORDER BY s.since NULLS LAST, s.namespace, s.name
"""  # noqa: S608 - every answer stands in it as a quoted literal
    message = (
        f"{shape.kind.kind} {{{{ about }}}} is in the state {shown(shape.state)}"
        "{% if since %} since {{ since|when }}{% endif %}{% if reason %} ({{ reason|clip(200) }}){% endif %}"
        "{% if words %}: {{ words|clip(400)|quote }}{% endif %}."
    )
    least = times.duration(answers.after).total_seconds() if answers.after else None
    there, elsewhere = sample_of(shape, least), sample_of(shape, None, other=True)
    found = [
        {"object": name, "severity": answers.severity} | ({"since": since} if since else {}) | {"contains": [shape.state]}
        for name, since in there.found
    ]
    cases = [
        {"name": f"it is {shape.state}", "at": there.at, "objects": list(there.objects), "expect": {"findings": found}},
        {"name": "another state", "at": elsewhere.at, "objects": list(elsewhere.objects), "expect": {"none": True}},
        unknown_case(str(shape.kind)),
    ]
    return Material(shape.kind.kind, ({"kind": str(shape.kind), "status": True},), query, message, tuple(cases))
