"""What is reached through the network, and what refuses: Services, webhooks, quotas, certificates."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "service_endpoints",
        "facts",
        "How many addresses a Service has, ready and not (from EndpointSlices, else from Endpoints).",
        """
namespace VARCHAR namespace
service VARCHAR name of the Service
object_id BIGINT an Endpoints or EndpointSlice object that says so
kind VARCHAR EndpointSlice or Endpoints
ready INTEGER addresses that are ready
not_ready INTEGER addresses that are not
""",
    ),
    table(
        "webhooks",
        "facts",
        "The webhooks of ValidatingWebhookConfigurations and MutatingWebhookConfigurations.",
        """
object_id BIGINT the configuration
kind VARCHAR its kind
configuration VARCHAR its name
idx INTEGER position in webhooks, from 0
webhook VARCHAR name of the webhook
failure_policy VARCHAR Fail or Ignore
service_namespace VARCHAR namespace of its Service, null where it is called by URL
service VARCHAR name of its Service
service_id BIGINT the Service, null where it is not in the bundle
""",
    ),
    table(
        "webhook_failures",
        "facts",
        "Where the API server's words 'failed calling webhook' stand, one row a place.",
        """
webhook VARCHAR name of the webhook
configuration_id BIGINT the configuration that has it, null where it is not in the bundle
source VARCHAR event, condition or log
object_id BIGINT what the event is about, or the object with the condition; null for a log
event_id BIGINT the Event object of an event
path VARCHAR the field that says so (status.conditions[0].message)
log_id BIGINT the log
line BIGINT the line of the log's file
cause VARCHAR no-endpoints, service-missing, refused, timeout, certificate, denied or other
words VARCHAR that cause in words
message VARCHAR the words
first_at TIMESTAMP first seen
last_at TIMESTAMP last seen
""",
    ),
    table(
        "quota_refusals",
        "facts",
        "What a ResourceQuota refused, one row a place that says so and resource, with what the quota says now.",
        """
object_id BIGINT the object whose pods (or other objects) were refused, null where it is not in the bundle
input INTEGER its input
namespace VARCHAR the namespace
quota VARCHAR name of the ResourceQuota
quota_id BIGINT the ResourceQuota, null where it is not in the bundle
resource VARCHAR the resource that did not fit, such as requests.cpu
requested VARCHAR how much the refused request asked for
used VARCHAR how much is used, by the quota's status, else by the refusal
hard VARCHAR the limit, by the quota's status, else by the refusal
current BOOLEAN the limit is that of the quota's status
exceeds BOOLEAN requested and used together are more than the limit, null where a quantity cannot be read
source_id BIGINT the Event, or the object with the condition, that says so
source_path VARCHAR the field that says so
message VARCHAR the words
times INTEGER how often it was seen
first_at TIMESTAMP first seen
last_at TIMESTAMP last seen, null for a condition
""",
    ),
    table(
        "certificates",
        "facts",
        "X.509 certificates that the bundle holds; fields with more than 20 of them (stores of public roots) are left out.",
        """
object_id BIGINT the object
input INTEGER its input
path VARCHAR the field, such as data["ca.crt"] or status.certificate
idx INTEGER position in that field, from 0
role VARCHAR own (the object's own certificate, then its chain) or trust (what is trusted)
subject VARCHAR common name, else the whole name
issuer VARCHAR the same of who signed it
fingerprint VARCHAR SHA-256 of the certificate
authority BOOLEAN it is that of a certificate authority
not_before TIMESTAMP valid from
not_after TIMESTAMP valid to
replaced BOOLEAN out of use: its requester has asked anew, or it is kept for an older revision (NAME-7 beside NAME)
short BOOLEAN meant to be renewed in time by the cluster itself: it says so, or lives for 14 days at most
""",
    ),
)
