"""Inference orders: the classes and models behind them, what each says of itself, and what the bundle holds for it."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "orders",
        "facts",
        "One row an inference order: an InferenceService that names an InferenceServiceClass, whatever its API group.",
        """
object_id BIGINT the order
input INTEGER its input
api_group VARCHAR its API group
namespace VARCHAR namespace
name VARCHAR name
class VARCHAR the class that it names
class_id BIGINT that class, null where it is not in the bundle
source VARCHAR where its model comes from: ai-models, HuggingFace, or as written; null where it does not say
model_kind VARCHAR Model or ClusterModel, null where it does not say
model_namespace VARCHAR namespace of the model, empty for a ClusterModel
model VARCHAR name of the model, or the id of a Hugging Face repository
model_id BIGINT that model, null where it is not in the bundle
secret VARCHAR the Secret that it names for fetching the model
state VARCHAR its state, as in table states
phase VARCHAR the state that it gives itself, null where it gives none
generation BIGINT metadata.generation
observed BIGINT the generation that its status is about
endpoint_type VARCHAR the API that it serves: Chat, Embeddings, Rerank…
replans BIGINT how often its plan was computed again
replicas INTEGER pods that its workload wants, null where the bundle does not have it
pods INTEGER pods of it in the bundle
ready_pods INTEGER of these, ready ones
serves BOOLEAN its condition Ready is True
""",
    ),
    table(
        "order_classes",
        "facts",
        "One row a class of inference orders; null where the class does not say.",
        """
object_id BIGINT the class
input INTEGER its input
name VARCHAR name
ready BOOLEAN its condition Ready
namespaces VARCHAR[] namespaces that it admits
selects BOOLEAN it admits namespaces by a selector
endpoint_types VARCHAR[] APIs that it allows, in its order
formats VARCHAR[] model formats that it allows
max_parameters BIGINT most parameters of a model
scaling BOOLEAN it has a scaling policy
min_replicas INTEGER fewest replicas
max_replicas INTEGER most replicas
priority_class VARCHAR the PriorityClass that it names
device_classes VARCHAR[] DeviceClasses that it names
""",
    ),
    table(
        "order_models",
        "facts",
        "One row a Model or ClusterModel that orders may name.",
        """
object_id BIGINT the model
input INTEGER its input
kind VARCHAR Model or ClusterModel
namespace VARCHAR namespace, empty for a ClusterModel
name VARCHAR name
phase VARCHAR status.phase
reason VARCHAR reason of its condition Ready
message VARCHAR message of its condition Ready
since TIMESTAMP last turn of its condition Ready
format VARCHAR format
parameters BIGINT number of parameters
endpoint_types VARCHAR[] APIs that it can serve
quantization VARCHAR quantization
architecture VARCHAR architecture
""",
    ),
    table(
        "order_gpus",
        "facts",
        "One row a PhysicalGPU, which tells of a GPU also while it is in use and in no ResourceSlice.",
        """
object_id BIGINT the PhysicalGPU
input INTEGER its input
name VARCHAR name
product VARCHAR product
memory_mib BIGINT memory in MiB, null where it is not known
driver_ready BOOLEAN condition DriverReady
healthy BOOLEAN condition HardwareHealthy
gap VARCHAR what its memory profile lacks, in words; null where it is complete
""",
    ),
    table(
        "order_pods",
        "facts",
        "The pods of each order, by the owners of its workload.",
        """
object_id BIGINT the order
pod_id BIGINT the Pod
namespace VARCHAR its namespace
pod VARCHAR its name
ready BOOLEAN it is ready
pending BOOLEAN it has no node
stuck VARCHAR why its container cannot start by the kubelet's word (CrashLoopBackOff, ImagePullBackOff…), null where it can
container VARCHAR that container
restarts INTEGER its restarts
status_path VARCHAR where its status stands
unallocated VARCHAR[] claims of it without a device
allocated BOOLEAN it has claims, and all of them have their devices
grows BOOLEAN one replica more than the order needs: it waits for devices on purpose, while others serve
""",
    ),
    table(
        "order_reasons",
        "facts",
        "What orders say of themselves that needs a word: the first condition that is not True, growth apart, and events.",
        """
reason_id INTEGER identifies the row
object_id BIGINT the order, null where it is not in the bundle
object_group VARCHAR its API group
object_kind VARCHAR InferenceService
object_namespace VARCHAR its namespace
object_name VARCHAR its name
reason VARCHAR one of the closed set of reasons and events, or UnknownReason
given VARCHAR the reason as the order gives it
condition VARCHAR the condition, null for an event
status VARCHAR its status
message VARCHAR its message
since TIMESTAMP last turn of the condition, or when the event was first seen
class VARCHAR the class that the order names
model VARCHAR the model that it names
verdict VARCHAR what the bundle says to it: confirmed, consistent, refuted, fixed or unknown
cause VARCHAR which of the readings of the reason it is, where there are several
severity VARCHAR instead of the reason's own, where the bundle decides
owner VARCHAR instead of the reason's own
waiting VARCHAR instead of the reason's own
basis VARCHAR deduced where the bundle decides
old BOOLEAN it was said of an older generation of the order
told VARCHAR what the order says, in words
proof VARCHAR what the bundle says to it, in words
over VARCHAR title where it is over
told_ru VARCHAR the same in Russian
proof_ru VARCHAR the same in Russian
over_ru VARCHAR the same in Russian
""",
    ),
    table(
        "order_proofs",
        "facts",
        "Where what is told in order_reasons stands.",
        """
reason_id INTEGER the row of order_reasons
idx INTEGER position, from 0
source_id BIGINT the object
path VARCHAR the field
value VARCHAR its value
kind VARCHAR Declared, Observed, Reported or Computed
log_id BIGINT the log, where it is a line of one
line BIGINT the line
""",
    ),
)
