"""Kinds beside Kueue, JobSet, Ray and KServe: LeaderWorkerSets and what their groups of pods say."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "lws",
        "facts",
        "LeaderWorkerSets (leaderworkerset.x-k8s.io), one row each.",
        """
object_id BIGINT the LeaderWorkerSet
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
state VARCHAR Deleting, Scaled to zero, Ready, Updating or Not ready, by its status
reason VARCHAR reason of the condition behind it
message VARCHAR message of that condition
message_path VARCHAR where that condition stands
since TIMESTAMP when that condition last turned
available VARCHAR status of condition Available, null where there is none
wanted INTEGER groups wanted
ready INTEGER groups ready, by its status
size INTEGER pods of a group, the leader too
short INTEGER groups of which pods are missing or not ready, counted from pods; null where pods cannot be told
short_since TIMESTAMP since when the oldest of these pods is not ready
short_words VARCHAR states of the pods that are not ready, with their number
leader_first BOOLEAN workers are made only when the leader is ready
recreated INTEGER events that a whole group was made anew
recreated_since TIMESTAMP when the first of these was seen
recreated_last TIMESTAMP when the newest of these was seen
exclusive VARCHAR the node label of which each group takes one value for itself, null where they share
domains INTEGER values of that label in the cluster, null where nodes were not collected whole
""",
    ),
    table(
        "lws_groups",
        "facts",
        "Groups of LeaderWorkerSets, counted from their pods.",
        """
object_id BIGINT the LeaderWorkerSet
group_index INTEGER number of the group
pods INTEGER pods of it that there are
ready INTEGER pods of it that are ready
leader VARCHAR state of its leader, null where there is none
why VARCHAR states of its pods that are not ready, with their number
pod VARCHAR the pod that is not ready longest, the leader before others
pod_id BIGINT that pod
pod_message VARCHAR what is said of that pod
since TIMESTAMP since when that pod is not ready
""",
    ),
    table(
        "job_runs",
        "facts",
        "Jobs of batch, JobSet, Kubeflow, AppWrapper, Volcano, Spark (of batch/v1 Jobs that completed those with a queue).",
        """
object_id BIGINT the job
input INTEGER its input
api_group VARCHAR its API group
kind VARCHAR its kind
namespace VARCHAR namespace
name VARCHAR name
state VARCHAR its state in the words of its kind, null where nothing says
reason VARCHAR reason behind the state
message VARCHAR message behind the state
since TIMESTAMP when the state began; without that, when the job was created
over BOOLEAN it has ended, or is being deleted
counted VARCHAR what is counted of its tries: failed pods or retries; null where its kind counts none
used INTEGER how many there were
allowed INTEGER how many it may have, null where it does not say
pods INTEGER pods of it in the bundle, those of jobs that it made too; null where there are none
pods_ready INTEGER of these, ready ones
pods_failed INTEGER of these, failed ones
failed_pod VARCHAR the pod that failed first, else one that keeps failing
failed_pod_id BIGINT that pod
failed_container VARCHAR the container of it that failed
failed_words VARCHAR how that ended, in words; else why the pod failed, null where nothing says
failed_code INTEGER its exit code
stuck_pod VARCHAR where none failed, a pod of it that cannot start, gets no node, or starts again and again
stuck_pod_id BIGINT that pod
stuck_words VARCHAR its state, and the reason for that
parent_id BIGINT the owner that made it, null where that is not in the bundle
parent VARCHAR its kind and name, null where no owner made it
""",
    ),
    table(
        "inference_pools",
        "facts",
        "InferencePools of the Gateway API Inference Extension.",
        """
object_id BIGINT the InferencePool
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
state VARCHAR Deleting, Not used (no gateway has taken it), Not accepted, References not resolved or Accepted
parents VARCHAR[] the gateways that have taken it or refused it, as kind and name
parent VARCHAR the one that the state is about
reason VARCHAR reason of the condition behind the state
message VARCHAR message of that condition
message_path VARCHAR where that stands
since TIMESTAMP when that condition last turned; of a pool that no gateway uses, when it was made
picker VARCHAR the Service of its endpoint picker, null where it names none
picker_id BIGINT that Service, null where it is not in the bundle
picker_path VARCHAR where its name stands
""",
    ),
    table(
        "gangs",
        "facts",
        "Pods that are placed together: PodGroups of Volcano and KAI Scheduler; sets, cliques and PodGangs of Grove.",
        """
