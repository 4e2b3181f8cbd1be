"""What logs, containers and events say about the layers between a GPU and a program: driver, runtime, fabric manager, NCCL;
and what the parts of the GPU Operator, the plugins of DRA drivers and the programs themselves say.

The words are found by the signatures of `rules/gpu`; what they mean is data: `stack_words.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import duckdb
import msgspec
import re2

from analyzer.facts.data import beside
from analyzer.facts.gpu import nics, xid_lines
from analyzer.facts.gpu.log_hosts import Hosts, Where, hosts_of
from analyzer.facts.rows import insert_rows

RECENT = timedelta(hours=1)
"""What was said longer before the end of the collection lasts only where what said it does not run."""
ZONES = timedelta(hours=14)
"""So far a host's clock may be from UTC, where what it writes has no time zone."""
NEAR_THE_END, NEAR_THE_END_SHARE = 1_000, 0.9
"""Words without a time in a host's log count where they stand in so many of its last lines, or in the last tenth of it."""
_VERSION = re.compile(r"(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w.])", re.ASCII)

_HITS = """
SELECT h.log_id, h.signature, f.input, arg_max(h.line, h.line), arg_max(h.text, h.line),
    arg_max(concat(h.before, chr(10), h.after), h.line), max(h.at), min(h.at), any_value(n.hits),
    any_value(l.first_line + l.lines - 1), any_value(l.source), any_value(p.object_id), any_value(p.state),
    any_value(p.made_good), any_value(c.ready), any_value(c.state), any_value(c.exit_code), any_value(c.failing),
    any_value(i.as_of)
FROM log_hits h JOIN log_hit_counts n USING (log_id, signature) JOIN logs l USING (log_id) JOIN files f ON f.file_id = l.file_id
JOIN inputs i ON i.input = f.input
LEFT JOIN pods p ON p.input = f.input AND l.pod <> '' AND p.namespace = l.namespace AND p.name = l.pod
LEFT JOIN containers c ON c.object_id = p.object_id AND c.container = l.container
WHERE list_contains($signatures, h.signature)
GROUP BY ALL ORDER BY h.log_id, h.signature
"""
_VERSIONS = """
SELECT k.log_id, k.line, k.text, json_extract_string(k.fields, '$.version'), json_extract_string(u.fields, '$.version'), f.input
FROM log_hits k JOIN log_hits u ON u.log_id = k.log_id AND u.signature = 'gpu/bug-report-client'
JOIN logs l ON l.log_id = k.log_id JOIN files f ON f.file_id = l.file_id
WHERE k.signature = 'gpu/bug-report-driver'
    AND json_extract_string(k.fields, '$.version') <> json_extract_string(u.fields, '$.version')
QUALIFY row_number() OVER (PARTITION BY k.log_id ORDER BY k.line, u.line) = 1
"""
# One filter over all: compiling such a pattern takes longer than most messages take to be looked through.
_MESSAGES = r"""
WITH said AS MATERIALIZED (
SELECT p.input, p.object_id, p.node, c.status_path || '.state.' || c.state || '.message' AS path, c.message,
    coalesce(c.finished_at, c.started_at, p.since), p.since, 1, p.object_id, NOT coalesce(c.ready, false) AND NOT p.made_good
FROM containers c JOIN pods p USING (object_id) WHERE c.message <> ''
UNION ALL
SELECT p.input, p.object_id, p.node, c.status_path || '.lastState.terminated.message', c.last_message, c.last_finished_at,
    c.last_finished_at, 1,
    p.object_id, NOT coalesce(c.ready, false)
FROM containers c JOIN pods p USING (object_id) WHERE c.last_message <> ''
UNION ALL
SELECT e.input, e.object_id, p.node, 'message', e.message, e.last_at, e.first_at, e.times, p.object_id,
    NOT coalesce(p.ready, false) AND p.state <> 'Completed'
FROM events e JOIN pods p ON p.object_id = e.about_id WHERE e.type = 'Warning' AND e.message <> ''
)
FROM said WHERE regexp_matches(message, $words)
"""
_ANY_HIT = "SELECT 1 FROM log_hits LIMIT 1"
_ANY_MESSAGE = """
SELECT 1 FROM containers WHERE message <> '' OR last_message <> ''
UNION ALL SELECT 1 FROM events WHERE type = 'Warning' AND message <> '' AND about_id IS NOT NULL LIMIT 1
"""
_EDGES = """
INSERT INTO relations SELECT DISTINCT node_id, pod_id, 'gpu-words' FROM gpu_words
WHERE fresh AND node_id IS NOT NULL AND pod_id IS NOT NULL AND topic IN ('driver', 'runtime', 'fabric')
"""


class Meaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one signature means. `says` finds its words in messages of objects; `idle`: said once, then the program waits.

    `near` has to stand in a line before or behind it, as in what a tool prints when a report is made. `versions`: it means
    something only where the lines around it do not name one and the same version.
    """

    signature: str
    topic: str
    cause: str
    remedy: str
    says: str | None = None
    idle: bool = False
    near: str = ""
    versions: bool = False


@dataclass(frozen=True, slots=True)
class _Said:
    """When something was said, and what is known of the container that said it."""

    at: datetime | None
    stamp: str | None
    as_of: datetime | None
    near_end: bool
    source: str
    pod_state: str | None
    made_good: bool | None
    ready: bool | None
    state: str | None
    exit_code: int | None
    failing: bool | None


@lru_cache(maxsize=1)
def meanings() -> dict[str, tuple[int, Meaning]]:
    """Signature → how near to the root cause it is (1 is nearest), and what it means."""
    found = beside(__file__, "stack_words.yaml", list[Meaning])
    return {meaning.signature: (rank, meaning) for rank, meaning in enumerate(found, 1)}


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `gpu_words` and adds the edges `gpu-words` (Node → Pod that says so) to `relations`.

    Needs `log_hits`, `logs`, `pods`, `containers`, `events`, `nodes` and `gpu_nodes`.
    """
    in_logs, in_objects = (con.execute(query).fetchone() is not None for query in (_ANY_HIT, _ANY_MESSAGE))
    if not in_logs and not in_objects:
        return
    hosts = hosts_of(con)
    said = (*_logs(con, hosts), *_versions(con, hosts)) if in_logs else ()
    told = (*_objects(con, hosts),) if in_objects else ()
    cards = (*_cards(con, hosts),) if in_logs else ()
    if insert_rows(con, "gpu_words", (*said, *told, *cards)):
        con.execute(_EDGES)


def _logs(con: duckdb.DuckDBPyConnection, hosts: Hosts) -> Iterator[dict[str, Any]]:
    known = meanings()
    unserved = {name for (name,) in con.execute("SELECT object_id FROM gpu_nodes WHERE coalesce(allocatable, 0) > 0").fetchall()}
    for row in con.execute(_HITS, {"signatures": [one for one in known if one != nics.FAULT]}).fetchall():
        log_id, signature, number, line, text, around, at, first_at, hits, end, source, pod_id, *rest = row
        rank, meaning = known[signature]
        if meaning.near not in around or (meaning.versions and one_version(around)):
            continue
        front = xid_lines.front(text, around)
        where = hosts.where(log_id, front.host)
        state, made_good, ready, container, exit_code, failing, as_of = rest
        said = _Said(
            at or front.at,
            front.stamp,
            as_of,
            near_end(line, end),
            source,
            state,
            made_good,
            ready,
            container,
            exit_code,
            failing,
        )
        fresh = (
            where.node_id not in unserved
            if meaning.idle and pod_id and source != "previous"
            else (bool(meaning.near) and not pod_id) or _lasts(said, pod_id is not None)
        )
        yield _base(meaning, rank, number, where, text, said.at) | {
            "log_id": log_id,
            "line": line,
            "first_at": first_at or front.at,
            "times": hits,
            "pod_id": pod_id,
            "fresh": fresh,
        }


