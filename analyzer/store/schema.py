"""The tables of `bundle.duckdb`: names, columns, types and what each column means.

This is the one place that says what a table looks like. Loading creates tables from it, `triage sql` prints it,
the documentation is made from it. All times are TIMESTAMP in UTC; what could not be read as a time is NULL.
"""

from __future__ import annotations

from dataclasses import dataclass

GENERATION = "triage.db/v1"
"""What the table meta of our databases says under `schema`: that it is ours, and of which generation."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its DuckDB type, and what it holds."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table; `stage` says who fills it: `parts` (the parse workers), `facts` or `result`."""

    name: str
    doc: str
    columns: tuple[Column, ...]
    stage: str

    def ddl(self) -> str:
        """The CREATE TABLE statement."""
        columns = ", ".join(f'"{column.name}" {column.type}' for column in self.columns)
        return f'CREATE TABLE "{self.name}" ({columns})'


def _table(name: str, stage: str, doc: str, columns: str) -> Table:
    """A table from one `name TYPE what it holds` line a column."""
    rows = [line.split(None, 2) for line in columns.splitlines() if line.strip()]
    return Table(name, doc, tuple(Column(n, t, d) for n, t, d in rows), stage)


_OBJECT = """
object_id BIGINT the object, see objects
api_group VARCHAR API group, empty for core
kind VARCHAR kind
namespace VARCHAR namespace, empty for cluster-scoped objects
name VARCHAR name
"""

_WHOLE_OBJECT = """
object_id BIGINT identifies the object in this database
input INTEGER the input it was read from
api_group VARCHAR API group, empty for core
version VARCHAR API version without the group
kind VARCHAR kind
namespace VARCHAR namespace, empty for cluster-scoped objects
name VARCHAR name
uid VARCHAR metadata.uid, empty where there is none
resource_version VARCHAR metadata.resourceVersion
created_at TIMESTAMP metadata.creationTimestamp
deleted_at TIMESTAMP metadata.deletionTimestamp
file_id INTEGER the file of the newest source
line INTEGER its first line there
byte_offset BIGINT where its text starts there
byte_length BIGINT how long that text is
whole BOOLEAN false where it was salvaged from damaged text
json JSON the whole object, secrets masked
"""

