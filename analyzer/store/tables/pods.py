"""Pods, their containers, and what makes them."""

from __future__ import annotations

from analyzer.store.tables.base import OBJECT, Table, table

TABLES: tuple[Table, ...] = (
    table(
        "pods",
        "facts",
        "One row a Pod that has a status.",
        """
object_id BIGINT the Pod
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
uid VARCHAR uid
node VARCHAR spec.nodeName, empty while unscheduled
phase VARCHAR status.phase
state VARCHAR its state, as in table states
reason VARCHAR reason behind the state
message VARCHAR message behind the state
since TIMESTAMP when the state began
ready BOOLEAN condition Ready is True
ready_since TIMESTAMP last turn of condition Ready
restarts INTEGER restarts of all containers
created_at TIMESTAMP created
deleted_at TIMESTAMP deletionTimestamp: when it should have been gone
scheduler VARCHAR spec.schedulerName
restart_policy VARCHAR spec.restartPolicy
scheduled_reason VARCHAR reason of condition PodScheduled where it is False
initialized BOOLEAN condition Initialized is True
started_at TIMESTAMP status.startTime: when the kubelet took it up
claims BOOLEAN it needs resource claims (spec.resourceClaims)
owner_id BIGINT top owner, null where it has none or it is not in the bundle
owner_group VARCHAR API group of the top owner
owner_kind VARCHAR kind of the top owner, empty where it has none
owner_name VARCHAR name of the top owner
owner_key VARCHAR kind, namespace and name of the top owner, to fold by; null where it has none
made_good BOOLEAN it failed, and its Job has succeeded since or has another pod at work
replaced BOOLEAN it failed, and its Job made that good or has made a newer pod for it
finalizers VARCHAR[] metadata.finalizers
gates VARCHAR[] names of spec.schedulingGates
mirror BOOLEAN static pod
""",
    ),
    table(
        "containers",
        "facts",
        "One row a container of a Pod, init and ephemeral ones too.",
        """
object_id BIGINT the Pod
namespace VARCHAR its namespace
pod VARCHAR its name
container VARCHAR name of the container
type VARCHAR init, sidecar (init container with restartPolicy Always), main or ephemeral
idx INTEGER position in its list in spec
status_path VARCHAR where its status stands, such as status.containerStatuses[0]; null where it has none
image VARCHAR image as in spec
ready BOOLEAN ready
started BOOLEAN started
restarts INTEGER restartCount
state VARCHAR waiting, running, terminated or none
reason VARCHAR reason of the current state
message VARCHAR message of the current state
exit_code INTEGER exit code where the current state is terminated
signal INTEGER signal where the current state is terminated
started_at TIMESTAMP start of the current state (running, terminated)
finished_at TIMESTAMP end where the current state is terminated
last_reason VARCHAR reason of the last termination
last_message VARCHAR message of the last termination
last_exit_code INTEGER exit code of the last termination
last_signal INTEGER signal of the last termination
last_started_at TIMESTAMP start of the last terminated run
last_finished_at TIMESTAMP end of the last terminated run
memory_limit VARCHAR limits.memory as written
log_id BIGINT its current log, see logs
previous_log_id BIGINT the log of its previous run, see logs
looping BOOLEAN it starts and ends again and again: waiting CrashLoopBackOff, or 3 restarts and the last end 10 min old at most
failing BOOLEAN it loops; or it is an init container that failed and has not succeeded since
end_path VARCHAR where its last end stands (the terminated one of state or lastState), null where it never ended
end_reason VARCHAR reason of its last end
end_code INTEGER exit code of its last end
end_words VARCHAR exit code or signal of its last end in words
end_message VARCHAR message of its last end
ended_at TIMESTAMP time of its last end
ran_seconds BIGINT how long its last run lasted
end_log_id BIGINT the log that tells best of its last run (previous, else current; of an ended container the current one)
pull_cause VARCHAR why its image cannot be pulled (not-found, auth, tls, network…), null where that is not the trouble
pull_words VARCHAR that cause in words
pull_message VARCHAR the message that says so (of the status, else of the newest event)
pull_event_id BIGINT the Event that has that message, null where the status has it
config_kind VARCHAR ConfigMap or Secret that the message of the waiting container calls missing
config_name VARCHAR its name
config_key VARCHAR the key that is missing in it, null where the whole object is
start_cause VARCHAR why it cannot be started (non-root, not-found, nvidia, cdi, hook…), null where that is not the trouble
start_words VARCHAR that cause in words
""",
    ),
    table(
        "oom_kills",
        "facts",
        "Processes that the kernel ended for want of memory, as its log tells, one row a process.",
        """
log_id BIGINT the log
line BIGINT the line that tells most
input INTEGER its input
at TIMESTAMP its time, null where nothing tells its zone
stamp VARCHAR the time as written, where it has no zone (or counts from the boot)
text VARCHAR the line
pid BIGINT number of the process on the host
process VARCHAR its name
rss BIGINT memory of its own that it held, in bytes; null where not told
scope VARCHAR limit (a limit of its cgroup was reached) or node (the node had no memory left)
of_pod BOOLEAN it was in a pod
pod_id BIGINT the Pod, null where that cannot be told
container VARCHAR the container, null where that cannot be told
how VARCHAR what the pod was told by, in words
node_id BIGINT the Node, null where that cannot be told
node VARCHAR its name, or that of the host
""",
    ),
    table(
        "scheduling_causes",
        "facts",
        "The scheduler's message of a Pending pod, taken apart.",
        """
object_id BIGINT the Pod
idx INTEGER position in the message, from 0
nodes INTEGER nodes this cause rules out, null where the message gives no count
nodes_total INTEGER nodes the scheduler looked at
cause VARCHAR insufficient, taint, affinity, pod-affinity, spread, ports, pvc, volume, cordoned, too-many-pods, dra, gang, other
resource VARCHAR the resource of an insufficient cause
taint VARCHAR key of an untolerated taint
text VARCHAR the cause in the scheduler's words
asked VARCHAR what the Pod asks for of the resource, where no node in the bundle has that much in all
largest VARCHAR the most of it that a node has, beside `asked`
""",
    ),
    table(
        "pod_holdups",
        "facts",
        "What holds a Pod that is bound and not started, by its events: the most telling one of each kind.",
        """
object_id BIGINT the Pod
event_id BIGINT the Event object
what VARCHAR config, mount, attach, sandbox or device
cause VARCHAR missing, key, host-path, csi-driver, multi-attach, timeout, network, runtime-class… or other
words VARCHAR that cause in words
config_kind VARCHAR ConfigMap or Secret that it calls missing
config_name VARCHAR its name
config_key VARCHAR the key that is missing in it
volume VARCHAR the volume it is about, as in spec.volumes
message VARCHAR the message of the event
times INTEGER how often it was seen
first_at TIMESTAMP first seen
last_at TIMESTAMP last seen
""",
    ),
    table(
        "controllers",
        "facts",
        "Deployments, StatefulSets, DaemonSets, ReplicaSets, ReplicationControllers and DeploymentConfigs.",
        OBJECT
        + """
wanted INTEGER pods wanted
created INTEGER pods that exist by its status
ready INTEGER pods ready
available INTEGER pods available
updated INTEGER pods at the newest revision
observed BOOLEAN status is of the current generation
paused BOOLEAN spec.paused
available_since TIMESTAMP last turn of condition Available
""",
    ),
)
