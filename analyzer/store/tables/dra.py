"""Dynamic Resource Allocation: claims, what pods need of them, pools and devices."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "claims",
        "facts",
        "One row a ResourceClaim, read by the fields that it has, whatever its API version.",
        """
object_id BIGINT the ResourceClaim
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
uid VARCHAR uid
state VARCHAR its state, as in table states
reason VARCHAR reason behind the state
message VARCHAR message behind the state
since TIMESTAMP when the state began, null where nothing says
requests VARCHAR[] its requests as written, in words; alternatives in their order
devices VARCHAR[] allocated devices, as driver/pool/device
node VARCHAR the node that the allocation is pinned to, null where it is not pinned to exactly one
node_selector VARCHAR the allocation's node selector in words, where it is not such a pin
users VARCHAR[] who it is reserved for: pods by name, other kinds as kind/name
unbound VARCHAR[] binding conditions that are not True
allocated_at TIMESTAMP when it was allocated, null where nothing says
""",
    ),
    table(
        "claim_requests",
        "facts",
        "What a ResourceClaim asks for: one row a request, with `firstAvailable` one row an alternative.",
        """
object_id BIGINT the ResourceClaim
request VARCHAR name of the request, with an alternative's name after a slash
class VARCHAR name of the DeviceClass
mode VARCHAR ExactCount or All
count INTEGER how many, null with All
admin BOOLEAN it asks for admin access
selectors VARCHAR[] CEL expressions as written; nothing here evaluates them
path VARCHAR the field that names the class
""",
    ),
    table(
        "claim_devices",
        "facts",
        "Devices that are allocated to a ResourceClaim.",
        """
object_id BIGINT the ResourceClaim
idx INTEGER position in status.allocation.devices.results, from 0
request VARCHAR the request it was allocated for
driver VARCHAR driver
pool VARCHAR pool
device VARCHAR device
share VARCHAR id of the share of the device, null for a whole one
admin BOOLEAN admin access: it occupies nothing
failed VARCHAR the condition that the allocation names as a failure of binding and that is True
failed_path VARCHAR field that says so
failed_message VARCHAR its message, else its reason
failed_since TIMESTAMP since when
""",
    ),
    table(
        "claim_users",
        "facts",
        "Who a ResourceClaim is reserved for (status.reservedFor).",
        """
object_id BIGINT the ResourceClaim
idx INTEGER position in the list, from 0
resource VARCHAR pods, or another resource
name VARCHAR its name
uid VARCHAR its uid
""",
    ),
    table(
        "pod_claims",
        "facts",
        "The claims that a Pod needs.",
        """
object_id BIGINT the Pod
ref VARCHAR the Pod's own name for the claim
how VARCHAR direct, template, group (shared with its PodGroup), extended (the scheduler made it for a resource) or unknown
template VARCHAR the ResourceClaimTemplate
claim VARCHAR name of the ResourceClaim, null where there is none yet
claim_id BIGINT the ResourceClaim, null where it is not in the bundle
status VARCHAR found, missing (the complete list lacks it), not-created, not-owned, not-needed or unknown
path VARCHAR the field of the Pod that names it
""",
    ),
    table(
        "claim_waits",
        "facts",
        "Pending Pods that wait for a claim, one row a claim; only where the cluster has a DeviceClass.",
        """
object_id BIGINT the Pod
ref VARCHAR the Pod's own name for the claim
claim VARCHAR name of the ResourceClaim, else of its template
claim_id BIGINT the ResourceClaim, null where it is not in the bundle
why VARCHAR unallocated, missing, not-created or not-owned
path VARCHAR the field of the Pod that names it
""",
    ),
    table(
        "dra_reasons",
        "facts",
        "What the scheduler says about claims and devices, phrase by phrase.",
        """
object_id BIGINT the Pod
idx INTEGER position, from 0
reason VARCHAR which phrase it is: no-devices, elsewhere, in-use, no-class, selector…
words VARCHAR what it means
name VARCHAR the name in it (class, claim, pool), null where it has none
nodes INTEGER nodes it counts, null where it counts none
text VARCHAR the scheduler's words
""",
    ),
    table(
        "device_pools",
        "facts",
        "Pools of devices: the newest generation of each driver's pool.",
        """
slice_id BIGINT one of its ResourceSlices
input INTEGER its input
driver VARCHAR driver
pool VARCHAR name of the pool
generation BIGINT newest generation
slices INTEGER slices of that generation that are there
wanted INTEGER slices that there should be
complete BOOLEAN all of them are there, and nothing in them contradicts itself
invalid VARCHAR what contradicts itself, null where nothing does
node VARCHAR the node that all its devices belong to, null where it is not one
""",
    ),
    table(
        "devices",
        "facts",
        "Every device of the newest generation of every pool, and which claim holds it.",
        """
