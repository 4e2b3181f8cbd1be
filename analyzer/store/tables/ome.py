"""OME (ome.io): InferenceServices, what is in force for them, their components, issues, models and pods."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "ome_services",
        "facts",
        "InferenceServices of OME, as `kubectl ome accelerator explain` evaluates them.",
        """
object_id BIGINT the InferenceService
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
state VARCHAR Ready, Not ready or Unknown
ready_reason VARCHAR reason of condition Ready
ready_message VARCHAR its message
ready_path VARCHAR where its status stands, null where there is no such condition
since TIMESTAMP when condition Ready last turned; without one, when the service was created
failure_reason VARCHAR status.modelStatus.lastFailureInfo.reason
failure_message VARCHAR its message
unready VARCHAR[] other conditions that are not True, in words
generation BIGINT metadata.generation, 0 where there is none
observed_generation BIGINT status.observedGeneration, 0 where there is none
freshness VARCHAR Current, Stale, Unobserved or Invalid: how the two compare
report_state VARCHAR Reported, NotConfigured, Partial or Invalid; null where OME makes no report of it
no_report VARCHAR why OME makes no report of it, in words
active VARCHAR is a runtime configuration in force: Available, Inconsistent or Unavailable
active_code VARCHAR why not, as a word: no-runtime, runtime-missing, model-missing, revision-malformed…
active_why VARCHAR why not, in words
source_id BIGINT the runtime or revision in force
source_kind VARCHAR its kind
source VARCHAR its namespace and name
pin VARCHAR AutoSync, ManagedPin, ExplicitPin or InvalidPin
revision_faults VARCHAR[] checks of consistency that the pinned revision fails
unknown VARCHAR what was not collected, so that what is in force cannot be told, in words
assumed VARCHAR what was taken for granted, in words
deployment_mode VARCHAR the mode that its annotation or spec asks for
class_annotation VARCHAR the class of its annotation ome.io/accelerator-class, which counts for picking a runtime only
model_kind VARCHAR kind of the model that it names, ClusterBaseModel where it names none
model_name VARCHAR the model that it names
model_id BIGINT that model where it is of the kind that is named
other_model_id BIGINT the model of that name but of the other kind
model_missing BOOLEAN the list of the kind named is whole and lacks the model
runtime_id BIGINT the runtime object that it names or that OME picks, null where there is none in the bundle
""",
    ),
    table(
        "ome_components",
        "facts",
        "Engine and decoder of each InferenceService.",
        """
object_id BIGINT the InferenceService
component VARCHAR engine or decoder
intent VARCHAR Class, Policy, NotConfigured or Invalid
declared_class VARCHAR the class that it names, where that is a valid name
policy VARCHAR its policy
intent_path VARCHAR where the class or the policy stands
selection VARCHAR NotReported, NotConfigured, Unavailable, Invalid or Reported
selected_class VARCHAR the class that the status reports
class_state VARCHAR NotRequested, Observed, NotFound, Forbidden, UnsupportedAPI, Unreadable or Invalid
class_unknown VARCHAR why the reported class cannot be looked up in this bundle, in words
base_state VARCHAR Available, Unavailable or Invalid
base_why VARCHAR why there are no base requests, in words
container VARCHAR the serving container
base VARCHAR its base requests, canonical, such as cpu=10,memory=160Gi
effective VARCHAR requests that the status reports, canonical
declared_missing BOOLEAN the list of AcceleratorClasses is whole and lacks the class that it names
declared_unknown VARCHAR why that cannot be told, in words
picked VARCHAR class, none, missing, crash or unknown: what OME's controller must have done (our conclusion)
picked_class VARCHAR the class that it must have picked
picked_id BIGINT that class
picked_why VARCHAR how that follows, in words
""",
    ),
    table(
        "ome_issues",
        "facts",
        "Issue codes of `kubectl ome accelerator explain`, one row a code and component.",
        """
object_id BIGINT the InferenceService
component VARCHAR engine, decoder, router, or empty where it is of no component that OME knows
code VARCHAR the code
path VARCHAR the field that shows it, null where it is of no field
value VARCHAR what stands there, where that may be shown
detail VARCHAR more in words, null where there is nothing to add
""",
    ),
    table(
        "ome_candidates",
        "facts",
        "Runtimes that OME looked at for InferenceServices that name none; the first one that qualifies is picked.",
        """
object_id BIGINT the InferenceService
position INTEGER place in the order, from 1
runtime_id BIGINT the runtime
kind VARCHAR ServingRuntime or ClusterServingRuntime
name VARCHAR its name
score BIGINT its score, null where it dropped out
reason VARCHAR why it dropped out, null where it qualifies
""",
    ),
    table(
        "ome_workloads",
        "facts",
        "Deployments and LeaderWorkerSets of InferenceServices: whose generation the status of the service copies.",
        """
object_id BIGINT the workload
service_id BIGINT the InferenceService
component VARCHAR its component
kind VARCHAR Deployment or LeaderWorkerSet
name VARCHAR its name
copied BIGINT the number that OME copies from it: status.observedGeneration, of a LeaderWorkerSet its generation
copied_path VARCHAR where that stands
scaler_id BIGINT what scales it
scaler VARCHAR what scales it, such as HorizontalPodAutoscaler web
""",
    ),
    table(
        "ome_pods",
        "facts",
        "Pods of InferenceServices, by their labels.",
        """
object_id BIGINT the Pod
service_id BIGINT the InferenceService
component VARCHAR its component
running BOOLEAN it is not over and not being deleted
lacks VARCHAR[] labels of the class picked (or named, or annotated) that the pod does not ask for; null where no class is known
""",
    ),
    table(
        "ome_models",
        "facts",
        "BaseModels and ClusterBaseModels.",
        """
object_id BIGINT the model
input INTEGER its input
kind VARCHAR BaseModel or ClusterBaseModel
namespace VARCHAR namespace of a BaseModel, else empty
name VARCHAR name
state VARCHAR status.state, null where there is none
disabled BOOLEAN spec.disabled
ready_nodes VARCHAR[] nodes that have it
failed_nodes VARCHAR[] nodes on which it failed
storage VARCHAR scheme of its storage, such as hf or pvc
created_at TIMESTAMP when it was created
""",
    ),
    table(
        "ome_told",
        "facts",
        "What OME tells of its objects by events, conditions and failures; of an event reason the newest one of each object.",
        """
object_id BIGINT the object of OME that it is about
kind VARCHAR its kind
namespace VARCHAR namespace
name VARCHAR name
service_id BIGINT the InferenceService: itself, or that of an InferenceReplica; else null
component VARCHAR engine, decoder or router, where it is of one
source VARCHAR event, condition, lifecycle (a condition of a component), failure or retry-block
type VARCHAR Normal or Warning, the type of the condition, or lastFailureInfo
status VARCHAR status of the condition
reason VARCHAR reason, empty where there is none
message VARCHAR its message
source_id BIGINT where it stands: the event, else the object
path VARCHAR the field there
since TIMESTAMP when the event was first seen, or the condition last turned
last_at TIMESTAMP when it was last seen
past BOOLEAN an event that is over: its service turned ready after it, or its runtime was resolved
""",
    ),
    table(
        "ome_lines",
        "facts",
        "Lines of OME's own logs that its signatures know, with the InferenceService and the model that each names.",
        """
signature VARCHAR id of the signature
log_id BIGINT the log
line BIGINT line of the file
at TIMESTAMP time of the line
text VARCHAR the line
service_id BIGINT the InferenceService that it names, null where it names none of this bundle
model_id BIGINT the model that it names, null where it names none of this bundle
""",
    ),
)
