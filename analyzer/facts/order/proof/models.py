"""ModelResolved: is the model there and ready, may the class serve it, can it be fetched."""

from __future__ import annotations

import re

from analyzer.facts.order.proof.base import Proof
from analyzer.facts.order.proof.classes import absent, later
from analyzer.facts.order.proof.health import troubles
from analyzer.facts.order.shapes import CATALOGUE, GROUP, HUB, MODEL_KINDS, Class, Model, Said
from analyzer.facts.order.world import CATALOGUE_MODULE, MODULE, Order, World, nearest
from analyzer.facts.values import mapping

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
_WAITS = ("Pending", "Publishing")


def not_found(world: World, order: Order, said: Said, proof: Proof) -> None:
    """ModelNotFound."""
    source = order.source
    proof.quote(order.object_id, source.name_path, source.name, "Declared")
    if source.source == HUB or (source.source is None and source.name and "/" in source.name):
        if not source.name or not _REPOSITORY.fullmatch(source.name):
            proof.confirm("hub-malformed", model=source.name or "")
        else:
            proof.doubt("hub-unseen", model=source.name)
        return
    found = world.model_of(order)
    if found:
        proof.quote(found.object_id, "metadata.name", found.name, "Declared")
        if later(found.created_at, said):
            proof.refute("model-made", fixed=True, model=str(found), at=found.created_at)
        else:
            proof.refute("model-there", model=str(found), at=found.created_at)
        return
    kind = source.kind if source.kind in MODEL_KINDS else "Model"
    space = source.namespace or order.namespace
    listed = world.whole.has(GROUP, kind, space if kind == "Model" else "*")
    wanted = f"{kind} {source.name or '-'}" if kind == "ClusterModel" else f"{kind} {space}/{source.name or '-'}"
    if listed:
        proof.confirm("model-missing", model=wanted)
    else:
        proof.doubt("models-not-collected", model=wanted, kind=kind)
    _like_it(world, order, proof)


def _like_it(world: World, order: Order, proof: Proof) -> None:
    """The same name in another kind or namespace, else the nearest names."""
    own = [one for (number, *_), one in world.models.items() if number == order.input]
    same = [one for one in own if one.name == order.source.name]
    if same:
        proof.note("model-elsewhere", names=[str(one) for one in same])
        for one in same[:2]:
            proof.quote(one.object_id, "metadata.name", one.name, "Declared")
    elif own:
        near = nearest(order.source.name or "", [one.name for one in own])
        proof.note("model-near", names=[str(one) for name in near for one in own if one.name == name][:5])


def not_ready(world: World, order: Order, said: Said, proof: Proof) -> None:
    """ModelNotReady: the phase of the model decides whether waiting helps."""
    found = world.model_of(order)
    if order.source.source == HUB:
        proof.doubt("hub-unseen", model=order.source.name or "")
    elif found is None:
        not_found(world, order, said, proof)
    elif found.phase == "Ready" or (found.phase is None and found.ready and found.ready.true):
        since = found.ready.since if found.ready else None
        proof.quote(found.object_id, "status.phase", found.phase)
        proof.refute("model-ready", fixed=later(since, said), model=str(found), at=since)
    else:
        _phase(found, proof)


def _phase(found: Model, proof: Proof) -> None:
    proof.quote(found.object_id, "status.phase", found.phase)
    ready = found.ready
    words, reason = (ready.message or "-", ready.reason or "-") if ready else ("-", "-")
    if ready and not ready.true:
        proof.quote(found.object_id, f"status.conditions[{ready.idx}].message", ready.message or ready.reason)
    if found.phase in _WAITS:
        proof.confirm("model-importing", model=str(found), phase=found.phase or "")
        proof.decide("importing", waiting="yes")
    elif found.phase == "WaitForUpload":
        proof.confirm("model-upload", model=str(found))
        proof.decide("upload", waiting="no")
    elif found.phase == "Failed":
        proof.confirm("model-failed", model=str(found), reason=reason, words=words)
        proof.decide("failed", severity="error", waiting="no")
    elif found.phase == "Deleting":
        proof.confirm("model-deleting", model=str(found))
        proof.decide("deleting", waiting="no")
    elif ready and not ready.true:
        proof.confirm("model-says", model=str(found), reason=reason, words=words)
    else:
        proof.doubt("model-silent", model=str(found))