slice_id BIGINT the ResourceSlice
input INTEGER its input
idx INTEGER position in spec.devices, from 0
driver VARCHAR driver
pool VARCHAR pool
device VARCHAR device
name VARCHAR driver/pool/device, as in table states
state VARCHAR Allocated, Free or Cannot tell
message VARCHAR which claim holds it, or why it cannot be told
claims VARCHAR[] claims that hold it, as namespace/name
taken_by VARCHAR[] claims that hold other devices which use up the shared counters it needs
admin_claims VARCHAR[] claims with admin access to it: they occupy nothing
node VARCHAR its node, null where it is not bound to one
place VARCHAR where it can be reached: a node, a node selector in words, all nodes
attributes JSON attributes: name → value
capacity JSON capacity: name → quantity
taints VARCHAR[] key=value:effect, of the slice and of those DeviceTaintRules of which it can be told
counters VARCHAR[] what it takes of the pool's shared counters: SET/COUNTER AMOUNT of TOTAL
shared BOOLEAN several claims may hold it at a time
gpu VARCHAR what it is of a GPU: whole, part (a MIG device or partition) or vm (for virtual machines); null where it is no GPU
""",
    ),
    table(
        "gpu_device_nodes",
        "facts",
        "Nodes for which DRA drivers publish GPUs (drivers named gpu.VENDOR), also those that no label calls a GPU node.",
        """
object_id BIGINT the Node, null where it is not in the bundle
input INTEGER its input
name VARCHAR name of the Node
drivers VARCHAR[] the drivers
gpus INTEGER GPUs: those published whole or for virtual machines, and those of which only parts are published
parts INTEGER devices that are parts of GPUs
product VARCHAR model, by attributes of the devices; several joined by commas
memory_mib BIGINT memory of a GPU in MiB, null where nothing says or they differ
driver VARCHAR version of the driver, by attributes
cuda VARCHAR newest CUDA version that the driver knows, by attributes
complete BOOLEAN all slices of their pools are there: it has no more GPUs than these
gone BOOLEAN the complete list of nodes lacks it: the slices are left over
""",
    ),
    table(
        "dra_silent_plugins",
        "facts",
        "Plugins of NVIDIA's DRA driver that run on a GPU node, for which the complete list has no ResourceSlice of theirs.",
        """
object_id BIGINT the Pod
input INTEGER its input
node_id BIGINT its Node
node VARCHAR name of the Node
driver VARCHAR the driver whose slices lack
namespace VARCHAR namespace of the Pod
pod VARCHAR name of the Pod
container VARCHAR the container that should publish
log_id BIGINT its current log
since TIMESTAMP when that container started
""",
    ),
    table(
        "device_taints",
        "facts",
        "Taints of devices.",
        """
source_id BIGINT the ResourceSlice or DeviceTaintRule that has it
path VARCHAR the field
driver VARCHAR driver, null for any
pool VARCHAR pool, null for any
device VARCHAR device, null for any
narrowed VARCHAR by what else a DeviceTaintRule selects (a class, CEL), in words: which devices these are cannot be told
key VARCHAR key
value VARCHAR value
effect VARCHAR NoSchedule, NoExecute or None; what is not known counts as None
since TIMESTAMP timeAdded
words VARCHAR what it means, for taints of known drivers
""",
    ),
    table(
        "device_prepares",
        "facts",
        "Pods whose devices a kubelet could not prepare (or take back), by its newest event, else by a log.",
        """
object_id BIGINT the Pod; null for one that only a log names
stranger VARCHAR what a log names that the bundle has not: pod namespace/name, else claim namespace/name
stranger_claims VARCHAR[] the claims that it names with it, as namespace/name
gone BOOLEAN its namespace was listed whole and it is not there any more
claim_id BIGINT the ResourceClaim among them, where it is one and in the bundle
input INTEGER the input, of what only a log names
node_id BIGINT the Node, of what only a log names
event_id BIGINT the Event, null where a log tells it
log_id BIGINT the log (of the kubelet or of a driver's plugin) that tells it, null where an event does
line BIGINT its line
node VARCHAR the node
driver VARCHAR the DRA driver that it names, null where it names none
cause VARCHAR not-registered, no-room, stale-device, checkpoint, driver, old-kubelet… or other
words VARCHAR that cause in words
remedy VARCHAR what to do about it
message VARCHAR the message of the event, or the line
times INTEGER how often it was seen
first_at TIMESTAMP first seen
last_at TIMESTAMP last seen
""",
    ),
)
