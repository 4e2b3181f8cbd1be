"""Well-known Kubernetes resources: kind, plural, group, and whether they live in a namespace.

Everything is keyed by group and name together: `Node` of longhorn.io is no Node, `InferenceService` of ome.io is not
KServe's. The table below is data: one section a group, one word a kind. `!` marks a cluster-scoped kind; `=` gives a
plural that is not the regular one. Where a name without group is all there is (a file name), the first section that has it wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_TABLE = """
[]
Pod Service ConfigMap Secret !Node !Namespace Event PersistentVolumeClaim !PersistentVolume ServiceAccount Endpoints=endpoints
ReplicationController ResourceQuota LimitRange PodTemplate Binding !ComponentStatus=componentstatuses
[apps]
Deployment StatefulSet DaemonSet ReplicaSet ControllerRevision
[batch]
Job CronJob
[autoscaling]
HorizontalPodAutoscaler Scale
[policy]
PodDisruptionBudget !PodSecurityPolicy=podsecuritypolicies Eviction
[storage.k8s.io]
!StorageClass !VolumeAttachment !CSIDriver !CSINode CSIStorageCapacity=csistoragecapacities !VolumeAttributesClass
[networking.k8s.io]
Ingress !IngressClass NetworkPolicy !IPAddress !ServiceCIDR
[discovery.k8s.io]
EndpointSlice
[events.k8s.io]
Event
[coordination.k8s.io]
Lease LeaseCandidate
[node.k8s.io]
!RuntimeClass
[scheduling.k8s.io]
!PriorityClass Workload PodGroup
[rbac.authorization.k8s.io]
Role RoleBinding !ClusterRole !ClusterRoleBinding
[admissionregistration.k8s.io]
!ValidatingWebhookConfiguration !MutatingWebhookConfiguration !ValidatingAdmissionPolicy !ValidatingAdmissionPolicyBinding
!MutatingAdmissionPolicy !MutatingAdmissionPolicyBinding
[apiextensions.k8s.io]
!CustomResourceDefinition
[apiregistration.k8s.io]
!APIService
[certificates.k8s.io]
!CertificateSigningRequest !ClusterTrustBundle PodCertificateRequest
[flowcontrol.apiserver.k8s.io]
!FlowSchema !PriorityLevelConfiguration
[resource.k8s.io]
ResourceClaim ResourceClaimTemplate !ResourceSlice !DeviceClass !DeviceTaintRule !ResourceClass PodSchedulingContext
[internal.apiserver.k8s.io]
!StorageVersion
[storagemigration.k8s.io]
!StorageVersionMigration
[migration.k8s.io]
!StorageVersionMigration !StorageState
[metrics.k8s.io]
!NodeMetrics=nodes PodMetrics=pods
[snapshot.storage.k8s.io]
VolumeSnapshot !VolumeSnapshotClass !VolumeSnapshotContent
[extensions]
Ingress Deployment DaemonSet ReplicaSet NetworkPolicy !PodSecurityPolicy
[autoscaling.k8s.io]
VerticalPodAutoscaler VerticalPodAutoscalerCheckpoint
[autoscaling.x-k8s.io]
ProvisioningRequest CapacityBuffer
[config.openshift.io]
!ClusterOperator !ClusterVersion !Infrastructure !Network !Proxy !APIServer !Authentication !Build !Console !DNS=dnses
!FeatureGate !Image !ImageContentPolicy !ImageDigestMirrorSet !ImageTagMirrorSet !Ingress=ingresses !Node !OAuth !OperatorHub
!Project !Scheduler !ClusterImagePolicy ImagePolicy !InsightsDataGather !Backup
[operator.openshift.io]
!KubeAPIServer !KubeControllerManager !KubeScheduler !OpenShiftAPIServer !OpenShiftControllerManager !Etcd !Authentication
!CloudCredential !ClusterCSIDriver !Config !Console !CSISnapshotController !DNS=dnses !ImageContentSourcePolicy IngressController
!InsightsOperator !KubeStorageVersionMigrator !MachineConfiguration !Network !OLM !ServiceCA !Storage
[machineconfiguration.openshift.io]
!MachineConfig !MachineConfigPool !KubeletConfig !ContainerRuntimeConfig !ControllerConfig !MachineConfigNode !MachineOSConfig
!MachineOSBuild !PinnedImageSet
[machine.openshift.io]
Machine MachineSet MachineHealthCheck ControlPlaneMachineSet
[autoscaling.openshift.io]
!ClusterAutoscaler MachineAutoscaler
[metal3.io]
BareMetalHost !Provisioning HostFirmwareSettings=hostfirmwaresettings FirmwareSchema PreprovisioningImage
[route.openshift.io]
Route
[image.openshift.io]
ImageStream ImageStreamTag !Image ImageStreamImage
[build.openshift.io]
Build BuildConfig
[apps.openshift.io]
DeploymentConfig
[project.openshift.io]
!Project ProjectRequest
[template.openshift.io]
Template TemplateInstance !BrokerTemplateInstance
[security.openshift.io]
!SecurityContextConstraints=securitycontextconstraints !RangeAllocation
[security.internal.openshift.io]
!RangeAllocation
[oauth.openshift.io]
!OAuthClient !OAuthAccessToken !OAuthAuthorizeToken !OAuthClientAuthorization !UserOAuthAccessToken
[user.openshift.io]
!User !Group !Identity !UserIdentityMapping
[authorization.openshift.io]
Role RoleBinding !ClusterRole !ClusterRoleBinding RoleBindingRestriction
[network.openshift.io]
!ClusterNetwork !HostSubnet !NetNamespace EgressNetworkPolicy !EgressIP
[network.operator.openshift.io]
OperatorPKI EgressRouter
[controlplane.operator.openshift.io]
PodNetworkConnectivityCheck
[ingress.operator.openshift.io]
DNSRecord
[cloud.network.openshift.io]
!CloudPrivateIPConfig
[cloudcredential.openshift.io]
CredentialsRequest
[imageregistry.operator.openshift.io]
!Config !ImagePruner
[samples.operator.openshift.io]
!Config
[apiserver.openshift.io]
!APIRequestCount
[quota.openshift.io]
!ClusterResourceQuota AppliedClusterResourceQuota
[console.openshift.io]
!ConsolePlugin !ConsoleLink !ConsoleCLIDownload !ConsoleExternalLogLink !ConsoleNotification !ConsoleQuickStart !ConsoleYAMLSample
[helm.openshift.io]
!HelmChartRepository ProjectHelmChartRepository
[tuned.openshift.io]
Tuned Profile
[performance.openshift.io]
!PerformanceProfile
[whereabouts.cni.cncf.io]
IPPool OverlappingRangeIPReservation
[k8s.cni.cncf.io]
NetworkAttachmentDefinition=network-attachment-definitions
[k8s.ovn.org]
EgressFirewall !EgressIP !EgressQoS=egressqoses
[sriovnetwork.openshift.io]
SriovNetwork SriovNetworkNodePolicy SriovNetworkNodeState SriovOperatorConfig SriovIBNetwork
[operators.coreos.com]
ClusterServiceVersion Subscription InstallPlan OperatorGroup CatalogSource !Operator OperatorCondition !OLMConfig
[packages.operators.coreos.com]
PackageManifest
[monitoring.coreos.com]
Prometheus Alertmanager ServiceMonitor PodMonitor PrometheusRule AlertmanagerConfig ThanosRuler Probe ScrapeConfig PrometheusAgent
[nvidia.com]
!ClusterPolicy !NVIDIADriver !GPUCluster DynamoGraphDeployment DynamoComponentDeployment
[resource.nvidia.com]
ComputeDomain ComputeDomainClique
[nfd.openshift.io]
NodeFeatureDiscovery NodeFeatureRule
[nfd.k8s-sigs.io]
NodeFeature !NodeFeatureRule NodeFeatureDiscovery !NodeFeatureGroup
[mellanox.com]
!NicClusterPolicy !MacvlanNetwork !HostDeviceNetwork !IPoIBNetwork
[kueue.x-k8s.io]
!ClusterQueue LocalQueue Workload !ResourceFlavor !Cohort !Topology !AdmissionCheck !WorkloadPriorityClass
!ProvisioningRequestConfig !MultiKueueConfig !MultiKueueCluster
[kueue.openshift.io]
!Kueue
[visibility.kueue.x-k8s.io]
PendingWorkloadsSummary
[jobset.x-k8s.io]
JobSet
[leaderworkerset.x-k8s.io]
LeaderWorkerSet
[ray.io]
RayCluster RayJob RayService RayCronJob
[serving.kserve.io]
InferenceService ServingRuntime !ClusterServingRuntime InferenceGraph TrainedModel !ClusterStorageContainer LLMInferenceService
LLMInferenceServiceConfig !LocalModelCache !LocalModelNodeGroup !LocalModelNode
[serving.knative.dev]
Service=services Route Configuration Revision DomainMapping
[networking.internal.knative.dev]
Ingress !Certificate ServerlessService
[autoscaling.internal.knative.dev]
PodAutoscaler Metric
[operator.knative.dev]
KnativeServing KnativeEventing
[ome.io]
InferenceService ServingRuntime !ClusterServingRuntime !AcceleratorClass BaseModel !ClusterBaseModel !FineTunedWeight BenchmarkJob
InferenceReplica
[ai.deckhouse.io]
InferenceService !InferenceServiceClass Model !ClusterModel
[gpu.deckhouse.io]
!PhysicalGPU !GPUClass
[deckhouse.io]
!ModuleConfig !Module !ModuleSource !ModuleRelease !ModulePullOverride !DeckhouseRelease !NodeGroup !NodeGroupConfiguration
!ClusterAlert !ClusterAuthorizationRule AuthorizationRule !StaticInstance !Instance !IngressNginxController !PrometheusRemoteWrite
[machine.sapcloud.io]
Machine MachineSet MachineDeployment
[inference.networking.k8s.io]
InferencePool
[inference.networking.x-k8s.io]
InferencePool InferenceModel InferenceObjective InferencePoolImport
[gateway.networking.k8s.io]
Gateway !GatewayClass HTTPRoute GRPCRoute TLSRoute TCPRoute UDPRoute ReferenceGrant BackendTLSPolicy
[kubeflow.org]
PyTorchJob TFJob MPIJob JAXJob PaddleJob XGBoostJob MXJob Notebook !Profile Experiment Trial Suggestion
[trainer.kubeflow.org]
TrainJob TrainingRuntime !ClusterTrainingRuntime
[workload.codeflare.dev]
AppWrapper
[batch.volcano.sh]
Job
[scheduling.volcano.sh]
PodGroup !Queue
[bus.volcano.sh]
Command
[scheduling.run.ai]
PodGroup !Queue BindRequest
[kai.scheduler]
!SchedulingShard !Config
[scheduling.x-k8s.io]
PodGroup ElasticQuota
[grove.io]
PodCliqueSet PodClique PodCliqueScalingGroup PodGangSet
[scheduler.grove.io]
PodGang
[apps.nvidia.com]
NIMService NIMCache NIMPipeline NemoDatastore
[keda.sh]
ScaledObject ScaledJob TriggerAuthentication !ClusterTriggerAuthentication
[eventing.keda.sh]
CloudEventSource
[karpenter.sh]
!NodePool !NodeClaim !NodeOverlay !Provisioner !Machine
[karpenter.k8s.aws]
!EC2NodeClass
[karpenter.azure.com]
!AKSNodeClass
[cert-manager.io]
Certificate CertificateRequest Issuer !ClusterIssuer
[acme.cert-manager.io]
Order Challenge
[argoproj.io]
Workflow WorkflowTemplate CronWorkflow Application ApplicationSet AppProject Rollout AnalysisRun
[cilium.io]
!CiliumNode CiliumEndpoint !CiliumIdentity CiliumNetworkPolicy !CiliumClusterwideNetworkPolicy
[crd.projectcalico.org]
!IPPool !FelixConfiguration !ClusterInformation !BGPConfiguration !NetworkPolicy
[networking.istio.io]
VirtualService DestinationRule Gateway ServiceEntry EnvoyFilter Sidecar WorkloadEntry
[security.istio.io]
AuthorizationPolicy PeerAuthentication
[longhorn.io]
Volume Engine Replica Node InstanceManager EngineImage BackingImage Setting Backup BackupTarget BackupVolume RecurringJob
ShareManager
[velero.io]
Backup Restore Schedule BackupStorageLocation VolumeSnapshotLocation PodVolumeBackup PodVolumeRestore ResticRepository
DeleteBackupRequest DownloadRequest ServerStatusRequest
[cluster.x-k8s.io]
Cluster Machine MachineSet MachineDeployment MachinePool MachineHealthCheck !ClusterClass
[helm.cattle.io]
HelmChart HelmChartConfig
[k3s.cattle.io]
Addon ETCDSnapshotFile
[policy.networking.k8s.io]
!AdminNetworkPolicy !BaselineAdminNetworkPolicy
[datasciencecluster.opendatahub.io]
!DataScienceCluster
[dscinitialization.opendatahub.io]
!DSCInitialization
"""


BUILT_IN = frozenset(
    {"", "apps", "autoscaling", "batch", "extensions", "policy"}
    | {
        f"{name}.k8s.io"
        for name in (
            "admissionregistration",
            "apiextensions",
            "apiregistration",
            "authentication",
            "authorization",
            "certificates",
            "coordination",
            "discovery",
            "events",
            "flowcontrol.apiserver",
            "internal.apiserver",
            "metrics",
            "networking",
            "node",
            "rbac.authorization",
            "resource",
            "scheduling",
            "storage",
            "storagemigration",
        )
    }
)
"""API groups that the API server serves itself (or the metrics server): their kinds come from no CRD."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of Kubernetes object."""

    group: str
    kind: str
    plural: str
    namespaced: bool