def invalid_source(world: World, order: Order, said: Said, proof: Proof) -> None:
    """InvalidModelSource."""
    del world, said
    source = order.source
    proof.quote(order.object_id, source.name_path, source.name, "Declared")
    if source.source is None:
        proof.confirm("source-none")
    elif source.source not in (HUB, CATALOGUE):
        proof.confirm("source-strange", source=source.source)
    if not source.name:
        proof.confirm("source-no-name")
    if source.source == HUB and (source.kind or source.namespace):
        proof.confirm("source-hub-ref")
        proof.quote(order.object_id, "spec.model.ref.kind", source.kind, "Declared")
        proof.quote(order.object_id, "spec.model.ref.namespace", source.namespace, "Declared")
    elif source.source == HUB and source.name and not _REPOSITORY.fullmatch(source.name):
        proof.confirm("hub-malformed", model=source.name)
    if source.source == CATALOGUE:
        if not source.kind:
            proof.confirm("source-no-kind")
        elif source.kind not in MODEL_KINDS:
            proof.confirm("source-kind", kind=source.kind)
        elif source.kind == "ClusterModel" and source.namespace:
            proof.confirm("source-cluster-space")
    if proof.verdict == "unknown":
        proof.doubt("source-fine")


def secret_missing(world: World, order: Order, said: Said, proof: Proof) -> None:
    """AuthSecretNotFound; bundles often come without Secrets, so that only a whole list of them tells."""
    if not order.secret:
        proof.doubt("secret-unnamed")
        return
    path = "spec.model.authSecretRef"
    proof.quote(order.object_id, path, order.secret, "Declared")
    secrets = world.named("", "Secret")
    there = secrets.get((order.input, order.namespace, order.secret))
    if there:
        proof.quote(there[0], "metadata.name", order.secret, "Declared")
        proof.refute("secret-there", fixed=later(there[1], said), name=order.secret, namespace=order.namespace, at=there[1])
        return
    if world.whole.has("", "Secret", order.namespace):
        proof.confirm("secret-missing", name=order.secret, namespace=order.namespace)
    else:
        proof.doubt("secrets-not-collected", namespace=order.namespace)
    spaces = sorted(space for number, space, name in secrets if number == order.input and name == order.secret)
    if spaces:
        proof.note("secret-elsewhere", name=order.secret, names=spaces)


def endpoint_types(world: World, order: Order, said: Said, proof: Proof) -> None:
    """EndpointTypePolicyConflict."""
    del said
    found, model = _pair(world, order, proof)
    if found is None or model is None:
        return
    if found.endpoint_types is None or model.endpoint_types is None:
        _unlisted(found, model, proof, able=model.endpoint_types is not None)
        return
    allowed, able = found.endpoint_types, model.endpoint_types
    proof.quote_each(found.object_id, found.paths.get("allowedendpointtypes", "spec"), allowed)
    proof.quote_each(model.object_id, "status.resolved.supportedEndpointTypes", able, "Reported")
    common = [one for one in allowed if one in able]
    if common:
        proof.refute("types-common", name=found.name, model=str(model), names=common)
        return
    proof.confirm("types-apart", name=found.name, allowed=list(allowed) or ["-"], model=str(model), able=list(able) or ["-"])
    fit = [one.name for one in world.classes_of(order) if one.endpoint_types and set(one.endpoint_types) & set(able)]
    if fit:
        proof.note("others-fit", names=sorted(fit))


def model_format(world: World, order: Order, said: Said, proof: Proof) -> None:
    """FormatNotAllowed."""
    del said
    found, model = _pair(world, order, proof)
    if found is None or model is None:
        return
    if found.formats is None or model.format is None:
        _unlisted(found, model, proof, able=model.format is not None)
        return
    proof.quote_each(found.object_id, found.paths.get("allowedformats", "spec"), found.formats)
    proof.quote(model.object_id, "status.resolved.format", model.format)
    if model.format in found.formats:
        proof.refute("format-allowed", name=found.name, model=str(model), format=model.format)
        return
    proof.confirm("format-refused", name=found.name, model=str(model), format=model.format, allowed=list(found.formats) or ["-"])
    fit = [one.name for one in world.classes_of(order) if one.formats and model.format in one.formats]
    if fit:
        proof.note("others-fit", names=sorted(fit))


