"""GPU nodes, their resources, MIG layouts, and what the MIG manager says."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "gpu_nodes",
        "facts",
        "Nodes that show NVIDIA GPUs in labels or resources, as the GPU Operator, GPU feature discovery and NFD label them.",
        """
object_id BIGINT the Node
input INTEGER its input
name VARCHAR name of the Node
present VARCHAR label nvidia.com/gpu.present as written
pci_label VARCHAR the label of node feature discovery that says there is an NVIDIA device, null where none does
found_at TIMESTAMP when the GPU Operator noted that it has GPUs, else when that label was written; null where nothing says
product VARCHAR model, as labelled (-SHARED and -MIG-PROFILE are added by GPU feature discovery)
count INTEGER label nvidia.com/gpu.count: GPUs (with MIG strategy single: MIG devices)
memory_mib BIGINT label nvidia.com/gpu.memory, in MiB
replicas INTEGER how many pods share a GPU, by label
sharing VARCHAR none, time-slicing or mps
driver VARCHAR version of the driver, by label
cuda VARCHAR newest CUDA version that the driver knows, by label
mig_capable BOOLEAN label nvidia.com/mig.capable
mig_strategy VARCHAR none, single or mixed, as GPU feature discovery runs; null where not set
mig_config VARCHAR label nvidia.com/mig.config: the layout asked for
mig_state VARCHAR label nvidia.com/mig.config.state: pending, rebooting, success or failed; null where never changed
mig_since TIMESTAMP when that label was last written, null where nothing says
mig_set_at TIMESTAMP when the layout was asked for, null where nothing says
mig_paused VARCHAR[] deploy labels that stand at paused-for-mig-change
mig_paused_since TIMESTAMP when the newest of them was written, null where nothing says
driver_paused VARCHAR[] deploy labels that stand at paused-for-driver-upgrade
opt_outs VARCHAR[] what somebody switched off on purpose: labels nvidia.com/gpu.deploy.* that are false
workload_config VARCHAR label nvidia.com/gpu.workload.config: container, vm-passthrough or vm-vgpu
plugin_config VARCHAR label nvidia.com/device-plugin.config
upgrade_state VARCHAR label nvidia.com/gpu-driver-upgrade-state
upgrade_since TIMESTAMP when that label was last written, or the start that an annotation names; null where nothing says
upgrade_skip BOOLEAN label nvidia.com/gpu-driver-upgrade.skip is true
capacity BIGINT GPUs, shares of GPUs and MIG devices that the node has; null where its capacity was not collected
allocatable BIGINT of these, healthy ones
own_plugin BOOLEAN false where the device plugin is switched off, or a GPUCluster or DRA driver offers the GPUs in its place
""",
    ),
    table(
        "gpu_resources",
        "facts",
        "What a Node offers of each nvidia.com resource.",
        """
object_id BIGINT the Node
input INTEGER its input
node VARCHAR its name
resource VARCHAR name, such as nvidia.com/gpu or nvidia.com/mig-1g.10gb
kind VARCHAR gpu (whole or shared GPUs), mig (MIG devices), vm (devices for virtual machines) or other
capacity BIGINT devices that are registered
allocatable BIGINT of these, healthy ones
requested BIGINT what running and starting pods on the node ask for
replicas INTEGER how many times each device is offered, by the label of GPU feature discovery; above 1 it is shared
""",
    ),
    table(
        "gpu_requests",
        "facts",
        "What each Pod asks for of nvidia.com resources.",
        """
object_id BIGINT the Pod
resource VARCHAR name of the resource
request BIGINT how many
path VARCHAR the field that asks for most
""",
    ),
    table(
        "mig_configs",
        "facts",
        "Layouts that the ConfigMaps of the MIG manager define, one row a rule of a layout and profile.",
        """
object_id BIGINT the ConfigMap
namespace VARCHAR its namespace
configmap VARCHAR its name
config VARCHAR name of the layout, as label nvidia.com/mig.config names it
idx INTEGER position of the rule in the layout, from 0
filtered BOOLEAN the rule is for certain models only (device-filter)
devices INTEGER GPUs it names by index, null for all
enabled BOOLEAN mig-enabled
profile VARCHAR profile of a MIG device, such as 1g.10gb; null where the rule makes none
per_gpu INTEGER MIG devices of that profile on each GPU
""",
    ),
    table(
        "mig_managers",
        "facts",
        "For each GPU node with a MIG manager or a layout: the manager's pod and log, and the ConfigMap that it reads.",
        """
object_id BIGINT the Node
pod_id BIGINT the pod of the MIG manager on this node, null where the bundle has none
pod VARCHAR its namespace and name
log_id BIGINT its current log
log_last_at TIMESTAMP time of the last line of that log
configmap VARCHAR namespace and name of the ConfigMap with the layouts, null where that cannot be told
configmap_id BIGINT that ConfigMap, null where it is not in the bundle
configmap_error VARCHAR why its layouts cannot be read, null where they can
""",
    ),
    table(
        "mig_layouts",
        "facts",
        "Nodes whose MIG layout was applied, or is called invalid: what they offer held against the layout.",
        """
