"""From pods to the rows of table `logs` that are printed, and why there is none where there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import duckdb

from analyzer.bundle.errors import UsageError
from analyzer.logs.model import Container, Log, NoLogError, Pod, Series

MAX_EXPLAINED = 10
"""Missing logs whose reason is looked for."""

_ROTATED = re.compile(r"(?:^|/)(\d{1,9})\.log\.(\d{8}-\d{6})")
"""How the kubelet names a log that it rotated: number of the run, then the time."""

# A log of an input in which the pod was not seen is that of an earlier pod of the same name, and comes last.
_LOGS = """
WITH size AS (SELECT file_id, count(*) AS logs FROM logs GROUP BY file_id),
first AS (SELECT input, min(file_id) AS file_id FROM files GROUP BY input)
SELECT l.pod, l.container, l.log_id, l.source, f.input, f.path, f.file_id - first.file_id, f.bytes,
    size.logs = 1 AND l.first_line = 1, l.first_line, l.bytes, l.lines, l.first_at, coalesce(l.tail, '')
FROM logs l JOIN files f USING (file_id) JOIN size USING (file_id) JOIN first ON first.input = f.input
    JOIN inputs i ON i.input = f.input
WHERE l.namespace = $namespace AND list_contains($pods::VARCHAR[], l.pod)
ORDER BY l.bytes > 0 DESC, EXISTS (
        SELECT 1 FROM objects o JOIN sources s USING (object_id) JOIN files sf ON sf.file_id = s.file_id
        WHERE o.api_group = '' AND o.kind = 'Pod' AND o.namespace = l.namespace AND o.name = l.pod AND sf.input = f.input
    ) DESC, i.collected_at DESC NULLS LAST, f.input DESC, l.bytes DESC, l.log_id
