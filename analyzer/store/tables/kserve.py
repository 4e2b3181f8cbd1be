"""KServe: services, the choice of their runtime with every candidate, components, traffic, pods."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "kserve_services",
        "facts",
        "InferenceServices of KServe (serving.kserve.io), one row each. URIs have no user, password, query and fragment.",
        """
object_id BIGINT the InferenceService
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
state VARCHAR its state, as in table states
reason VARCHAR the reason that is to blame
message VARCHAR the words that are to blame
blamed VARCHAR what they are of: modelStatus, or the type of a condition
blamed_path VARCHAR the field that holds them
since TIMESTAMP when the state began, as far as a condition says; else when the service was created
ready VARCHAR status of condition Ready, null where there is none
transition VARCHAR status.modelStatus.transitionStatus
active_model VARCHAR status.modelStatus.states.activeModelState
target_model VARCHAR status.modelStatus.states.targetModelState
failure VARCHAR what failed, where a failure is in force: model, runtime or spec; else null
failure_reason VARCHAR reason of status.modelStatus.lastFailureInfo
failure_message VARCHAR its message
failure_exit INTEGER its exit code
failure_location VARCHAR what it names as the place, mostly a pod
failure_at TIMESTAMP its time
stale_failure BOOLEAN there is a lastFailureInfo, and it is not in force: the model was loaded since
behind BOOLEAN the status is of an older generation
stopped BOOLEAN stopped, by its annotation or condition
mode VARCHAR Knative, Standard or ModelMesh; null where nothing says
mode_source VARCHAR status, annotation or config (the ConfigMap inferenceservice-config); null where nothing says
mode_path VARCHAR the field that says so
mode_id BIGINT the object that says so
model_format VARCHAR format of the model, null where the predictor has containers of its own
model_version VARCHAR version of the format, null where none is asked for
model_path VARCHAR where the format stands
protocol VARCHAR the protocol that a runtime must speak
protocol_given BOOLEAN spec says so; else it is KServe's default v1
multi_node BOOLEAN the predictor has workers
storage VARCHAR where the model lies
storage_path VARCHAR where that stands
named_runtime VARCHAR the runtime that spec names
recorded_runtime VARCHAR the runtime that KServe recorded in the status
recorded_kind VARCHAR ServingRuntime or ClusterServingRuntime
recorded_path VARCHAR where it stands
url VARCHAR its URL by its status
choice VARCHAR by KServe's rules: named, automatic, none or cannot tell; null where the predictor needs no runtime
chosen_runtime VARCHAR the runtime that they give
chosen_kind VARCHAR its kind
chosen_id BIGINT that object
choice_words VARCHAR why, in words
canary_percent INTEGER spec.predictor.canaryTrafficPercent
autoscaler VARCHAR annotation serving.kserve.io/autoscalerClass
blocked VARCHAR what of a new version does not come up while the old one serves, in words; else null
blocked_message VARCHAR the cluster's words about that
blocked_path VARCHAR where they stand
blocked_since TIMESTAMP since when
controller VARCHAR version of KServe by the image of its controller, null where that is not in the bundle
""",
    ),
    table(
        "kserve_candidates",
        "facts",
        "Every runtime that KServe looks at for a service, in its order, with the filters that drop it.",
        """
object_id BIGINT the InferenceService
place INTEGER from 1: those that fit in the order of KServe, then the others
runtime_id BIGINT the runtime, null where a named one is not in the bundle
kind VARCHAR ServingRuntime or ClusterServingRuntime
runtime VARCHAR its name
chosen BOOLEAN it is the one
fits BOOLEAN no filter drops it
near BOOLEAN it is for the format of the model
filters VARCHAR[] disabled, multi-model, format, version, auto-select, protocol, multi-node, missing
words VARCHAR why it is dropped, in words
path VARCHAR the field that drops it
value VARCHAR what stands there
priority INTEGER priority of the format
protocols VARCHAR[] spec.protocolVersions
""",
    ),
    table(
        "kserve_components",
        "facts",
        "Predictor, transformer and explainer of an InferenceService.",
        """
object_id BIGINT the InferenceService
component VARCHAR predictor, transformer or explainer
ready VARCHAR status of its condition Ready, null where there is none
reason VARCHAR its reason
message VARCHAR its message
url VARCHAR its URL
latest_created VARCHAR the newest Knative revision
latest_ready VARCHAR the newest that is ready
rolled_out VARCHAR the newest that got all traffic
previous VARCHAR the one before it
pods INTEGER pods of it in the bundle
pods_ready INTEGER of them ready
""",
    ),
    table(
        "kserve_traffic",
        "facts",
        "How the traffic of a component is split: between Knative revisions, or the canaries of KServe's Standard mode.",
        """
object_id BIGINT the InferenceService
component VARCHAR predictor, transformer or explainer
idx INTEGER position in the status, from 0
revision VARCHAR the revision or canary
revision_id BIGINT the Knative Revision, null where it is not in the bundle
percent INTEGER its share
latest BOOLEAN it is the newest
tag VARCHAR its tag
ready BOOLEAN it is ready, null where the status does not say
""",
    ),
    table(
        "kserve_pods",
        "facts",
        "Pods of KServe's services, by their labels and owners.",
        """
object_id BIGINT the Pod
service_id BIGINT the InferenceService, LLMInferenceService or InferenceGraph
component VARCHAR predictor, transformer or explainer; another word of its label; empty without one
trouble VARCHAR now: it fails; slow: it is not up, which counts after a while; else null
container VARCHAR the container that fails, the one that loads the model first
container_type VARCHAR init, sidecar or main
""",
    ),
    table(
        "kserve_others",
        "facts",
        "LLMInferenceServices, InferenceGraphs and TrainedModels, one row each.",
        """
object_id BIGINT the object
input INTEGER its input
kind VARCHAR LLMInferenceService, InferenceGraph or TrainedModel
namespace VARCHAR namespace
name VARCHAR name
state VARCHAR Deleting, Stopped, Ready, Progressing or Not ready
ready VARCHAR status of condition Ready, null where there is none
blamed VARCHAR type of the condition to blame
reason VARCHAR its reason
message VARCHAR its message
blamed_path VARCHAR the field that says so
since TIMESTAMP when the state began
stale_ready BOOLEAN Ready is True, and what it was made from is not valid any more
url VARCHAR its URL
storage VARCHAR where the model lies
model VARCHAR the model's name
""",
    ),
    table(
        "kserve_references",
        "facts",
        "What LLMInferenceServices, InferenceGraphs and TrainedModels name.",
        """
object_id BIGINT the object that names it
path VARCHAR where the name stands
what VARCHAR service, config, node or url
name VARCHAR the name, or the URL
target_id BIGINT the object of that name, null where it is not in the bundle
missing BOOLEAN it does not exist; null where that cannot be told
""",
    ),
)
