"""What a status says of the AutoscalerPolicy behind an autoscaler, and whether that can be (alpha in OME v1.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from analyzer.ome.names import is_subdomain
from analyzer.ome.world import integer, items, mapping, string

RESOLVED = "AutoscalerResolved"
"""A condition that tells which policy was chosen, of every class of scaler."""
INVALID, CONFLICT = "PolicyEvidenceInvalid", "PolicyConditionConflict"
_KIND = "AutoscalerPolicy"
_PORTABLE = re.compile(r"pv1:[0-9a-f]{12}", re.ASCII)
_RENDERED = re.compile(r"rv1:[0-9a-f]{12}", re.ASCII)
_RENDERED_BY_POLICY, _INLINE, _MODE = "RenderedFromPolicy", "InlinePrecedence", "UnsupportedMode"
_HELD = ("PolicyNotFound", "PolicyInvalid", "AuthNotFound", "ClassUnavailable")
"""Reasons for which what was rendered before is kept."""
_OTHER_SOURCES = ("isvc", "runtime", "legacy", "default")


def issue_of(
    scaler: Mapping[str, Any], declared: Any, generation: int, is_well_formed: Callable[[Mapping[str, Any]], bool]
) -> str:
    """What is wrong with the policy of an autoscaler, in OME's word; empty where nothing is.

    Args:
        scaler: the autoscaler as the status of the component reports it.
        declared: the component as the InferenceService declares it.
        generation: that of the InferenceService.
        is_well_formed: whether Kubernetes takes a condition.
    """
    told = [one for one in items(scaler.get("conditions")) if one.get("type") == RESOLVED]
    if len(told) > 1:
        return CONFLICT
    reference = mapping(declared).get("autoscalerPolicyRef")
    name = string(mapping(reference).get("name"))
    if reference is not None and not (is_subdomain(name) and mapping(reference).get("kind") in (None, "", _KIND)):
        return INVALID
    if not told:
        traces = (reference, scaler.get("policy"), scaler.get("shadowedPolicyRef"))
        return INVALID if any(one is not None for one in traces) or scaler.get("specSource") == "policy" else ""
    condition = told[0]
    current = generation > 0 and integer(condition.get("observedGeneration")) == generation
    if reference is None or not current or not is_well_formed(condition):
        return INVALID
    return "" if _agrees(condition, scaler, name, inline=mapping(declared).get("autoscaler") is not None) else INVALID


def _agrees(condition: Mapping[str, Any], scaler: Mapping[str, Any], name: str, *, inline: bool) -> bool:
    """Whether a condition agrees with what else the status says of the policy."""
    reason, source = condition.get("reason"), scaler.get("specSource")
    used, shadowed = scaler.get("policy"), scaler.get("shadowedPolicyRef")
    holds = condition.get("status") == "True"
    if reason == _RENDERED_BY_POLICY:
        return holds and not inline and source == "policy" and shadowed is None and _is_used(used, name)
    if reason == _INLINE:
        return holds and inline and source == "isvc" and used is None and _is_shadowed(shadowed, name)
    denied = condition.get("status") == "False" and shadowed is None
    if reason in _HELD:
        # What is kept may come from the policy that was named before.
        return denied and not inline and source == "policy" and (used is None or _is_used(used))
    return reason == _MODE and denied and source in _OTHER_SOURCES and used is None


def _is_used(policy: Any, name: str = "") -> bool:
    """Whether the status can have rendered from a policy; `name` is the one that it must be, empty for any."""
    own = mapping(policy)
    return (
        is_subdomain(own.get("name"))
        and name in ("", own.get("name"))
        and integer(own.get("observedGeneration")) > 0
        and _PORTABLE.fullmatch(string(own.get("portableDigest"))) is not None
        and _RENDERED.fullmatch(string(own.get("resolvedDigest"))) is not None
    )


def _is_shadowed(policy: Any, name: str) -> bool:
    """Whether a policy can be one that a scaler written into the service stands before: both digests, or none."""
    own = mapping(policy)
    portable, rendered = string(own.get("portableDigest")), string(own.get("wouldRenderDigest"))
    both = _PORTABLE.fullmatch(portable) is not None and _RENDERED.fullmatch(rendered) is not None
    return own.get("name") == name and (both or not (portable or rendered))