object_id BIGINT the PodGroup, PodCliqueSet, PodCliqueScalingGroup, PodClique or PodGang
input INTEGER its input
api_group VARCHAR its API group
kind VARCHAR its kind
namespace VARCHAR namespace
name VARCHAR name
project VARCHAR Volcano, KAI Scheduler or Grove
queue VARCHAR the queue that it names; of Volcano, default without one; null for Grove
state VARCHAR as in states
reason VARCHAR the reason of its scheduler or controller for that
message VARCHAR its words for that
message_path VARCHAR where they stand in a PodGroup
since TIMESTAMP since when
members INTEGER pods that must be placed at once, null where it does not say
error VARCHAR what Grove's operator failed at last for it, in its words
error_at TIMESTAMP when
pods INTEGER pods of it in the bundle, null where there are none
pods_ready INTEGER of these, ready ones
pods_waiting INTEGER of these, those without a node
pods_gated INTEGER of these, those that a scheduling gate holds
parent VARCHAR kind and name of the owner that made it, null without one
parent_id BIGINT that owner, null where it is not in the bundle
""",
    ),
    table(
        "gang_queues",
        "facts",
        "Queues of Volcano and KAI Scheduler.",
        """
object_id BIGINT the Queue
input INTEGER its input
api_group VARCHAR its API group
project VARCHAR Volcano or KAI Scheduler
name VARCHAR name
parent VARCHAR the queue above it, null where it names none
missing VARCHAR a queue above it, at any height, that does not exist (KAI Scheduler then passes over this one)
state VARCHAR of Volcano its own word (Open, Closed, Closing, Unknown); of KAI Scheduler Active, Orphaned, At its limit
since TIMESTAMP of one being deleted, since when
""",
    ),
    table(
        "gang_queue_resources",
        "facts",
        "What these queues may use and use, resource by resource.",
        """
object_id BIGINT the Queue
resource VARCHAR the resource
quota VARCHAR its share (Volcano: deserved), null where it says none or no limit
most VARCHAR the most that it may use (Volcano: capability), null where it says none or no limit
used VARCHAR used by its status
asked VARCHAR asked for by its status, null where it does not say
at_most BOOLEAN as much is used as it may use
over_quota BOOLEAN more is used than its share
""",
    ),
    table(
        "gang_excess",
        "facts",
        "Resources of which a PodGroup of Volcano that is not let in asks for more than its queue has left of its capability.",
        """
object_id BIGINT the PodGroup
resource VARCHAR the resource
asks VARCHAR what it asks for at least (minResources)
used VARCHAR used in its queue
most VARCHAR the most that the queue may use
never BOOLEAN it asks for more than that alone
""",
    ),
    table(
        "nic_nodes",
        "facts",
        "Nodes that the NVIDIA Network Operator has marked.",
        """
object_id BIGINT the Node
input INTEGER its input
name VARCHAR name
waits BOOLEAN the network driver is awaited there: a GPU driver that uses RDMA does not start before it
upgrade VARCHAR where the upgrade of the network driver stands, null where nothing says
""",
    ),
    table(
        "inference_routes",
        "facts",
        "HTTPRoutes with an InferencePool among their backends.",
        """
object_id BIGINT the HTTPRoute
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
pools VARCHAR[] the pools, as namespace/name
pool_paths VARCHAR[] where the name of each of these stands first
parent VARCHAR the gateway that refuses it or cannot resolve what it names, as kind and name; null where none says so
type VARCHAR the condition by which it says so, Accepted or ResolvedRefs
reason VARCHAR reason of that condition
message VARCHAR message of that condition
message_path VARCHAR where that stands
since TIMESTAMP when that condition last turned
deleted BOOLEAN it is being deleted
""",
    ),
)
