"""`triage ome accelerator explain`."""

from __future__ import annotations

from analyzer.cli import paths
from analyzer.cli.ome import group


def explain(
    bundle: paths.BundleArgument,
    name: group.Service,
    namespace: group.Namespace = "default",
    ome_namespace: group.OmeNamespace = "ome",
    output: group.Output = "table",
) -> None:
    """The class or policy that engine and decoder ask for, and the requests that their pods start from."""
    from analyzer.ome import ask
    from analyzer.ome.printing import render

    with group.answering():
        ask.check(name, namespace, ome_namespace, output)
        with group.opened(bundle, ome_namespace) as source:
            outcome = ask.answer(source, name, namespace, ome_namespace)
            notes = ask.notes(source, outcome)
    group.show(render(outcome.report, output), notes)
