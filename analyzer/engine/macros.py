"""What rule queries may use beside the tables: SQL macros, the objects that have findings so far, and what rules need.

All of it is temporary: it belongs to the connection and is not in `bundle.duckdb`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import duckdb

from analyzer.facts.coverage import ELSEWHERE

_EVIDENCE = (
    "struct_pack(origin := '{origin}', id := {id}::BIGINT, line := {line}::BIGINT, path := {path}::VARCHAR, "
    "value := value::VARCHAR, kind := {kind}::VARCHAR)"
)

BEFORE_LINE: Final = r"^(\[pod/[^\]]{1,600}\] )?(\d{4}-\d\d-\d\dT[0-9:.]{8,20}(Z|[+-]\d\d:?\d\d) ?)?"
"""What the kubelet and `kubectl logs --prefix --timestamps` put before a line, as Python and DuckDB both read it."""

TABLES: Final = (
    "CREATE OR REPLACE TEMP TABLE found (object_id BIGINT, code VARCHAR)",
    "CREATE OR REPLACE TEMP TABLE rule_needs (code VARCHAR, api_group VARCHAR, kind VARCHAR, blind BOOLEAN)",
)
MACROS: Final = (
    "CREATE OR REPLACE TEMP MACRO ev(object_id, path, value, k := 'Reported') AS "
    + _EVIDENCE.format(origin="object", id="object_id", line="NULL", path="path", kind="k"),
    "CREATE OR REPLACE TEMP MACRO ev_log(log_id, line, value) AS "
    + _EVIDENCE.format(origin="log", id="log_id", line="line", path="''", kind="'Observed'"),
    "CREATE OR REPLACE TEMP MACRO ev_file(file_id, line, value) AS "
    + _EVIDENCE.format(origin="file", id="file_id", line="line", path="''", kind="'Observed'"),
    # The last lines of a log; the one that tells most stands first, for reports quote that one openly.
    (
        "CREATE OR REPLACE TEMP MACRO ev_log_end(ended) AS coalesce((SELECT "
        "list(ev_log(e.log_id, e.line, e.text) ORDER BY e.telling DESC, e.line) FROM log_ends AS e WHERE e.log_id = ended), [])"
    ),
    # A condition by its message, by its status where it has none.
    (
        "CREATE OR REPLACE TEMP MACRO ev_condition(object_id, idx, message, status) AS ev(object_id, "
        "'status.conditions[' || idx || '].' || CASE WHEN nullif(trim(message), '') IS NULL THEN 'status' ELSE 'message' END, "
        "coalesce(nullif(trim(message), ''), status))"
    ),
    "CREATE OR REPLACE TEMP MACRO as_of(number) AS (SELECT max(i.as_of) FROM inputs AS i WHERE i.input = number)",
    (
        "CREATE OR REPLACE TEMP MACRO last_lines(tail, n) AS "
        "array_to_string(list_slice(string_split(rtrim(tail, chr(10)), chr(10)), -n, -1), chr(10))"
    ),
    # What a line of a log says.
    f"CREATE OR REPLACE TEMP MACRO spoken(line) AS regexp_replace(line, '{BEFORE_LINE}', '')",
    # Words of a program about GPUs whose meaning is known.
    (
        "CREATE OR REPLACE TEMP MACRO gpu_told(ended) AS (SELECT "
        "arg_min(struct_pack(words := spoken(g.text), cause := g.cause, remedy := g.remedy), g.rank) "
        "FROM gpu_words AS g WHERE g.log_id = ended AND g.topic IN ('program', 'operand'))"
    ),
    # Xids after which NVIDIA's device plugin does not call a GPU unhealthy (source: its health checks).
    "CREATE OR REPLACE TEMP MACRO plugin_ignores(xid) AS xid IN (13, 31, 43, 45, 68, 109)",
    # Who says what stands in a line about a GPU's error, as the subject of a sentence.
    (
        "CREATE OR REPLACE TEMP MACRO xid_speaker(gpu, log, at_line) AS "
        "CASE (SELECT any_value(e.source) FROM xid_events AS e WHERE e.gpu_id = gpu AND e.log_id = log AND e.line = at_line) "
        "WHEN 'fabric-manager' THEN 'The fabric manager' WHEN 'device-plugin' THEN 'The device plugin' "
        "WHEN 'dra-driver' THEN 'The DRA driver' WHEN 'dcgm' THEN 'DCGM' WHEN 'cuda' THEN 'CUDA, in the log of a program,' "
        "WHEN 'nvml' THEN 'The management library (NVML)' WHEN 'nvidia-smi' THEN 'nvidia-smi' WHEN 'lspci' THEN 'lspci' "
        "ELSE 'The kernel' END"
    ),
    # As `analyzer.facts.whole` says it: only then is what is not there gone.
    (
        "CREATE OR REPLACE TEMP MACRO listed_whole(of_group, of_kind, place := '*') AS EXISTS (SELECT 1 FROM coverage AS v WHERE "
        "v.api_group = of_group AND v.kind = of_kind AND v.status IN ('complete', 'absent') "
        "AND list_has_any(v.scope, ['*', place]))"
    ),
    # For what can only lie in the namespace of another object: lists that other namespaces lack do not matter there.
    (
        "CREATE OR REPLACE TEMP MACRO listed_here(of_group, of_kind, place) AS "  # noqa: S608 - a word of ours
        "listed_whole(of_group, of_kind, place) OR EXISTS (SELECT 1 FROM coverage AS v WHERE "
        "v.api_group = of_group AND v.kind = of_kind AND v.status = 'partial' "
        "AND starts_with(v.reason, '" + ELSEWHERE + "') AND list_contains(v.scope, place))"
    ),
    # Replicas that an order could do without, and what they are replicas of.
    (
        "CREATE OR REPLACE TEMP MACRO waits_on_purpose(object_id) AS "
        "EXISTS (SELECT 1 FROM relations AS g WHERE g.dst = object_id AND g.kind = 'order-growth')"
    ),
    # A JobSet that restarts and a RayJob that is tried again make their Jobs anew: what failed before is no failure.
    (
        "CREATE OR REPLACE TEMP MACRO made_anew(job) AS EXISTS (SELECT 1 FROM jobset_jobs AS j JOIN jobsets AS s "
        "ON s.object_id = j.jobset_id WHERE j.object_id = job AND (j.old OR s.state = 'Restarting')) "
        "OR EXISTS (SELECT 1 FROM ray_jobs AS r WHERE r.submitter_id = job AND r.state = 'Retrying')"
    ),
    # Where Kueue's Workloads stand, in words.
    (
        "CREATE OR REPLACE TEMP MACRO in_queue(cluster_queue, space, queue) AS "
        "coalesce('ClusterQueue ' || cluster_queue, 'LocalQueue ' || space || '/' || queue, 'namespace ' || space)"
    ),
    # What OME tells, by a row of ome_told: what stands in the field that its path names.
    (
        "CREATE OR REPLACE TEMP MACRO ev_told(told) AS ev(told.source_id, told.path, "
        "coalesce(told.message, nullif(told.reason, ''), told.status), "
        "k := CASE WHEN told.source = 'event' THEN 'Observed' ELSE 'Reported' END)"
    ),
    # The rules about inference orders differ in their words alone; each asks for the rows of its reason.
    (
        "CREATE OR REPLACE TEMP MACRO order_says(code) AS TABLE "
        "SELECT r.* EXCLUDE (reason), r.object_namespace AS namespace, r.object_name AS name, "
        "(SELECT list(CASE WHEN p.log_id IS NULL THEN ev(p.source_id, p.path, p.value, k := p.kind) "
        "ELSE ev_log(p.log_id, p.line, p.value) END ORDER BY p.idx) "
        "FROM order_proofs AS p WHERE p.reason_id = r.reason_id) AS evidence "
        "FROM order_reasons AS r WHERE r.reason = code "
        "ORDER BY r.since NULLS LAST, r.object_namespace, r.object_name, r.reason_id"
    ),
)


def create(con: duckdb.DuckDBPyConnection) -> None:
    """Makes the macros and the empty tables `found` and `rule_needs`; allowed before and after the connection is locked."""
    for statement in TABLES:
        con.execute(statement)
    try:
        # A connection that has them keeps them: the rules' own cases run by the thousand in one.
        con.execute("SELECT last_lines('', 1)")
    except duckdb.CatalogException:
        for statement in MACROS:
            con.execute(statement)


def note_found(con: duckdb.DuckDBPyConnection, pairs: Iterable[tuple[int, str]]) -> None:
    """Adds objects and the codes of their findings to the table `found`."""
    rows = list(pairs)
    if rows:
        numbers, codes = [row[0] for row in rows], [row[1] for row in rows]
        con.execute("INSERT INTO found SELECT unnest(?::BIGINT[]), unnest(?::VARCHAR[])", [numbers, codes])


def note_needs(con: duckdb.DuckDBPyConnection, rows: Iterable[tuple[str, str, str, bool]]) -> None:
    """Adds to the table `rule_needs` which rule needs which kind, and whether it cannot be evaluated for want of it."""
    kept = list(rows)
    if kept:
        codes, groups, kinds, blind = ([row[place] for row in kept] for place in range(4))
        columns = "unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::BOOLEAN[])"
        con.execute(f"INSERT INTO rule_needs SELECT {columns}", [codes, groups, kinds, blind])
