"""Kueue: queues, quota, workloads and what they wait for. Quantities are text, exact as in Kubernetes."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "kueue_queues",
        "facts",
        "ClusterQueues and LocalQueues of Kueue.",
        """
object_id BIGINT the queue
input INTEGER its input
kind VARCHAR ClusterQueue or LocalQueue
namespace VARCHAR namespace of a LocalQueue, else empty
name VARCHAR name
state VARCHAR Active, Stopped, Terminating, Inactive or Orphaned; null where nothing says
active VARCHAR status of condition Active, null where there is none
reason VARCHAR its reason
message VARCHAR its message
active_path VARCHAR where its message stands, such as status.conditions[0].message
since TIMESTAMP when the condition last turned; without one, when the queue was created
faults VARCHAR[] what the message lists beside a stop
stop_policy VARCHAR spec.stopPolicy where it stops the queue (Hold or HoldAndDrain), else null
cluster_queue VARCHAR the ClusterQueue: its own name, or that a LocalQueue names
cluster_queue_id BIGINT that ClusterQueue, null where it is not in the bundle
cohort VARCHAR cohort of a ClusterQueue, null where it is in none
strategy VARCHAR queueing strategy of a ClusterQueue
pending INTEGER status.pendingWorkloads
reserving INTEGER status.reservingWorkloads
admitted INTEGER status.admittedWorkloads
""",
    ),
    table(
        "kueue_quota",
        "facts",
        "Quota of each ClusterQueue and Cohort, one row a flavor and resource.",
        """
object_id BIGINT the ClusterQueue or Cohort
kind VARCHAR ClusterQueue or Cohort
name VARCHAR its name
cohort VARCHAR the cohort that it is in, null where it is in none
resource_group INTEGER position in spec.resourceGroups, from 0
flavor VARCHAR the ResourceFlavor
resource VARCHAR the resource
nominal VARCHAR nominalQuota
borrowing_limit VARCHAR borrowingLimit, null where there is none
lending_limit VARCHAR lendingLimit, null where there is none
reserved VARCHAR reserved by its status, Workloads that wait for checks too; null where the status does not say
used VARCHAR used by admitted Workloads
borrowed VARCHAR of what is reserved, that over the nominal quota
share INTEGER reserved in per cent of nominal, cut to whole ones; null where nominal is 0 or the status does not say
capacity VARCHAR the most that one Workload could get with nothing else running (our arithmetic), null where that cannot be told
capacity_words VARCHAR how that was computed, with every number; or why it cannot be told
nominal_path VARCHAR where the nominal quota stands
reserved_path VARCHAR where what is reserved stands
""",
    ),
    table(
        "kueue_offers",
        "facts",
        "What the nodes of each ResourceFlavor offer, one row a flavor and resource that some quota names.",
        """
flavor VARCHAR the ResourceFlavor
flavor_id BIGINT that object, null where it is not in the bundle
resource VARCHAR the resource
nodes INTEGER nodes that have all its labels, null where that cannot be told
closed_nodes INTEGER of these, those that take no new pods (cordoned or not ready)
offered VARCHAR what they offer of it in all (allocatable), null where that cannot be told
why VARCHAR why it cannot be told
""",
    ),
    table(
        "kueue_references",
        "facts",
        "What objects of Kueue name: the flavors, checks, cohorts, topologies and queues, one row a name.",
        """
object_id BIGINT the object that names it
path VARCHAR where the name stands
value VARCHAR what stands there
target_kind VARCHAR ResourceFlavor, AdmissionCheck, Cohort, Topology, ClusterQueue, ProvisioningRequestConfig…
target_name VARCHAR the name
target_id BIGINT the object of that name, null where it is not in the bundle
""",
    ),
    table(
        "kueue_cohorts",
        "facts",
        "Cohorts of Kueue, those too that exist only because a ClusterQueue names them.",
        """
object_id BIGINT the Cohort object, null where there is none
name VARCHAR name
parent VARCHAR spec.parentName, null at the top
root VARCHAR the cohort at the top of its tree, null in a circle
cycle VARCHAR[] where its parents turn in a circle: the names of that circle, else null
queues INTEGER ClusterQueues that name it
""",
    ),
    table(
        "workloads",
        "facts",
        "Workloads of Kueue (kueue.x-k8s.io), one row each.",
        """
object_id BIGINT the Workload
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
uid VARCHAR uid
state VARCHAR its state, as in table states
reason VARCHAR reason behind the state
message VARCHAR message behind the state
message_path VARCHAR where that message stands, null where it is ours
since TIMESTAMP when the state began, as far as a condition says
waiting BOOLEAN it waits in its queue
cause VARCHAR why: never-fits, quota, topology, misconfigured, queue, check, gated, held, pods-ready, evaluation, none…
detail VARCHAR the finer cause, such as taint, localqueue-missing, borrowing-limit
wait_reason VARCHAR reason of condition QuotaReserved where that is False
wait_message VARCHAR its message, in Kueue's words
wait_path VARCHAR where that message stands
wait_since TIMESTAMP since when it has no quota; without a condition, when it was created
told_by BIGINT the equal Workload whose message tells why, where Kueue did not look at this one for its sake
cause_key VARCHAR what Workloads that wait for the same thing have in common: resources and flavors, or the message
preempting INTEGER Workloads that it waits to see preempted
behind_id BIGINT the queue that holds it back: stopped, inactive, terminating or orphaned
behind_how VARCHAR state of that queue
queue VARCHAR the LocalQueue that it names
queue_id BIGINT that LocalQueue, null where it is not in the bundle
cluster_queue VARCHAR its ClusterQueue, by its admission, else by its LocalQueue
cluster_queue_id BIGINT that ClusterQueue, null where it is not in the bundle
priority INTEGER spec.priority
queued_at TIMESTAMP what its place in the queue goes by: created, or evicted for its pods or a check
position INTEGER place among the waiting Workloads of its ClusterQueue, from 1
ahead_id BIGINT the Workload at the head of that queue
active BOOLEAN spec.active is not false
deactivated_by VARCHAR kueue or user, null where it is active
deactivation VARCHAR Kueue's reason or words for a deactivation of its own
evicted BOOLEAN condition Evicted is True
evictions INTEGER evictions so far: by schedulingStats, else as many as its conditions and events prove
evictions_exact BOOLEAN the number is Kueue's own count
eviction_words VARCHAR evictions by cause, in words
preemptor_id BIGINT the Workload that it last had to make room for, null where that is not in the bundle
preemptor VARCHAR that Workload in words, its uid where it is not in the bundle
requeue_at TIMESTAMP status.requeueState.requeueAt: not before then it is tried again
pods_ready VARCHAR status of condition PodsReady
finished VARCHAR reason of condition Finished where that is True
requests VARCHAR what it asks for in all, in words
""",
    ),
    table(
        "workload_causes",
        "facts",
        "The message of a waiting Workload taken apart, one row a cause that it lists.",
        """