def _lasts(said: _Said, of_pod: bool) -> bool:
    """Whether what was said is still so."""
    if not of_pod:
        return told_lately(said.at, said.stamp, said.as_of, last=said.near_end)
    recent = said.at is None or said.as_of is None or said.at >= said.as_of - RECENT
    if said.state == "terminated" and said.exit_code == 0:
        return False  # it came to a good end after all
    if said.made_good or said.pod_state == "Completed":
        return False
    broken = bool(said.failing) or not said.ready
    return broken or (recent and said.at is not None and said.source != "previous")


def one_version(around: str) -> bool:
    """Whether the lines around words name one and the same version (each as its last), as those behind make's of compilers."""
    found = [told[-1] for line in around.splitlines() if (told := _VERSION.findall(line))]
    return len(found) > 1 and len(set(found)) == 1


def near_end(line: int, end: int) -> bool:
    """Whether a line is one of the last of a log that ends with line `end`."""
    return end - line < NEAR_THE_END or line >= NEAR_THE_END_SHARE * end


def told_lately(at: datetime | None, stamp: str | None, as_of: datetime | None, *, last: bool) -> bool:
    """Whether a line of a host's log was written lately: by its time, else by whether it is one of the `last` of the log.

    A stamp without a year only tells that it was long ago. What a service that gave up wrote last, with a date, lasts.
    """
    if as_of is None:
        return True
    if at is not None:
        return at >= as_of - RECENT
    about = xid_lines.about(stamp, as_of)
    return last and (about is None or about >= as_of - RECENT - ZONES)


def _versions(con: duckdb.DuckDBPyConnection, hosts: Hosts) -> Iterator[dict[str, Any]]:
    rank, meaning = meanings()["gpu/driver-versions"]
    for log_id, line, text, kernel, user, number in con.execute(_VERSIONS).fetchall():
        row = _base(meaning, rank, number, hosts.where(log_id, None), text, None)
        cause = f"{meaning.cause} ({kernel} and {user})"
        yield row | {"log_id": log_id, "line": line, "times": 1, "fresh": True, "cause": cause}


def _cards(con: duckdb.DuckDBPyConnection, hosts: Hosts) -> Iterator[dict[str, Any]]:
    for card in nics.found(con, hosts):
        rank, meaning = meanings()[card.signature]
        row = _base(meaning, rank, hosts.input(card.log_id), card.where, card.text, card.at)
        yield row | {
            "log_id": card.log_id,
            "line": card.line,
            "first_at": card.first_at,
            "times": card.times,
            "fresh": card.signature == nics.DOWN
            or told_lately(card.at, card.stamp, card.as_of, last=near_end(card.line, card.end)),
        }


def _objects(con: duckdb.DuckDBPyConnection, hosts: Hosts) -> Iterator[dict[str, Any]]:
    telling = [(rank, meaning, re2.compile(meaning.says)) for rank, meaning in meanings().values() if meaning.says]
    words = "|".join(f"(?:{meaning.says})" for _, meaning, _ in telling)
    for number, object_id, node, path, message, at, first_at, times, pod_id, fresh in con.execute(
        _MESSAGES, {"words": words}
    ).fetchall():
        found = next(((rank, meaning) for rank, meaning, pattern in telling if pattern.search(message)), None)
        if found is None:
            continue
        where = Where(hosts.nodes.get((number, node)), node or None)
        yield _base(found[1], found[0], number, where, " ".join(message.split()), at) | {
            "object_id": object_id,
            "path": path,
            "first_at": first_at,
            "times": times,
            "pod_id": pod_id,
            "fresh": fresh,
        }


def _base(meaning: Meaning, rank: int, number: int, where: Where, text: str, at: datetime | None) -> dict[str, Any]:
    return {
        "topic": meaning.topic,
        "signature": meaning.signature,
        "input": number,
        "text": text,
        "at": at,
        "node_id": where.node_id,
        "node": where.node or where.host,
        "cause": meaning.cause,
        "remedy": meaning.remedy,
        "rank": rank,
    }
