"""KubeRay: clusters with their head and worker groups, jobs, services and Serve applications."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

_STATE = """
object_id BIGINT the object
input INTEGER its input
namespace VARCHAR namespace
name VARCHAR name
state VARCHAR its state, as in table states
reason VARCHAR reason behind the state
message VARCHAR message behind the state
message_path VARCHAR where that message or status stands, null where it is ours
since TIMESTAMP when the state began, as far as its status says
created_at TIMESTAMP created
deleted BOOLEAN it is being deleted
"""

TABLES: tuple[Table, ...] = (
    table(
        "ray_clusters",
        "facts",
        "RayClusters (ray.io), one row each.",
        _STATE
        + """
judged BOOLEAN it should be up: not being deleted, not suspended
said VARCHAR status.state as it stands; it stays ready once it was
provisioned BOOLEAN all its pods were ready once
head_pod VARCHAR its head pod
head_pod_id BIGINT that pod, null where it is not in the bundle
head_pod_state VARCHAR state of that pod
head_ready BOOLEAN its head is ready; null where nothing says
head_told VARCHAR who says that it is not: condition, pod, both or absence (no head pod in a complete list)
head_reason VARCHAR why it is not
head_message VARCHAR in the words of condition or pod
head_path VARCHAR where condition HeadPodReady stands
head_since TIMESTAMP since when it is not
failure_reason VARCHAR reason of condition ReplicaFailure where that is True, else of status.state failed
failure_message VARCHAR its message
failure_path VARCHAR where that stands
failure_since TIMESTAMP since when
failure_old BOOLEAN the old field status.state says failed
autoscaling BOOLEAN Ray's autoscaler sets the number of workers
owner_kind VARCHAR RayService or RayJob that made it, null where none did
owner_name VARCHAR its name
head_service VARCHAR Service of the head
workers_wanted INTEGER worker pods that must be there, see needed in ray_groups
workers_ready INTEGER worker pods ready
workers_from VARCHAR pods (counted by us) or status; null where neither can be told
workers_since TIMESTAMP since when workers are missing, as far as pods and status say
limits VARCHAR how many workers the autoscaler may have, in words
""",
    ),
    table(
        "ray_groups",
        "facts",
        "Worker groups of RayClusters, counted from their pods.",
        """
object_id BIGINT the RayCluster
idx INTEGER position in spec.workerGroupSpecs, from 0
group_name VARCHAR name of the group
wanted INTEGER worker pods wanted: replicas within their limits, times hosts
needed INTEGER of them those that must be there: all, but with an autoscaler only those made, and at least minReplicas
hosts INTEGER pods a replica
suspended BOOLEAN the group is suspended
limits VARCHAR how many replicas there may be, in words
pods INTEGER worker pods that there are, without those being deleted; null where pods cannot be told
ready INTEGER worker pods ready; null where pods cannot be told
missing INTEGER needed and not ready; null where pods cannot be told
since TIMESTAMP since when the oldest of them is not ready
why VARCHAR states of the pods that are not ready, with their number
pod VARCHAR the pod that is not ready longest
pod_id BIGINT that pod
pod_message VARCHAR what is said of it
""",
    ),
    table(
        "ray_jobs",
        "facts",
        "RayJobs (ray.io), one row each.",
        _STATE
        + """
deployment_status VARCHAR status.jobDeploymentStatus
job_status VARCHAR status.jobStatus
mode VARCHAR spec.submissionMode
cluster VARCHAR its RayCluster
cluster_id BIGINT that RayCluster, null where it is not in the bundle
submitter VARCHAR its submitter Job, null where its mode has none
submitter_id BIGINT that Job, null where it is not in the bundle
attempt INTEGER the attempt that is at work or was the last, from 1
attempts INTEGER attempts that it may have (backoffLimit + 1)
started_at TIMESTAMP status.startTime
ended_at TIMESTAMP status.endTime
finishing BOOLEAN the job has ended and its submitter has not
submitter_end VARCHAR Complete or Failed: so its submitter ended, more than 5 minutes ago, while the status says that the job runs
submitter_end_at TIMESTAMP when it did
initializing BOOLEAN it waits for its cluster and has not begun
waits_for VARCHAR what it waits for, in words, the most basic first
""",
    ),
    table(
        "ray_services",
        "facts",
        "RayServices (ray.io), one row each.",
        _STATE
        + """
ready BOOLEAN it serves, by condition Ready or the old serviceStatus; null where neither says
ready_since TIMESTAMP when that last turned, as far as the status says
at_once BOOLEAN it has failed for good: its spec is not valid, or it did not get ready in its time
active_cluster VARCHAR the RayCluster that serves
active_id BIGINT that RayCluster, null where it is not in the bundle
pending_cluster VARCHAR the RayCluster that is being made ready
pending_id BIGINT that RayCluster
upgrading BOOLEAN an upgrade is under way
rolling_back BOOLEAN an upgrade is being rolled back
traffic VARCHAR during an incremental upgrade: capacity and traffic of both clusters in words
endpoints INTEGER status.numServeEndpoints
blame VARCHAR what keeps it from being ready, in words, the most basic first
serve_service VARCHAR name of the Service through which it serves
""",
    ),
    table(
        "ray_applications",
        "facts",
        "Serve applications and their deployments, as a RayService's status tells them.",
        """
object_id BIGINT the RayService
role VARCHAR active or pending: the cluster that it is in
cluster VARCHAR that RayCluster
app VARCHAR the application
deployment VARCHAR the deployment of it; null in the row of the application itself
status VARCHAR RUNNING, HEALTHY, DEPLOYING, UNHEALTHY, DEPLOY_FAILED…
unhealthy BOOLEAN UNHEALTHY or DEPLOY_FAILED
message VARCHAR its message
path VARCHAR where its status stands
since TIMESTAMP since when, as far as the status says
""",
    ),
)
