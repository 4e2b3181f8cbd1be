"""Short names of resources, as `kubectl api-resources` and the CRDs of the projects print them.

Used where a bundle has no CRD that says them. One section a group, `short=Kind` a word.
"""

from __future__ import annotations

from analyzer.bundle.kinds import words_by_group

_TABLE = """
[]
po=Pod svc=Service cm=ConfigMap no=Node ns=Namespace ev=Event pvc=PersistentVolumeClaim pv=PersistentVolume sa=ServiceAccount
ep=Endpoints rc=ReplicationController quota=ResourceQuota limits=LimitRange cs=ComponentStatus
[apps]
deploy=Deployment sts=StatefulSet ds=DaemonSet rs=ReplicaSet
[batch]
cj=CronJob
[autoscaling]
hpa=HorizontalPodAutoscaler
[policy]
pdb=PodDisruptionBudget psp=PodSecurityPolicy
[storage.k8s.io]
sc=StorageClass vac=VolumeAttributesClass
[networking.k8s.io]
ing=Ingress netpol=NetworkPolicy ip=IPAddress
[events.k8s.io]
ev=Event
[scheduling.k8s.io]
pc=PriorityClass
[certificates.k8s.io]
csr=CertificateSigningRequest
[apiextensions.k8s.io]
crd=CustomResourceDefinition crds=CustomResourceDefinition
[extensions]
ing=Ingress deploy=Deployment ds=DaemonSet rs=ReplicaSet netpol=NetworkPolicy
[autoscaling.k8s.io]
vpa=VerticalPodAutoscaler vpacheckpoint=VerticalPodAutoscalerCheckpoint
[autoscaling.x-k8s.io]
provreq=ProvisioningRequest provreqs=ProvisioningRequest
[snapshot.storage.k8s.io]
vs=VolumeSnapshot vsclass=VolumeSnapshotClass vsclasses=VolumeSnapshotClass vsc=VolumeSnapshotContent vscs=VolumeSnapshotContent
[config.openshift.io]
co=ClusterOperator
[machineconfiguration.openshift.io]
mc=MachineConfig mcp=MachineConfigPool
[autoscaling.openshift.io]
ca=ClusterAutoscaler ma=MachineAutoscaler
[machine.openshift.io]
mhc=MachineHealthCheck mhcs=MachineHealthCheck
[metal3.io]
bmh=BareMetalHost bmhost=BareMetalHost hfs=HostFirmwareSettings
[image.openshift.io]
is=ImageStream istag=ImageStreamTag
[build.openshift.io]
bc=BuildConfig
[apps.openshift.io]
dc=DeploymentConfig
[security.openshift.io]
scc=SecurityContextConstraints
[k8s.cni.cncf.io]
net-attach-def=NetworkAttachmentDefinition
[operators.coreos.com]
csv=ClusterServiceVersion csvs=ClusterServiceVersion sub=Subscription subs=Subscription ip=InstallPlan og=OperatorGroup
catsrc=CatalogSource condition=OperatorCondition
[monitoring.coreos.com]
prom=Prometheus am=Alertmanager smon=ServiceMonitor pmon=PodMonitor promrule=PrometheusRule amcfg=AlertmanagerConfig
ruler=ThanosRuler prb=Probe scfg=ScrapeConfig promagent=PrometheusAgent
[nvidia.com]
nvd=NVIDIADriver nvdriver=NVIDIADriver nvdrivers=NVIDIADriver dgd=DynamoGraphDeployment dcd=DynamoComponentDeployment
[kueue.x-k8s.io]
cq=ClusterQueue lq=LocalQueue queue=LocalQueue queues=LocalQueue wl=Workload flavor=ResourceFlavor flavors=ResourceFlavor
rf=ResourceFlavor
[leaderworkerset.x-k8s.io]
lws=LeaderWorkerSet
[serving.kserve.io]
isvc=InferenceService ig=InferenceGraph tm=TrainedModel llmisvc=LLMInferenceService
[serving.knative.dev]
kservice=Service ksvc=Service rt=Route config=Configuration cfg=Configuration rev=Revision dm=DomainMapping
[networking.internal.knative.dev]
kingress=Ingress king=Ingress kcert=Certificate sks=ServerlessService
[autoscaling.internal.knative.dev]
kpa=PodAutoscaler pa=PodAutoscaler
[ome.io]
isvc=InferenceService
[ai.deckhouse.io]
isvc=InferenceService
[deckhouse.io]
mc=ModuleConfig ng=NodeGroup ngc=NodeGroupConfiguration
[inference.networking.k8s.io]
infpool=InferencePool
[inference.networking.x-k8s.io]
infpool=InferencePool
[gateway.networking.k8s.io]
gtw=Gateway gc=GatewayClass
[batch.volcano.sh]
vcjob=Job vj=Job
[scheduling.volcano.sh]
pg=PodGroup podgroup-v1beta1=PodGroup q=Queue queue-v1beta1=Queue
[scheduling.x-k8s.io]
pg=PodGroup pgs=PodGroup eq=ElasticQuota eqs=ElasticQuota
[keda.sh]
so=ScaledObject sj=ScaledJob ta=TriggerAuthentication cta=ClusterTriggerAuthentication
[cert-manager.io]
cert=Certificate certs=Certificate cr=CertificateRequest crs=CertificateRequest
[argoproj.io]
wf=Workflow wftmpl=WorkflowTemplate cwf=CronWorkflow app=Application apps=Application appset=ApplicationSet ro=Rollout
[cilium.io]
cn=CiliumNode cep=CiliumEndpoint ciliumid=CiliumIdentity cnp=CiliumNetworkPolicy ccnp=CiliumClusterwideNetworkPolicy
[networking.istio.io]
vs=VirtualService dr=DestinationRule gw=Gateway se=ServiceEntry we=WorkloadEntry
[longhorn.io]
lhv=Volume lhe=Engine lhr=Replica lhn=Node lhim=InstanceManager
[cluster.x-k8s.io]
cl=Cluster ma=Machine ms=MachineSet md=MachineDeployment mp=MachinePool mhc=MachineHealthCheck cc=ClusterClass
"""


def _parsed() -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for group, word in words_by_group(_TABLE):
        short, _, kind = word.partition("=")
        found.setdefault(short, []).append((group, kind))
    return {short: tuple(dict.fromkeys(kinds)) for short, kinds in found.items()}


SHORT_NAMES: dict[str, tuple[tuple[str, str], ...]] = _parsed()
"""Short name → the kinds (API group, kind) that have it."""