def parameters(world: World, order: Order, said: Said, proof: Proof) -> None:
    """ParameterCountNotAllowed."""
    del said
    found, model = _pair(world, order, proof)
    if found is None or model is None:
        return
    limit, count = found.max_parameters, model.parameters
    if limit is None or count is None:
        _unlisted(found, model, proof, able=count is not None)
        return
    proof.quote(model.object_id, "status.resolved.parameterCount", count)
    proof.quote(found.object_id, found.paths.get("maxparametercount", "spec"), limit, "Declared")
    if count <= limit:
        proof.refute("parameters-allowed", model=str(model), count=count, name=found.name, limit=limit)
        return
    proof.confirm("parameters-refused", model=str(model), count=count, name=found.name, limit=limit)
    if model.format and found.formats and model.format in found.formats:
        proof.note("format-fine", format=model.format, name=found.name)
    fit = [one.name for one in world.classes_of(order) if one.max_parameters is None or one.max_parameters >= count]
    if fit:
        proof.note("others-larger", names=sorted(fit))


def _pair(world: World, order: Order, proof: Proof) -> tuple[Class | None, Model | None]:
    """Class and model of an order; says which of them the bundle lacks."""
    found, model = world.class_of(order), world.model_of(order)
    if found is None:
        absent(world, order, proof)
        proof.verdict = "unknown"
    if model is None:
        if order.source.source == HUB:
            proof.doubt("hub-tells-nothing", model=order.source.name or "")
        else:
            proof.doubt("model-not-in-bundle", model=order.source.name or "-")
    return found, model


def _unlisted(found: Class, model: Model, proof: Proof, *, able: bool) -> None:
    if able:
        proof.doubt("class-sets-none", name=found.name)
    else:
        proof.doubt("model-tells-none", model=str(model))


def catalogue_off(world: World, order: Order, said: Said, proof: Proof) -> None:
    """CatalogDisabled."""
    del said
    proof.quote(order.object_id, order.source.name_path, order.source.name, "Declared")
    config = world.module_config(order.input)
    if config is None:
        proof.doubt("config-not-collected", module=MODULE)
        return
    object_id, spec = config
    catalogue = mapping(mapping(spec.get("settings")).get("catalog"))
    mode = catalogue.get("mode")
    if mode is None:
        proof.doubt("catalogue-unset", module=MODULE)
        return
    proof.quote(object_id, "spec.settings.catalog.mode", mode, "Declared")
    if str(mode).lower() == "none":
        proof.confirm("catalogue-off", module=MODULE)
    else:
        proof.refute("catalogue-on", module=MODULE, mode=str(mode))


def lookup_failed(world: World, order: Order, said: Said, proof: Proof) -> None:
    """CatalogLookupFailed."""
    del said
    troubles(world, order, proof, (CATALOGUE_MODULE, MODULE))


def kind_not_served(world: World, order: Order, said: Said, proof: Proof) -> None:
    """CatalogKindNotServed."""
    kind = order.source.kind
    proof.quote(order.object_id, "spec.model.ref.kind", kind, "Declared")
    if not kind:
        proof.doubt("source-no-kind")
        return
    crds = world.named("apiextensions.k8s.io", "CustomResourceDefinition")
    plural = f"{kind.lower()}s.{GROUP}"
    there = crds.get((order.input, "", plural))
    if there:
        proof.quote(there[0], "metadata.name", plural, "Declared")
        proof.refute("kind-served", fixed=later(there[1], said), kind=kind, at=there[1])
    elif world.whole.has("apiextensions.k8s.io", "CustomResourceDefinition"):
        proof.confirm("kind-unserved", kind=kind, plural=plural)
    elif kind not in MODEL_KINDS:
        proof.confirm("source-kind", kind=kind)
    else:
        proof.doubt("crds-not-collected")


PROVERS = {
    "ModelNotFound": not_found,
    "ModelNotReady": not_ready,
    "InvalidModelSource": invalid_source,
    "AuthSecretNotFound": secret_missing,
    "EndpointTypePolicyConflict": endpoint_types,
    "FormatNotAllowed": model_format,
    "ParameterCountNotAllowed": parameters,
    "CatalogDisabled": catalogue_off,
    "CatalogLookupFailed": lookup_failed,
    "CatalogKindNotServed": kind_not_served,
}
