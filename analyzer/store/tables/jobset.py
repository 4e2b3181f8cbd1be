"""JobSets: their groups of Jobs, the Jobs, restarts and the Job that failed first."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "jobsets",
        "facts",
        "JobSets (jobset.x-k8s.io), one row each.",
        """
object_id BIGINT the JobSet
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
state VARCHAR its state, as in table states
reason VARCHAR reason behind the state
message VARCHAR message behind the state
message_path VARCHAR where the condition behind the state stands, null where there is none
since TIMESTAMP when the state began, as far as a condition says
managed_by VARCHAR the other controller that looks after it, null where that is JobSet's own
controller_version VARCHAR version of the controller by its image, null where the bundle does not say
policy BOOLEAN it has a failure policy: without one the first failed Job fails it and there are no restarts
max_restarts INTEGER restarts that its failure policy allows, null without a failure policy
restarts INTEGER restarts so far, all of them
counted INTEGER restarts so far that count towards the limit
counted_by VARCHAR how these were counted, in words
counted_path VARCHAR where that number stands, null where it is a sum or not written
restarts_left INTEGER restarts that are left, null without a limit
attempt INTEGER the attempt that its Jobs should be of (label restart-attempt)
success VARCHAR its success policy in words
startup VARCHAR startup policy (AnyOrder or InOrder)
waits_for VARCHAR groups that are not made yet, and what they wait for, in words
failed_job VARCHAR the Job that failed first, null where none is known
failed_job_said BOOLEAN the controller names that Job; else it is the earliest failed one that is left
failed_job_id BIGINT that Job, null where it is not in the bundle
failed_job_note VARCHAR why the Job of that name may not be the one that failed, null where it is
failed_job_reason VARCHAR reason of its condition Failed
failed_job_message VARCHAR message of its condition Failed
failed_job_path VARCHAR where that condition stands
failed_pod VARCHAR its first failed pod
failed_pod_id BIGINT that pod
failed_container VARCHAR the container of it that failed
failed_words VARCHAR exit code or signal of that container in words
failed_path VARCHAR where the end of that container stands
failed_code INTEGER its exit code
failed_log_id BIGINT the log that tells best of it, see logs
""",
    ),
    table(
        "jobset_groups",
        "facts",
        "The replicated Jobs of a JobSet, in the order of its spec.",
        """
object_id BIGINT the JobSet
idx INTEGER position in spec.replicatedJobs, from 0
group_name VARCHAR name of the replicated Job
replicas INTEGER Jobs wanted
active INTEGER Jobs with pods at work, by the status
ready INTEGER Jobs whose pods are all ready or done, by the status
succeeded INTEGER Jobs that succeeded, by the status
failed INTEGER Jobs that failed, by the status
suspended INTEGER Jobs that are suspended, by the status
all_ready BOOLEAN ready and ended Jobs are as many as wanted
depends_on VARCHAR what it depends on, in words; null where on nothing
waits_for VARCHAR what its Jobs wait for before they are made, in words; null where for nothing
""",
    ),
    table(
        "jobset_jobs",
        "facts",
        "Jobs of JobSets.",
        """
object_id BIGINT the Job
jobset_id BIGINT its JobSet
group_name VARCHAR the replicated Job it is one of
job_index INTEGER its number in the group
attempt INTEGER restart attempt it was made for (label restart-attempt), null where nothing says
old BOOLEAN it is of an earlier attempt than the JobSet is at
state VARCHAR Complete, Failed, Suspended, Running, Deleting or Pending
reason VARCHAR reason of the condition that says so
message VARCHAR message of that condition
path VARCHAR where that condition stands
since TIMESTAMP when that condition last turned
created_at TIMESTAMP created
active INTEGER pods at work
ready INTEGER pods ready
succeeded INTEGER pods that succeeded
failed INTEGER pods that failed
""",
    ),
)
