"""One InferenceService asked for by name: its report, or why there is none, in the words of OME's command."""

from __future__ import annotations

from analyzer.ome import decode
from analyzer.ome.candidates import MAX_RUNTIMES, TooManyRuntimesError
from analyzer.ome.envelope import FORMATS
from analyzer.ome.explain import NoComponentError, Outcome, explain
from analyzer.ome.names import is_subdomain
from analyzer.ome.source import Source
from analyzer.ome.world import SERVICE, Lookup, Thing

_READ = {
    "not-found": "not found",
    "forbidden": "forbidden",
    "unsupported": "unsupported API",
    "not-collected": "unreadable",
    "failed": "unreadable",
    "damaged": "unreadable",
}
_OFFLINE = {"not-collected": " (not collected in this bundle)", "damaged": " (damaged in this bundle)"}
_MAX_LABEL = 63
_HINTED = 3


class RefusedError(Exception):
    """There is no report; the text says why, without `error: `."""


def check(name: str, namespace: str, ome_namespace: str, form: str, what: str = SERVICE) -> None:
    """Checks what was asked before anything is read; `what` says of which object the name is.

    Raises:
        RefusedError: a name cannot be one, or the format is unknown.
    """
    check_form(form)
    check_name(what, name)
    check_label("namespace", namespace)
    check_label("OME namespace", ome_namespace)


def check_form(form: str) -> None:
    """Checks an output format.

    Raises:
        RefusedError: it is unknown.
    """
    if form not in FORMATS:
        raise RefusedError(f'unsupported output format "{form}" (supported: {", ".join(FORMATS)})')


def check_name(what: str, name: str) -> None:
    """Checks the name of an object; `what` says of which.

    Raises:
        RefusedError: it can be none.
    """
    if not is_subdomain(name):
        raise RefusedError(f'{what} name "{name}" is invalid: it must be a lowercase RFC 1123 subdomain')


def check_label(what: str, value: str) -> None:
    """Checks the name of a namespace; `what` says of which.

    Raises:
        RefusedError: it can be none.
    """
    if not is_subdomain(value) or "." in value or len(value) > _MAX_LABEL:
        raise RefusedError(f'{what} "{value}" is invalid: it must be a lowercase RFC 1123 label')


def find(source: Source, name: str, namespace: str) -> Thing:
    """The InferenceService.

    Raises:
        RefusedError: it is not at hand, or does not decode.
    """
    found = source.world.get(SERVICE, namespace, name)
    if found.thing is None:
        raise RefusedError(f'read {SERVICE} "{namespace}/{name}": {_READ[found.absence]}{_more(source, found.absence, name)}')
    if not decode.service_reads(dict(found.thing.value)):
        raise RefusedError(f'read {SERVICE} "{namespace}/{name}": unreadable')
    return found.thing


def _more(source: Source, absence: str, name: str) -> str:
    """What an offline reader needs to know beyond OME's words."""
    spaces = sorted(space for kind, space, own in source.world.things if kind == SERVICE and own == name)
    if spaces:
        return f" (there is one in namespace {', '.join(spaces[:_HINTED])})"
    return _OFFLINE.get(absence, "")


def absent(lookup: Lookup) -> str:
    """Why an object is not at hand, in the words of OME's command and what an offline reader needs beyond them."""
    return f"{_READ[lookup.absence]}{_OFFLINE.get(lookup.absence, '')}"


def answer(source: Source, name: str, namespace: str, ome_namespace: str) -> Outcome:
    """The evaluation of one InferenceService.

    Args:
        source: the bundle.
        name: the InferenceService.
        namespace: its namespace.
        ome_namespace: where OME keeps pinned revisions.

    Raises:
        RefusedError: there is no report.
    """
    service = find(source, name, namespace)
    try:
        return explain(source.world, service, ome_namespace, source.stamp)
    except NoComponentError as error:
        raise RefusedError(str(error)) from None
    except TooManyRuntimesError:
        raise RefusedError(f"collect active runtime configuration: there are more than {MAX_RUNTIMES:,} runtimes") from None


def notes(source: Source, outcome: Outcome) -> list[str]:
    """What the report cannot say for lack of evidence, in words: OME's command has no place for it."""
    force, found = outcome.active, []
    if force.unknown:
        found.append(f"{force.unknown.words}: what is in force cannot be told from this bundle")
    if force.assumed:
        found.append(force.assumed)
    if force.unverified and force.source:
        found.append(f"{force.source}: its hash cannot be computed from a bundle and was not verified")
    found += [lookup.words for lookup in outcome.unknown_classes.values()]
    if not any(one.generation for one in outcome.report.sources if one.kind == SERVICE):
        found.append("the InferenceService has no generation in this bundle: whether its status is current cannot be told")
    return found + undated(source)


def undated(source: Source) -> list[str]:
    """That the bundle does not say when it was collected, where it does not."""
    return [] if source.collected_at else ["this bundle does not say when it was collected"]
