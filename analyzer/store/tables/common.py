"""What is told of objects of every kind: coverage, states, conditions, events, owners, relations."""

from __future__ import annotations

from analyzer.store.tables.base import OBJECT, Table, table

TABLES: tuple[Table, ...] = (
    table(
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
    table(
        "states",
        "facts",
        "The state of every object of a kind that has named states.",
        OBJECT
        + """
state VARCHAR the state
reason VARCHAR the cluster's reason, null where there is none
message VARCHAR the cluster's words, or what the state was concluded from
since TIMESTAMP when it began, null where nothing says
""",
    ),
    table(
        "conditions",
        "facts",
        "status.conditions of every object (only lists of mappings with a type).",
        OBJECT
        + """
idx INTEGER position in the list, from 0
type VARCHAR type
status VARCHAR True, False or Unknown
reason VARCHAR reason
message VARCHAR message
since TIMESTAMP lastTransitionTime
""",
    ),
    table(
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
    table(
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
    table(
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
    table(
        "relations",
        "facts",
        "Edges along which trouble spreads: what is wrong with src shows in dst.",
        """
src BIGINT the object where the trouble is
dst BIGINT the object where it shows
kind VARCHAR owner (pod → ReplicaSet → Deployment), node, taint (Node → pod), mig-client (Node → pod), mig-manager (→ Node), pv, …
""",
    ),
    table(
        "platform_namespaces",
        "facts",
        "Namespaces that belong to the platform: a finding there that would be for the owner of a workload is for these instead.",
        """
namespace VARCHAR its name
owner VARCHAR who acts there: platform or cluster
""",
    ),
    table(
        "custom_faults",
        "facts",
        "Conditions by which custom resources without rules of their own say that something is wrong.",
        OBJECT
        + """
idx INTEGER position in status.conditions, from 0
type VARCHAR Ready, Available, Degraded or Failing
status VARCHAR its status, the bad one
reason VARCHAR reason
message VARCHAR message
since TIMESTAMP lastTransitionTime
""",
    ),
)