# What the parse workers write: one NDJSON file a worker and table, keys as the columns.
PARTS: tuple[Table, ...] = (
    _table(
        "part_objects",
        "parts",
        "One row for each place where an object was read; the same object may be there several times.",
        """
file_id INTEGER the file it was read from, see files
idx INTEGER position among the objects of that file, from 0
line INTEGER line of the object's first byte, from 1
byte_offset BIGINT where the object's text starts in the (decompressed) file
byte_length BIGINT how long that text is
api_group VARCHAR API group, empty for core
version VARCHAR API version without the group
kind VARCHAR kind
namespace VARCHAR namespace, empty for cluster-scoped objects
name VARCHAR name
uid VARCHAR metadata.uid, empty where there is none
resource_version VARCHAR metadata.resourceVersion, empty where there is none
whole BOOLEAN false where the object was salvaged from damaged text and may lack fields
json JSON the object, secrets masked, managedFields dropped
""",
    ),
    _table(
        "part_lists",
        "parts",
        "One row for each list of objects that a file holds (or stands for), also for empty ones.",
        """
file_id INTEGER the file
api_group VARCHAR API group of the items
kind VARCHAR kind of the items
namespace VARCHAR the namespace that the list covers; '*' for all namespaces or a cluster-scoped kind
objects INTEGER items read
complete BOOLEAN true where the list was read to its end and nothing says that it was cut
""",
    ),
    _table(
        "part_logs",
        "parts",
        "One row for each log file with at least one byte, or known to be empty on purpose.",
        """
file_id INTEGER the file
part INTEGER several logs in one file (cluster-info dump): 0, 1, 2…
namespace VARCHAR namespace of the pod, empty where the log is no container's
pod VARCHAR pod, empty where the log is no container's
container VARCHAR container, empty where the log is no container's
source VARCHAR current, previous, rotated, service (of a host), audit or other
bytes BIGINT size of the text
lines BIGINT number of lines
first_line INTEGER line of the file where this log starts, from 1
first_at VARCHAR time of the first line that has one, RFC 3339 UTC, or null
last_at VARCHAR time of the last line that has one, RFC 3339 UTC, or null
tail VARCHAR the last 50 lines, at most 8 KB, secrets masked, control characters replaced
tail_line BIGINT line of the file where the tail starts, from 1
""",
    ),
    _table(
        "part_documents",
        "parts",
        "Files of a bundle that are no Kubernetes objects but that rules read, whole, as JSON.",
        """
file_id INTEGER the file
role VARCHAR alerts, prometheus-rules, etcd-endpoint-health, etcd-alarm-list, etcd-member-list, foreign-analysis, version, …
json JSON the content, secrets masked
""",
    ),
    _table(
        "part_files",
        "parts",
        "What became of each file that was to be read.",
        """
file_id INTEGER the file
status VARCHAR read, partial or unread
line INTEGER line of the first problem, null where there is none
error VARCHAR what went wrong, in one line, null where nothing did
lost INTEGER how many objects or documents are known to be lost; null where that is not known
""",
    ),
    _table(
        "part_errors",
        "parts",
        "What the collection itself says it could not get (gather.logs, *.stderr, *-errors.json).",
        """
file_id INTEGER the file that says so
line INTEGER the line
kind VARCHAR failed, forbidden, not-served or timeout
subject VARCHAR what could not be got: a plural with group, a namespace, a path; empty where unknown
message VARCHAR the words of the file, secrets masked
""",
    ),
)

