"""Nodes and the platform below the workloads."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "node_restarts",
        "facts",
        "Restarts of nodes: by the kubelet's Event, the node's condition and lost containers, or many containers lost at once.",
        """
object_id BIGINT the Node
input INTEGER its input
node VARCHAR its name
back_at TIMESTAMP when it was back
from_at TIMESTAMP containers that ended from then on may have ended for it
to_at TIMESTAMP and until then
told BOOLEAN the kubelet says so; false where it is concluded; null where only containers lost at one moment tell
source_id BIGINT the object that tells (Event, Node or Pod)
path VARCHAR the field of it
value VARCHAR its value
""",
    ),
    table(
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
    table(
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
    table(
        "cluster_updates",
        "facts",
        "OpenShift: the newest update of the cluster, running or done, one row a ClusterVersion.",
        """
object_id BIGINT the ClusterVersion
target VARCHAR version that is wanted
running BOOLEAN the update is not complete
started_at TIMESTAMP when it began
ended_at TIMESTAMP when it was complete
lasts BIGINT seconds from its start to the end of the collection
least BOOLEAN the time of the collection is unknown: lasts counts to the newest change that an operator reports, and may be longer
unfinished VARCHAR version of the update before it, where that was never completed
completed VARCHAR version of the last complete update
""",
    ),
    table(
        "operator_troubles",
        "facts",
        "OpenShift: cluster operators that are degraded or not available.",
        """
object_id BIGINT the ClusterOperator
type VARCHAR Degraded or Available
idx INTEGER position in status.conditions, from 0
reason VARCHAR its reason
message VARCHAR its message
since TIMESTAMP since when
lasts BIGINT seconds from then to the end of the collection
least BOOLEAN the time of the collection is unknown: lasts counts to the newest change that an operator reports, and may be longer
updating BOOLEAN an update of the cluster runs
namespaces VARCHAR[] where its pods are, by its related objects: its own namespace first; null where it names none
""",
    ),
    table(
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
    table(
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
    table(
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
    table(
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
)
