"""The closed set of reasons that an order can give, and the events about one."""

from __future__ import annotations

PLAN_IN_FORCE = "LaunchPlanInForce"
UNKNOWN = "UnknownReason"
GROWTH, REGION = "GrowthClaimUnplaced", "SettledRegionTooSmall"

REASONS: dict[str, str] = {
    "ClassNotFound": "ClassResolved",
    "ClassNotReady": "ClassResolved",
    "NamespaceNotAllowed": "ClassResolved",
    "ModelNotFound": "ModelResolved",
    "ModelNotReady": "ModelResolved",
    "InvalidModelSource": "ModelResolved",
    "AuthSecretNotFound": "ModelResolved",
    "EndpointTypePolicyConflict": "ModelResolved",
    "FormatNotAllowed": "ModelResolved",
    "ParameterCountNotAllowed": "ModelResolved",
    "CatalogDisabled": "ModelResolved",
    "CatalogLookupFailed": "ModelResolved",
    "CatalogKindNotServed": "ModelResolved",
    "NoCapacity": "Planned",
    "NoAcceleratorWithEnoughMemory": "Planned",
    "NoCompatiblePlacement": "Planned",
    "PlannerRequestFailed": "Planned",
    "PlanningPreemptionFailed": "Planned",
    "LaunchPlanNotAPlacement": "Planned",
    "PriorityClassNotFound": "Planned",
    "QuantizationMismatch": "Planned",
    "NoCompatibleRuntimeAvailable": "Planned",
    "ResourceClaimExhausted": "Planned",
    "PlacementUndecidable": "Planned",
    PLAN_IN_FORCE: "Planned",
    "ResourceClaimPending": "WorkloadReady",
    "WorkloadNotReady": "WorkloadReady",
    "WorkloadError": "WorkloadReady",
    "WorkloadStartupFailed": "WorkloadReady",
    "HealthCheckFailed": "Ready",
    "ServiceUnhealthy": "Ready",
    "ScaleUpBlocked": "ScalingHealthy",
}
"""Reason → the condition that it belongs to. Whichever condition carries it, the reason is what counts."""

EVENTS = (GROWTH, REGION)

PLANNER = tuple(reason for reason, condition in REASONS.items() if condition == "Planned" and reason != PLAN_IN_FORCE)
"""Why a plan could not be computed: what the message of LaunchPlanInForce names."""

PERMANENT = frozenset(
    {
        "ClassNotFound",
        "NamespaceNotAllowed",
        "ModelNotFound",
        "InvalidModelSource",
        "AuthSecretNotFound",
        "EndpointTypePolicyConflict",
        "FormatNotAllowed",
        "ParameterCountNotAllowed",
        "CatalogDisabled",
        "CatalogKindNotServed",
        "LaunchPlanNotAPlacement",
        "PriorityClassNotFound",
        "QuantizationMismatch",
        "NoCompatibleRuntimeAvailable",
        "PlacementUndecidable",
        "WorkloadError",
        "WorkloadStartupFailed",
        "ServiceUnhealthy",
    }
)
"""Reasons that do not pass by themselves: an order that gives no state of its own counts as Failed with them."""
