"""`triage ome status`."""

from __future__ import annotations

from analyzer.cli import paths
from analyzer.cli.ome import group


def status(
    bundle: paths.BundleArgument,
    name: group.Service,
    namespace: group.Namespace = "default",
    ome_namespace: group.OmeNamespace = "ome",
    output: group.Output = "table",
) -> None:
    """Why an InferenceService is or is not ready: conditions, pods, rollout, scaling, traffic, runtime, events, in one page."""
    from analyzer.ome import ask
    from analyzer.ome.status.page import render
    from analyzer.ome.status.report import status_of

    with group.answering():
        ask.check(name, namespace, ome_namespace, output)
        with group.opened(bundle, ome_namespace, namespace) as source:
            found = status_of(source, ask.find(source, name, namespace), ome_namespace)
    group.show(render(found, output), found.notes)