object_id BIGINT the Node
strategy VARCHAR MIG strategy: by label, else by the ClusterPolicy
differences VARCHAR[] what differs, in words; empty where all is as it should be or cannot be told
resource VARCHAR the first resource that differs, null where the node has none of that name
unknown VARCHAR why it cannot be told, null where it can
""",
    ),
    table(
        "mig_words",
        "facts",
        "What the MIG manager's log says went wrong with the newest change of a node's MIG layout, with what it means.",
        """
object_id BIGINT the Node
log_id BIGINT the log
line BIGINT the line of the log's file
at TIMESTAMP its time, null where it has none
signature VARCHAR which line it is, see log_hits
text VARCHAR the line
cause VARCHAR what it means, in words
remedy VARCHAR what to do about it, in words
waits BOOLEAN it is said again and again while the manager waits
rank INTEGER how near to the root cause it is: 1 is the line that tells most of this node's newest change
""",
    ),
    table(
        "gpu_policies",
        "facts",
        "ClusterPolicies, NVIDIADrivers and GPUClusters: what the GPU Operator says of them.",
        """
object_id BIGINT the object
input INTEGER its input
kind VARCHAR ClusterPolicy, NVIDIADriver or GPUCluster
name VARCHAR its name
state VARCHAR Ready, Not ready, Disabled or Ignored
reason VARCHAR reason of the condition that tells (Error where it failed)
message VARCHAR its message
since TIMESTAMP when condition Ready turned, null where nothing says
path VARCHAR the field that tells
reported BOOLEAN it has a status
active BOOLEAN it is heeded: the oldest ClusterPolicy; an NVIDIADriver or GPUCluster that is neither disabled nor ignored
not_ready VARCHAR[] the operator's states that its message calls not ready, such as state-driver
namespace VARCHAR namespace of the operator, null where it is not known
release VARCHAR release of the operator (year.month), null where it is not known
uses_drivers BOOLEAN spec.driver.useNvidiaDriverCRD: the driver is left to NVIDIADrivers
selector VARCHAR nodes an NVIDIADriver is for (spec.nodeSelector)
""",
    ),
    table(
        "gpu_components",
        "facts",
        "Parts of the GPU Operator, held against the ClusterPolicy that counts. In table states: kind GpuOperatorComponent.",
        """
name VARCHAR its name, as in the labels nvidia.com/gpu.deploy.NAME
operator_state VARCHAR what the operator's messages call it, such as state-driver
policy_id BIGINT the ClusterPolicy
state VARCHAR Rolled out, Not rolled out, Missing, Not expected or See NVIDIADriver; null where it cannot be told
unknown VARCHAR why it cannot be told
message VARCHAR what the state was concluded from
field VARCHAR field of the ClusterPolicy that switches it on, null where it is always on
why VARCHAR why it is expected or not
trouble VARCHAR not-ready, not-updated, update-pending, unseen, missing, unlabelled, left-out or no-driver; null where all is well
waits BOOLEAN nothing is wrong with it but that it waits for another part
pods_missing BOOLEAN by its count more pods are not ready than the bundle has
waits_for VARCHAR[] the parts that its pods wait for, the first broken ones
daemonset_id BIGINT its DaemonSet (of several the first that is not rolled out), null where the bundle has none
namespace VARCHAR namespace of the DaemonSet
daemonset VARCHAR name of the DaemonSet, also where it is missing
daemonsets INTEGER how many DaemonSets it has
on_delete BOOLEAN its pods are replaced only when they are deleted (update strategy OnDelete)
wanted INTEGER pods that its DaemonSets want
ready INTEGER of these, ready
updated INTEGER of these, of the newest revision
since TIMESTAMP since when it is not rolled out, null where nothing says
not_before TIMESTAMP the earliest moment it can have been wanted, where nothing says since when
pods VARCHAR[] its pods that are not ready and wait for no other part (else all that are not ready), in words
nodes VARCHAR[] the nodes of these
unlabelled VARCHAR[] GPU nodes that need it and lack its deploy label
left_out VARCHAR[] GPU nodes that are labelled for it and have no pod of it
paused VARCHAR[] GPU nodes on which it is paused for a change
upgrades VARCHAR[] of the driver: nodes with an upgrade that is not done, and its state
""",
    ),
    table(
        "gpu_operator_pods",
        "facts",
        "Pods of the parts of the GPU Operator, and what they wait for.",
        """
object_id BIGINT the Pod
node VARCHAR the node it is on
component VARCHAR the part, see gpu_components
daemonset_id BIGINT its DaemonSet
ready BOOLEAN it is ready
since TIMESTAMP since when it is not
container VARCHAR the init container that holds it, null where none does
layer VARCHAR the part whose work that init container waits for
cause_id BIGINT the first broken link on this node: a Pod, or the object that should have made one; null where it is that itself
cause_component VARCHAR the part of the first broken link
""",
    ),
)