object_id BIGINT the Workload
idx INTEGER position in the message, from 0
pod_set VARCHAR the pod set, null where the message names none
cause VARCHAR never-fits, quota, topology or misconfigured
detail VARCHAR the finer cause
resource VARCHAR the resource
flavor VARCHAR the ResourceFlavor
more VARCHAR how much more is needed
asked VARCHAR how much the pod set asks for
before_it VARCHAR how much other pod sets of it take
capacity VARCHAR the maximum capacity in Kueue's words
place VARCHAR the taint, topology or level it names
text VARCHAR the cause in Kueue's words
""",
    ),
    table(
        "workload_pod_sets",
        "facts",
        "What the pod sets of a Workload ask for and got, one row a pod set and resource (one where it asks for nothing).",
        """
object_id BIGINT the Workload
idx INTEGER position in spec.podSets, from 0
pod_set VARCHAR its name
count INTEGER pods
min_count INTEGER pods that are enough, null where all are needed
resource VARCHAR the resource
amount VARCHAR how much of it all pods of the set ask for
source VARCHAR admission, status or template: what that was read from
flavor VARCHAR the flavor assigned
topology VARCHAR the topology request, in words
domain_count INTEGER domains of the topology that its pods were put into
domains VARCHAR[] the first of these, levels from the top down, with their pods
path VARCHAR where the amount stands, null where it was computed
""",
    ),
    table(
        "workload_usage",
        "facts",
        "Who holds quota: each Workload with a reservation, one row a flavor and resource.",
        """
object_id BIGINT the Workload
cluster_queue VARCHAR the ClusterQueue it was reserved in
flavor VARCHAR the ResourceFlavor
resource VARCHAR the resource
amount VARCHAR how much of it, all pod sets together
rank INTEGER place among the Workloads that hold it in that ClusterQueue, the greatest first, from 1
holders INTEGER how many Workloads hold it there
""",
    ),
    table(
        "workload_checks",
        "facts",
        "Admission checks of a Workload, by its status.",
        """
object_id BIGINT the Workload
idx INTEGER position in status.admissionChecks, from 0
check_name VARCHAR the AdmissionCheck
check_id BIGINT that object, null where it is not in the bundle
controller VARCHAR spec.controllerName of it
state VARCHAR Pending, Ready, Retry or Rejected
message VARCHAR its message
since TIMESTAMP when it last turned
retries INTEGER rounds of Retry
request VARCHAR the ProvisioningRequest made for it
request_id BIGINT that object
request_words VARCHAR what that says
""",
    ),
    table(
        "workload_evictions",
        "facts",
        "Evictions of a Workload by cause, one row a place that proves some.",
        """
object_id BIGINT the Workload
reason VARCHAR reason in Kueue's words
underlying VARCHAR what was behind it
times INTEGER how many
source VARCHAR stats (Kueue's own count), condition, event or time (a past run)
source_id BIGINT the Workload or Event that says so
path VARCHAR where
""",
    ),
    table(
        "workload_fits",
        "facts",
        "Our arithmetic: what a Workload asks of each flavor beside the most that its queue could ever get of it.",
        """
object_id BIGINT the Workload
resource VARCHAR the resource
flavor VARCHAR the flavor, null where nothing can be told
asked VARCHAR what its pod sets ask for together
capacity VARCHAR the most that its queue could get
fits BOOLEAN asked is at most capacity, null where it cannot be told
words VARCHAR the numbers in words; or why it cannot be told
path VARCHAR where the nominal quota stands
quota_id BIGINT the ClusterQueue
""",
    ),
    table(
        "kueue_jobs",
        "facts",
        "Jobs of any kind that a Workload stands for, or that name a LocalQueue.",
        """
object_id BIGINT the job
input INTEGER its input
api_group VARCHAR its API group
kind VARCHAR its kind
namespace VARCHAR its namespace
name VARCHAR its name
queue VARCHAR the LocalQueue that its label (or old annotation) names
queue_path VARCHAR where
workload_id BIGINT its Workload, the newest that is not finished; null where there is none in the bundle
joined_by VARCHAR prebuilt, uid, owner, group, annotation or name
parent_id BIGINT the owner that has the Workload for it
parent VARCHAR the owner's kind and name, null where no owner can have one for it
suspended BOOLEAN spec.suspend, null where the kind has no such field
over BOOLEAN finished or being deleted
working BOOLEAN pods of it run or are made, by its status; of a pod, it has a node
""",
    ),
)
