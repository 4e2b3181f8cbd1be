"""Kueue in tables: trees of cohorts with their quota, what nodes offer, and who waits."""

from __future__ import annotations

import time
from typing import Any

import pytest

from analyzer.engine.sections import FOLDED, SHOWN, Bar, Section
from analyzer.overview import queues
from analyzer.overview.marks import Marks
from tests.facts.build import database
from tests.kueue.test_facts import ALL, NEW, OLD, active, condition, kueue, queue, workload
from tests.kueue.test_offers import flavor, node
from tests.overview.cells import captioned, finding, lines, marks, named, run

GROUP = "kueue.x-k8s.io"
QUOTA = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor hot, {} more needed"
WHOLE = [*ALL, ("", "Node"), ("", "Pod")]


def used(total: str, borrowed: str = "0", *, admitted: str | None = None) -> dict[str, Any]:
    """The status of a ClusterQueue that holds so much cpu."""
    reserved = [{"name": "hot", "resources": [{"name": "cpu", "total": total, "borrowed": borrowed}]}]
    running = [{"name": "hot", "resources": [{"name": "cpu", "total": admitted or total, "borrowed": borrowed}]}]
    return active() | {"flavorsReservation": reserved, "flavorsUsage": running}


def with_status(item: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    return item | {"status": status}


def local(name: str, to: str, namespace: str = "pottery") -> dict[str, Any]:
    return kueue("LocalQueue", name, {"clusterQueue": to}, active() | {"pendingWorkloads": 2}, namespace=namespace)


def waits(
    name: str, message: str = QUOTA.format(1), *, at: str = "2026-11-01T11:00:00Z", to: str = "jugs", **spec: Any
) -> dict[str, Any]:
    told = condition("QuotaReserved", "False", "Pending", message, at)
    return workload(name, told, spec={"queueName": to} | spec, creationTimestamp=at)


def sections(*objects: dict[str, Any], found: Marks | None = None, lists: Any = WHOLE) -> tuple[Section, ...]:
    con = database(objects, lists=lists)
    made = queues.sections(con, found or marks())
    for section in made:
        run(con, section)
    return made


def test_nothing_of_kueue_makes_no_section() -> None:
    assert sections(node("n1", {}, {"cpu": "1"})) == ()


@pytest.mark.parametrize("version", [OLD, NEW])
def test_cohorts_are_trees_with_their_queues_below(version: str) -> None:
    made = sections(
        kueue("Cohort", "branch", {"parentName": "trunk"}),
        with_status(
            queue("lending", cohort="branch", version=version, nominalQuota="8", lendingLimit="0"), used("2", admitted="1")
        ),
        with_status(queue("borrowing", cohort="branch", version=version, nominalQuota="8", borrowingLimit="4"), used("10", "2")),
        queue("alone", version=version, nominalQuota="1"),
        flavor({}),
        node("n1", {}, {"cpu": "6"}),
    )
    table = captioned(named(made, "queues"), "Quota")
    assert lines(table) == [
        "trunk (cohort, no queue of its own) |  |  |  |  | hot · cpu: 12 of 16 reserved; no object of its own",
        "  branch (cohort, 2 queues) |  |  |  |  | hot · cpu: 12 of 16 reserved",
        "    borrowing (hot · cpu) | 8 | 10 | 2 | 10 |  (2 borrowed, 125 % of its quota; may borrow 4; nodes offer 6)",
        "    lending (hot · cpu) | 8 | 2 | 0 | 1 |  (part of it waits for checks; lends nothing; nodes offer 6)",
        "alone (hot · cpu) | 1 | not said? | not said? | not said? | ",
    ]
    drawn = [cell.drawing for row in table.rows for cell in row.cells if isinstance(cell.drawing, Bar)]
    assert [(bar.scale, bar.nominal, bar.reserved, bar.borrowed, bar.used, bar.offered) for bar in drawn] == [
        (10, 8, 10, 2, 10, 6),
        (10, 8, 2, 0, 1, 6),
        (10, 1, None, None, None, 6),
    ]
    assert lines(captioned(named(made, "queues"), "Flavors"))[0].startswith(
        "hot (cpu) | 17 | not said? | 6 | 1 | quota promises 2.8"
    )


def test_what_has_a_finding_comes_first_with_all_that_it_lies_in() -> None:
    objects = [queue(f"a{number}", cohort="one", nominalQuota="1") for number in range(3)]
    objects += [queue(f"z{number}", cohort="two", nominalQuota="1") for number in range(3)]
    made = sections(*objects, found=marks(finding(GROUP, "ClusterQueue", "", "z2")))
    table = captioned(named(made, "queues"), "Quota")
    assert [row.cells[0].text for row in table.rows] == ["two", "z2", "z0", "z1", "one", "a0", "a1", "a2"]
    assert table.rows[1].finding == "f1"


def test_cohorts_in_a_circle_stand_at_the_top() -> None:
    made = sections(
        kueue("Cohort", "hen", {"parentName": "egg"}),
        kueue("Cohort", "egg", {"parentName": "hen"}),
        kueue("Cohort", "chick", {"parentName": "hen"}),
        queue("nest", cohort="chick", nominalQuota="1"),
    )
    shown = lines(captioned(named(made, "queues"), "Quota"))
    assert [line.split(" (")[0] for line in shown] == ["egg", "hen", "  chick", "    nest"]
    assert "its parents turn in a circle: egg, hen" in shown[0]


def test_devices_stand_before_cpu_and_memory_and_numbers_are_quantities() -> None:
    names = ["cpu", "memory", "nvidia.com/gpu"]
    quotas = [{"name": name, "nominalQuota": amount} for name, amount in zip(names, ["500m", "2Gi", 4], strict=True)]
    spec = {"resourceGroups": [{"coveredResources": names, "flavors": [{"name": "hot", "resources": quotas}]}]}
    made = sections(kueue("ClusterQueue", "q", spec, active()))
    shown = lines(captioned(named(made, "queues"), "Quota"))
    assert [line.split(" | ")[:2] for line in shown] == [
        ["q (hot · nvidia.com/gpu)", "4"],
        ["  hot · cpu", "500m"],
        ["  hot · memory", "2Gi"],
    ]


def test_without_all_nodes_what_they_offer_cannot_be_told() -> None:
    made = sections(queue("q", nominalQuota="1"), flavor({}), lists=ALL)
    assert "cannot tell? (nodes were not collected whole)" in lines(captioned(named(made, "queues"), "Flavors"))[0]


def test_a_queue_that_is_not_active_says_that_its_figures_may_be_stale() -> None:
    off = active("False", "FlavorNotFound", "Can't admit new workloads: references missing ResourceFlavor(s): hot.")
    made = sections(with_status(queue("q", nominalQuota="1"), off))
    assert "Inactive: figures may be stale" in lines(captioned(named(made, "queues"), "Quota"))[0]
    assert "the flavor does not exist" in lines(captioned(named(made, "queues"), "Quota"))[0]


def test_waiting_workloads_are_told_by_cause_and_by_queue_the_oldest_first() -> None:
    made = sections(
        queue("kiln", nominalQuota="4"),
        local("jugs", "kiln"),
        waits("young", at="2026-11-01T11:30:00Z", priority=10),
        waits("old", QUOTA.format(3), at="2026-11-01T10:00:00Z"),
        waits("stray", "LocalQueue x doesn't exist", to="x"),
        workload("fresh", spec={"queueName": "jugs"}, creationTimestamp="2026-11-01T11:59:00Z"),
    )
    section = named(made, "waiting")
    assert section.small == "4 of 4 Workloads wait"
    causes = lines(captioned(section, "What Workloads wait for"))
    assert causes[0] == f'quota that others hold | 2 | 1 | 2 h | "{QUOTA.format(3)}" (pottery/old)'
    assert (
        'misconfigured (the LocalQueue does not exist) | 1 | 1 | 60 min | "LocalQueue x doesn\'t exist" (pottery/stray)' in causes
    )
    assert "not looked at yet | 1 | 1 | 60 s |  (pottery/fresh)" in causes
    assert lines(captioned(section, "Waiting Workloads by queue")) == [
        "kiln (BestEffortFIFO) | 3 |  |  | 2 h | quota that others hold (2), not looked at yet (1)",
        f'  pottery/old |  | 2 | 0 | 2 h | "{QUOTA.format(3)}"',
        f'  pottery/young |  | 1 | 10 | 30 min | "{QUOTA.format(1)}"',
        "  pottery/fresh |  | 3 | 0 | 60 s | not looked at yet",
        "pottery/x (its ClusterQueue is not known) | 1 |  |  | 60 min | misconfigured (1)",
        '  pottery/stray |  |  | 0 | 60 min | "LocalQueue x doesn\'t exist"',
    ]


def test_workloads_behind_a_stopped_queue_are_one_line() -> None:
    stopped = with_status(queue("kiln", nominalQuota="4"), active("False", "Stopped", "Can't admit new workloads: is stopped."))
    stopped["spec"]["stopPolicy"] = "Hold"
    made = sections(
        stopped, local("jugs", "kiln"), waits("a", "ClusterQueue kiln is inactive"), waits("b", "ClusterQueue kiln is inactive")
    )
    causes = lines(captioned(named(made, "waiting"), "What Workloads wait for"))
    assert causes == [
        'held by ClusterQueue kiln (which is stopped) | 2 | 1 | 60 min | "ClusterQueue kiln is inactive" (pottery/a)'
    ]


def test_checks_evictions_and_deactivations_are_told() -> None:
    reserved = condition("QuotaReserved", "True")
    checked = workload("checked", reserved, condition("Admitted", "False"))
    checked["status"]["admissionChecks"] = [{"name": "prov", "state": "Retry", "message": "no capacity"}]
    evicted = workload(
        "again",
        reserved,
        condition("Admitted", "True"),
        condition("Evicted", "False", "QuotaReserved", "Previously: Exceeded the PodsReady timeout"),
    )
    put_out = workload(
        "out",
        condition(
            "Evicted",
            "True",
            "DeactivatedDueToRequeuingLimitExceeded",
            "The workload is deactivated due to exceeding the maximum number of re-queuing retries",
        ),
        spec={"active": False},
    )
    made = sections(checked, evicted, put_out, kueue("AdmissionCheck", "prov"))
    shown = lines(captioned(named(made, "waiting"), "Workloads that wait for checks"))
    assert any(
        'pottery/checked (queue jugs) | Waiting for admission checks | for 60 min |  | prov is Retry: "no capacity"' in line
        for line in shown
    )
    assert any(line.startswith("pottery/again (queue jugs) | Admitted | for 60 min | at least 1") for line in shown)
    assert any("pottery/out" in line and "deactivated by Kueue: RequeuingLimitExceeded" in line for line in shown)
    assert lines(captioned(named(made, "queues"), "Admission checks")) == ["prov | no condition? | 1 | "]


def test_what_was_not_collected_is_not_called_none() -> None:
    made = sections(with_status(queue("kiln", nominalQuota="4"), active() | {"pendingWorkloads": 7}), waits("a"), lists=[])
    con = database([waits("a")], lists=[])
    con.execute("UPDATE coverage SET status = 'partial' WHERE kind IN ('Workload', 'ClusterQueue')")
    section = named(queues.sections(con, marks()), "waiting")
    assert section.small == "at least 1 wait"
    assert section.notes[0].startswith("Workloads were not collected whole: others may wait too.")
    assert "Cohorts were not collected whole: there may be others." in named(made, "queues").notes


def test_twenty_thousand_workloads_in_two_hundred_queues_are_a_page() -> None:
    """Facts as they stand after derivation; only the section is made here."""
    con = database([], lists=WHOLE)
    con.execute("""
        INSERT INTO kueue_queues (object_id, input, kind, namespace, name, state, strategy)
        SELECT range, 0, 'ClusterQueue', '', 'q' || lpad(range::VARCHAR, 3, '0'), 'Active', 'StrictFIFO' FROM range(200)
    """)
    con.execute("""
        INSERT INTO workloads (object_id, input, namespace, name, state, waiting, cause, detail, cause_key, wait_message,
            wait_since, cluster_queue, position, priority, evictions)
        SELECT 1000 + range, 0, 'ns' || range % 50, 'w' || range, 'Pending', true, 'quota', 'quota', 'cpu@f' || range % 3,
            'insufficient unused quota', TIMESTAMP '2026-11-01 00:00:00' + range * INTERVAL 1 SECOND,
            'q' || lpad((range % 200)::VARCHAR, 3, '0'), range // 200 + 1, 0, 0
        FROM range(20000)
    """)
    started = time.process_time()
    section = named(queues.sections(con, marks()), "waiting")
    took = time.process_time() - started
    causes, by_queue = section.tables
    assert [row.cells[1].text for row in causes.rows] == ["6,667", "6,667", "6,666"]
    assert (len(by_queue.rows), len(by_queue.folded), by_queue.more) == (SHOWN, FOLDED, "50 more rows")
    assert {row.cells[1].text for row in by_queue.rows} == {"100"}
    assert took < 10


@pytest.mark.parametrize(
    "spec",
    [
        {"resourceGroups": [{"flavors": [{"name": "hot", "resources": [{"name": "cpu", "nominalQuota": "1e40"}]}]}]},
        {"resourceGroups": [{"flavors": [{"name": "hot", "resources": [{"name": "cpu", "nominalQuota": {"a": 1}}]}]}]},
        {"resourceGroups": "x", "cohortName": 7},
    ],
)
def test_quotas_of_any_shape(spec: Any) -> None:
    assert named(sections(kueue("ClusterQueue", "q", spec, active())), "queues").tables