"""


def namespaces_with(con: duckdb.DuckDBPyConnection, pod: str, namespace: str | None) -> list[str]:
    """The namespaces in which there is a log of a pod of this name, whether or not its Pod is in the bundle."""
    rows = con.execute(
        "SELECT DISTINCT namespace FROM logs WHERE pod = $pod AND pod <> '' AND ($ns IS NULL OR namespace = $ns) ORDER BY 1",
        {"pod": pod, "ns": namespace},
    ).fetchall()
    return [row[0] for row in rows]


def series_of(
    con: duckdb.DuckDBPyConnection, pods: Sequence[Pod], container: str | None, *, previous: bool
) -> tuple[list[Series], list[str]]:
    """The logs to print, by pod and then in the order of the pod's spec, and a line on each that is missing.

    Of very many that are missing the first `MAX_EXPLAINED` are told, and a line how many there are more. That containers have
    no previous run is told only where none has.

    Args:
        con: a database of ours.
        pods: the pods, of one namespace.
        container: only this container; None for all.
        previous: the run before the present one.

    Raises:
        UsageError: no pod has a container of that name.
        NoLogError: not one log is there.
    """
    found: dict[tuple[str, str], list[Log]] = {}
    query = {"namespace": pods[0].namespace, "pods": [pod.name for pod in pods]}
    for row in con.execute(_LOGS, query).fetchall():
        found.setdefault((row[0], row[1]), []).append(Log(*row[2:]))
    names = {pod.name: _names(pod, found) for pod in pods}
    if container is not None and not any(container in one for one in names.values()):
        known = list(dict.fromkeys(name for one in names.values() for name in one if name))
        raise UsageError(
            f"there is no container {container}; there is {_joined(known)}" if known else "no container is known here"
        )
    series: list[Series] = []
    missing: list[tuple[Pod, Container]] = []
    for pod in pods:
        by_name = {one.name: one for one in pod.containers}
        for name in names[pod.name]:
            if container not in (None, name):
                continue
            state = by_name.get(name, Container(name))
            logs = _in_order(found.get((pod.name, name), []), state, previous=previous)
            if logs:
                series.append(Series(pod.name, name, tuple(logs)))
            else:
                missing.append((pod, state))
    told = _told(con, missing, previous=previous)
    if not series:
        # What was not collected matters more than what there never was.
        why = min(told, key=lambda why: why.startswith("not found"), default="not collected: no log of it is here")
        other = any(_in_order(found.get((pod.name, one.name), []), one, previous=not previous) for pod, one in missing)
        raise NoLogError(f"{why}; {'the present run has one' if previous else 'the run before it has one: -p'}" if other else why)
    return series, [why for why in told if not (previous and why.startswith("not found"))]


def _told(con: duckdb.DuckDBPyConnection, missing: Sequence[tuple[Pod, Container]], *, previous: bool) -> list[str]:
    """Why logs are missing. Looking for a reason takes a walk over all files, so this is done for some of them only."""
    never = [(pod, one) for pod, one in missing if _why_never(one, 0, previous=previous)]
    others = [(pod, one) for pod, one in missing if not _why_never(one, 0, previous=previous)]
    some = [*others[:MAX_EXPLAINED], *never[:MAX_EXPLAINED]][:MAX_EXPLAINED]
    told = [_why_missing(con, pod, one, previous=previous) for pod, one in some]
    more = (len(others) if previous else len(missing)) - len(some)
    return told + ([f"{more:,} more logs are missing"] if more > 0 else [])


def _names(pod: Pod, found: Iterable[tuple[str, str]]) -> list[str]:
    if pod.only:
        return [pod.only]
    own = [one.name for one in pod.containers]
    return own + [name for owner, name in found if owner == pod.name and name not in own]


def _in_order(logs: Sequence[Log], container: Container, *, previous: bool) -> list[Log]:
    """The logs of one run, oldest first; of several copies of one the first (they come best first)."""
    source = "previous" if previous else "current"
    last = next((log for log in logs if log.source == source), None)
    rotated: dict[tuple[str, str], Log] = {}
    for log in logs:
        if log.source == "rotated":
            number, time = _rotation(log)
            if not previous or (container.restarts and number == str(container.restarts - 1)):
                rotated.setdefault((number, time), log)
    older = sorted(rotated, key=lambda key: (key[1], int(key[0] or 0)))
    # An empty log tells that there is one, and prints nothing.
    return [rotated[key] for key in older] + ([last] if last else [])


def _rotation(log: Log) -> tuple[str, str]:
    """Number of the run and time of a rotated log; for names of another kind the path is all there is to order by."""
    named = _ROTATED.search(log.path)
    return (named[1], named[2]) if named else ("", log.first_at.strftime("%Y%m%d-%H%M%S.%f") if log.first_at else log.path)


def _why_missing(con: duckdb.DuckDBPyConnection, pod: Pod, container: Container, *, previous: bool) -> str:
    kind = "previous log" if previous else "log"
    what = f"the {kind} of container {container.name} of pod {pod.name} in namespace {pod.namespace}"
    never = _why_never(container, 0, previous=previous)
    empty = [] if never else _empty_files(con, pod, container.name, "previous" if previous else "current")
    never = never or _why_never(container, len(empty), previous=previous)
    if never:
        return f"not found: {what}: {never}"
    return f"not collected: {what}: {_why_not_got(con, pod, container, empty, previous=previous)}"


def _why_never(container: Container, empty: int, *, previous: bool) -> str:
    """Why there was no such log in the cluster; empty where nobody can tell."""
    if not previous:
        return f"it has not started ({container.waiting})" if container.waiting else ""
    if container.known and not container.restarts and not container.ended:
        return "no previous container, it has not restarted"
    # `oc adm inspect` makes both files before it asks; one alone proves nothing.
    return "no previous container (both of its files are empty)" if empty > 1 else ""


def _why_not_got(con: duckdb.DuckDBPyConnection, pod: Pod, container: Container, empty: Sequence[str], *, previous: bool) -> str:
    said = _said(con, pod, container.name)
    if said:
        return f'the collection says "{said}"'
    if previous and _is_dump(con, pod):
        return "`kubectl cluster-info dump` takes no previous logs"
    if empty:
        return f"its file in the bundle is empty, which proves nothing ({empty[0]})"
    return "the bundle has no file of it"


def _empty_files(con: duckdb.DuckDBPyConnection, pod: Pod, container: str, source: str) -> list[str]:
    """Log files of 0 bytes, as `oc adm inspect` names them."""
    pattern = f"{_quoted(pod.namespace)}/pods/{_quoted(pod.name)}/{_quoted(container)}/(?:.*/)?{source}(?:\\.insecure)?\\.log$"
    rows = con.execute(
        "SELECT path FROM files WHERE bytes = 0 AND contains(path, $pod) AND regexp_matches(path, $pattern) ORDER BY path",
        {"pod": f"/{pod.name}/", "pattern": f"(?:^|/)namespaces/{pattern}"},
    ).fetchall()
    return [row[0] for row in rows]


def _is_dump(con: duckdb.DuckDBPyConnection, pod: Pod) -> bool:
    """Whether the pod was seen in cluster-info dumps alone."""
    rows = con.execute(
        "SELECT DISTINCT f.format FROM objects o JOIN sources s USING (object_id) JOIN files f ON f.file_id = s.file_id "
        "WHERE o.api_group = '' AND o.kind = 'Pod' AND o.namespace = ? AND o.name = ?",
        [pod.namespace, pod.name],
    ).fetchall()
    return rows == [("cluster-info",)]


def _quoted(text: str) -> str:
    """The text as an RE2 expression that fits only it."""
    return re.sub(r"([^A-Za-z0-9_-])", r"\\\1", text)


def _said(con: duckdb.DuckDBPyConnection, pod: Pod, container: str) -> str:
    """What the collection says of a log that it could not get."""
    row = con.execute(
        "SELECT message FROM collect_errors WHERE subject = $subject OR starts_with(subject, 'log of ' || $subject || '/') "
        "OR (contains(message, $pod) AND contains(message, 'log')) "
        "ORDER BY contains(message, $container) DESC, file_id, line LIMIT 1",
        {"subject": f"{pod.namespace}/{pod.name}", "pod": pod.name, "container": container},
    ).fetchone()
    return " ".join(str(row[0]).split())[:300] if row else ""


def _joined(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