TABLES: tuple[Table, ...] = (
    _table(
        "inputs",
        "parts",
        "The inputs of this case, in the order given.",
        """
input INTEGER index, from 0
path VARCHAR as given on the command line
format VARCHAR must-gather, inspect, cluster-info, support-bundle, plain, log, …
sha256 VARCHAR of the input file, null for a directory
bytes BIGINT size of the input
format_at TIMESTAMP the end of the collection as the format itself says, null where it does not
format_source VARCHAR where that time stands
collected_at TIMESTAMP the end of the collection, null where nothing says
collected_source VARCHAR where that time comes from, in words
as_of TIMESTAMP the moment ages are measured at: collected_at, or what --as-of says
complete BOOLEAN false where the input itself is cut
error VARCHAR what is wrong with the input as a whole, null where nothing is
""",
    ),
    _table(
        "files",
        "parts",
        "Every file of the inputs.",
        """
file_id INTEGER index over all inputs, from 0
input INTEGER the input it is in
path VARCHAR as in the input
bytes BIGINT size
root VARCHAR folder of the bundle in the input that it belongs to, empty for the input itself
format VARCHAR format of that root
role VARCHAR objects, log, document, errors, meta, skipped (known, not read) or unsafe
status VARCHAR read, empty, skipped, partial or unread
line INTEGER line of the first problem
error VARCHAR what went wrong, or why it was skipped
lost INTEGER how many objects are known to be lost, null where unknown
""",
    ),
    _table(
        "objects",
        "parts",
        "Every Kubernetes object once, as in its newest source; with several inputs as in the newest of them.",
        _WHOLE_OBJECT,
    ),
    _table(
        "gone_objects",
        "facts",
        "With several inputs: objects that a newer input's complete list lacks. They are in no finding and in no table of facts.",
        _WHOLE_OBJECT + "gone_by INTEGER the newer input that no longer has it\n",
    ),
    _table(
        "sources",
        "parts",
        "Every place where an object was read.",
        """
object_id BIGINT the object, in objects or gone_objects
file_id INTEGER the file
idx INTEGER position among the objects of that file, from 0
line INTEGER its first line there
resource_version VARCHAR as read there
chosen BOOLEAN true for the source that objects shows
differs BOOLEAN true where this source has another resourceVersion than the chosen one
""",
    ),
    _table(
        "lists",
        "parts",
        "Every list of objects in the bundle, also empty ones: what lets anything say that there are none.",
        """
file_id INTEGER the file
api_group VARCHAR API group of the items
kind VARCHAR kind of the items
namespace VARCHAR the namespace covered; * for all namespaces or a cluster-scoped kind
objects INTEGER items read
complete BOOLEAN read to its end, nothing cut
""",
    ),
    _table(
        "logs",
        "parts",
        "Every log file, with its last lines.",
        """
log_id BIGINT identifies the log in this database
file_id INTEGER the file
namespace VARCHAR namespace of the pod, empty where it is no container's
pod VARCHAR pod
container VARCHAR container
source VARCHAR current, previous, rotated, service, audit or other
bytes BIGINT size
lines BIGINT number of lines
first_line INTEGER line of the file where it starts
first_at TIMESTAMP time of its first line
last_at TIMESTAMP time of its last line
tail VARCHAR the last lines
tail_line BIGINT line of the file where the tail starts
""",
    ),
    _table(
        "documents",
        "parts",
        "Files that are no Kubernetes objects but that rules read.",
        """
file_id INTEGER the file
role VARCHAR what it is; older-… where a newer input has one of the same role
json JSON its content
""",
    ),
    _table(
        "collect_errors",
        "parts",
        "What the collection itself says it could not get.",
        """
file_id INTEGER the file that says so
line INTEGER the line
kind VARCHAR failed, forbidden, not-served or timeout
subject VARCHAR what could not be got
message VARCHAR its words
""",
    ),
    _table(
        "coverage",
        "facts",
        "For each kind found or needed: was it collected whole, over which scope.",
        """
api_group VARCHAR API group
kind VARCHAR kind
objects INTEGER objects of it in this bundle
scope VARCHAR[] ['*'] for the whole cluster, else the namespaces
status VARCHAR complete, absent, partial, not-collected, forbidden or removed
reason VARCHAR why it is not complete, in words
""",
    ),
    _table(
        "states",
        "facts",
        "The state of every object of a kind that has named states.",
        _OBJECT
        + """
state VARCHAR the state
reason VARCHAR the cluster's reason, null where there is none
message VARCHAR the cluster's words, or what the state was concluded from
since TIMESTAMP when it began, null where nothing says
""",
    ),
    _table(
        "conditions",
        "facts",
        "status.conditions of every object (only lists of mappings with a type).",
        _OBJECT
        + """
idx INTEGER position in the list, from 0
type VARCHAR type
status VARCHAR True, False or Unknown
reason VARCHAR reason
message VARCHAR message
since TIMESTAMP lastTransitionTime
""",
    ),
    _table(
        "events",
        "facts",
        "Events of both APIs.",
        """
object_id BIGINT the Event object
input INTEGER its input
namespace VARCHAR namespace of the event
type VARCHAR Normal or Warning
reason VARCHAR reason
message VARCHAR message (note)
about_id BIGINT the object it is about, null where that is not in the bundle
about_group VARCHAR its API group
about_kind VARCHAR its kind
about_namespace VARCHAR its namespace, empty for cluster-scoped ones
about_name VARCHAR its name
about_uid VARCHAR its uid
field_path VARCHAR the part of it, such as spec.containers{app}
times INTEGER how often it was seen
first_at TIMESTAMP first seen
last_at TIMESTAMP last seen
component VARCHAR who reported it
host VARCHAR on which node
""",
    ),
    _table(
        "owners",
        "facts",
        "metadata.ownerReferences.",
        """
object_id BIGINT the owned object
owner_id BIGINT the owner, null where it is not in the bundle
owner_group VARCHAR its API group
owner_kind VARCHAR its kind
owner_name VARCHAR its name
owner_uid VARCHAR its uid
controller BOOLEAN it is the managing controller
""",
    ),
    _table(
        "top_owners",
        "facts",
        "For each owned object the last owner up its chain of controllers (a pod's Deployment, a Job's CronJob).",
        """
object_id BIGINT the owned object
owner_id BIGINT the top owner, null where it is not in the bundle
owner_group VARCHAR its API group
owner_kind VARCHAR its kind
owner_namespace VARCHAR its namespace
owner_name VARCHAR its name
""",
    ),
    _table(
        "relations",
        "facts",
        "Edges along which trouble spreads: what is wrong with src shows in dst.",
        """
src BIGINT the object where the trouble is
dst BIGINT the object where it shows
kind VARCHAR owner (pod → ReplicaSet → Deployment), node (Node → pod on it), taint (Node → pod it keeps out), pvc, pv, …
""",
    ),
    _table(
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
    _table(
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
    _table(
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
""",
    ),
    _table(
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
    _table(
        "log_ends",
        "facts",
        "Last words of containers that ended, fail or are not ready: the last 5 lines of the log, and the most telling one.",
        """
log_id BIGINT the log
line BIGINT line of the log's file
text VARCHAR the line, cut where it is long
words VARCHAR the line without a time in front
telling BOOLEAN the one line of this log that tells most: the last that speaks of an error, else the last
""",
    ),
    _table(
        "service_endpoints",
        "facts",
        "How many addresses a Service has, ready and not (from EndpointSlices, else from Endpoints).",
        """
namespace VARCHAR namespace
service VARCHAR name of the Service
object_id BIGINT an Endpoints or EndpointSlice object that says so
kind VARCHAR EndpointSlice or Endpoints
ready INTEGER addresses that are ready
not_ready INTEGER addresses that are not
""",
    ),
    _table(
        "quota_refusals",
        "facts",
        "What a ResourceQuota refused, one row a place that says so and resource, with what the quota says now.",
        """
object_id BIGINT the object whose pods (or other objects) were refused, null where it is not in the bundle
input INTEGER its input
namespace VARCHAR the namespace
quota VARCHAR name of the ResourceQuota
quota_id BIGINT the ResourceQuota, null where it is not in the bundle
resource VARCHAR the resource that did not fit, such as requests.cpu
requested VARCHAR how much the refused request asked for
used VARCHAR how much is used, by the quota's status, else by the refusal
hard VARCHAR the limit, by the quota's status, else by the refusal
current BOOLEAN the limit is that of the quota's status
exceeds BOOLEAN requested and used together are more than the limit, null where a quantity cannot be read
source_id BIGINT the Event, or the object with the condition, that says so
source_path VARCHAR the field that says so
message VARCHAR the words
times INTEGER how often it was seen
first_at TIMESTAMP first seen
last_at TIMESTAMP last seen, null for a condition
""",
    ),
    _table(
        "custom_faults",
        "facts",
        "Conditions by which custom resources without rules of their own say that something is wrong.",
        _OBJECT
        + """
idx INTEGER position in status.conditions, from 0
type VARCHAR Ready, Available, Degraded or Failing
status VARCHAR its status, the bad one
reason VARCHAR reason
message VARCHAR message
since TIMESTAMP lastTransitionTime
""",
    ),
    _table(
        "certificates",
        "facts",
        "X.509 certificates that the bundle holds; fields with more than 20 of them (stores of public roots) are left out.",
        """
object_id BIGINT the object
input INTEGER its input
path VARCHAR the field, such as data["ca.crt"] or status.certificate
idx INTEGER position in that field, from 0
role VARCHAR own (the object's own certificate, then its chain) or trust (what is trusted)
subject VARCHAR common name, else the whole name
issuer VARCHAR the same of who signed it
fingerprint VARCHAR SHA-256 of the certificate
authority BOOLEAN it is that of a certificate authority
not_before TIMESTAMP valid from
not_after TIMESTAMP valid to
replaced BOOLEAN out of use: its requester has asked anew, or it is kept for an older revision (NAME-7 beside NAME)
short BOOLEAN meant to be renewed in time by the cluster itself: it says so, or lives for 14 days at most
""",
    ),
    _table(
        "drain_blocks",
        "facts",
        "Pods on cordoned nodes that cannot be evicted, because a PodDisruptionBudget allows no disruption.",
        """
node_id BIGINT the Node
pod_id BIGINT the Pod
namespace VARCHAR its namespace
pod VARCHAR its name
budget_id BIGINT the PodDisruptionBudget
budget VARCHAR its name
expected INTEGER pods that it counts
healthy INTEGER of these, healthy ones
desired INTEGER healthy ones that there must be
""",
    ),
    _table(
        "webhooks",
        "facts",
        "The webhooks of ValidatingWebhookConfigurations and MutatingWebhookConfigurations.",
        """
object_id BIGINT the configuration
kind VARCHAR its kind
configuration VARCHAR its name
idx INTEGER position in webhooks, from 0
webhook VARCHAR name of the webhook
failure_policy VARCHAR Fail or Ignore
service_namespace VARCHAR namespace of its Service, null where it is called by URL
service VARCHAR name of its Service
service_id BIGINT the Service, null where it is not in the bundle
""",
    ),
    _table(
        "webhook_failures",
        "facts",
        "Where the API server's words 'failed calling webhook' stand, one row a place.",
        """
webhook VARCHAR name of the webhook
configuration_id BIGINT the configuration that has it, null where it is not in the bundle
source VARCHAR event, condition or log
object_id BIGINT what the event is about, or the object with the condition; null for a log
event_id BIGINT the Event object of an event
path VARCHAR the field that says so (status.conditions[0].message)
log_id BIGINT the log
line BIGINT the line of the log's file
cause VARCHAR no-endpoints, service-missing, refused, timeout, certificate, denied or other
words VARCHAR that cause in words
message VARCHAR the words
first_at TIMESTAMP first seen
last_at TIMESTAMP last seen
""",
    ),
    _table(
        "nodes",
        "facts",
        "One row a Node.",
        """
object_id BIGINT the Node
input INTEGER its input
name VARCHAR name
state VARCHAR Unknown, Not ready, Cordoned or Ready
reason VARCHAR reason of condition Ready
message VARCHAR message of condition Ready
since TIMESTAMP since when it is in this state
ready VARCHAR status of condition Ready, null where there is none
cordoned BOOLEAN spec.unschedulable
cordoned_since TIMESTAMP timeAdded of the unschedulable taint
cordon_hint VARCHAR what may have cordoned it, by the marks that tools leave on a node, in words
cordon_path VARCHAR the field that says so
cordon_value VARCHAR its value
roles VARCHAR[] from the node-role labels
taints VARCHAR[] key=value:effect
kubelet VARCHAR version of the kubelet
os VARCHAR OS image
kernel VARCHAR kernel version
runtime VARCHAR container runtime and version
gpu BOOLEAN has GPUs by its labels or resources
gpus INTEGER GPUs by label, else by capacity, null where nothing says
heartbeat_at TIMESTAMP newest of lease renewal and condition heartbeats
""",
    ),
    _table(
        "controllers",
        "facts",
        "Deployments, StatefulSets, DaemonSets, ReplicaSets, ReplicationControllers and DeploymentConfigs.",
        _OBJECT
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
    _table(
        "olm_installs",
        "facts",
        "Operators that OLM installs: a row a ClusterServiceVersion, and an InstallPlan or Subscription that failed without it.",
        """
object_id BIGINT the ClusterServiceVersion, InstallPlan or Subscription
home VARCHAR namespace that the operator is installed in (of a copy: where its original lies)
namespace VARCHAR namespace of the object
name VARCHAR name of the object
kind VARCHAR its kind
copied BOOLEAN it is a copy that OLM made of a ClusterServiceVersion of another namespace
verdict VARCHAR failed, waiting (being installed or replaced) or well
phase VARCHAR status.phase
reason VARCHAR reason of the phase, of a copy the original's
message VARCHAR message of the phase, of a copy the original's
reason_path VARCHAR field that the reason stands in
message_path VARCHAR field that the message stands in
since TIMESTAMP when the phase began
unmet VARCHAR requirements that are not met, in words
unmet_path VARCHAR field of the first of them
plan_id BIGINT its InstallPlan, where that failed
plan_message VARCHAR why the InstallPlan failed
plan_path VARCHAR field that says so
subscription_id BIGINT its Subscription, where that says that something failed
subscription_message VARCHAR what the Subscription says
subscription_path VARCHAR field that says so
""",
    ),
    _table(
        "alerts",
        "facts",
        "Alerts that Prometheus had pending or firing.",
        """
file_id INTEGER the document it stands in
name VARCHAR name of the alert
state VARCHAR pending or firing
severity VARCHAR severity label
object_id BIGINT the nearest object in the bundle that its labels name
labels VARCHAR labels in words
text VARCHAR message, description or summary of the alert
active_at TIMESTAMP since when
""",
    ),
    _table(
        "foreign_findings",
        "facts",
        "What another tool concluded when it made the bundle (analysis.json of troubleshoot). Theirs, not ours.",
        """
file_id INTEGER the file that says so
name VARCHAR name of the check
title VARCHAR what it is about, in words
severity VARCHAR as that tool has it: error, warn, info or debug (nothing is wrong); null where it says none
message VARCHAR what it found
""",
    ),
    _table(
        "etcd_checks",
        "facts",
        "What etcd itself says: health of each endpoint, alarms, members.",
        """
file_id INTEGER the document it stands in
about VARCHAR endpoint, alarm or member
name VARCHAR the endpoint, or the name of the member
ok BOOLEAN nothing is wrong with it
message VARCHAR what is wrong with it, in etcd's words or as a name of an alarm
object_id BIGINT the ClusterOperator etcd, else the Node that the member runs on, where the bundle has one
""",
    ),
    _table(
        "findings",
        "result",
        "What the rules found, as in report.json.",
        """
id VARCHAR stable id
code VARCHAR rule code
severity VARCHAR error, warning or info
object_id BIGINT the object, null where it is none of the bundle's
api_group VARCHAR its API group
kind VARCHAR its kind
namespace VARCHAR its namespace
name VARCHAR its name
title VARCHAR title
message VARCHAR message
since TIMESTAMP since when
owner VARCHAR who can act
waiting VARCHAR does waiting help
basis VARCHAR observed or deduced
count INTEGER how many it folds together
incident VARCHAR the incident it belongs to
json JSON the finding as in report.json
""",
    ),
    _table(
        "incidents",
        "result",
        "Findings joined by cause, most important first.",
        """
rank INTEGER from 1
id VARCHAR stable id
title VARCHAR title
root VARCHAR id of the finding that explains the others
json JSON the incident as in report.json
""",
    ),
    _table(
        "not_evaluated",
        "result",
        "Rules that could not be evaluated, and why.",
        """
code VARCHAR rule code, or DOMAIN/*
reason VARCHAR why
needs VARCHAR[] what is missing
ask VARCHAR[] commands that collect it
""",
    ),
    _table(
        "meta",
        "result",
        "About this database.",
        """
key VARCHAR tool-version, schema, rules-digest, …
value VARCHAR its value
""",
    ),
)

BY_NAME: dict[str, Table] = {table.name: table for table in (*PARTS, *TABLES)}