def by_plural(plural: str, group: str) -> Resource | None:
    """The resource with this plural in this group, upper and lower case alike; None where it is not known."""
    return _PLURALS.get((plural.lower(), group.lower()))


def by_kind(kind: str, group: str) -> Resource | None:
    """The resource with this kind in this group, upper and lower case alike; None where it is not known."""
    return _KINDS.get((kind.lower(), group.lower()))


def by_file_name(plural: str) -> Resource | None:
    """The resource that a file without a group in its path means by this plural: core and built-in groups go first."""
    return _NAMES.get(plural.lower())


def learn(crd: dict[str, Any]) -> Resource | None:
    """The resource that a CustomResourceDefinition object defines; None where it does not say so.

    Args:
        crd: the object, of apiextensions.k8s.io/v1 or v1beta1.
    """
    spec = crd.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict):
        return None
    group, kind, plural = spec.get("group"), names.get("kind"), names.get("plural")
    if not (isinstance(group, str) and group and isinstance(kind, str) and kind and isinstance(plural, str) and plural):
        return None
    # v1beta1 without a scope means a namespaced kind.
    return Resource(group, kind, plural, spec.get("scope") != "Cluster")


def plural_of(kind: str) -> str:
    """The plural that Kubernetes makes of a kind by default (`kubectl` and code generators use the same rule)."""
    word = kind.lower()
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def words_by_group(table: str) -> Iterator[tuple[str, str]]:
    """(API group, word) of a table with one section a group: `[group]`, then lines of words."""
    group = ""
    for line in table.splitlines():
        if line.startswith("["):
            group = line.strip("[]")
        else:
            yield from ((group, word) for word in line.split())


def _resources() -> tuple[Resource, ...]:
    found: list[Resource] = []
    for group, word in words_by_group(_TABLE):
        kind, _, plural = word.lstrip("!").partition("=")
        found.append(Resource(group, kind, plural or plural_of(kind), not word.startswith("!")))
    return tuple(found)


RESOURCES: tuple[Resource, ...] = _resources()
"""Every resource known, the groups of Kubernetes itself first."""

_PLURALS = {(resource.plural.lower(), resource.group): resource for resource in RESOURCES}
_KINDS = {(resource.kind.lower(), resource.group): resource for resource in RESOURCES}
_NAMES = {resource.plural.lower(): resource for resource in reversed(RESOURCES)}
