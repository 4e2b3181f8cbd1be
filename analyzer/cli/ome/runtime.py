"""`triage ome runtime explain|effective|tree`."""

from __future__ import annotations

from typing import Annotated

import typer

from analyzer.cli import paths
from analyzer.cli.ome import group


def runtimes(
    bundle: paths.BundleArgument,
    isvc: Annotated[str, typer.Option("--isvc", metavar="NAME", help="For the model of this InferenceService.")] = "",
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="For this BaseModel or ClusterBaseModel.")] = "",
    with_effective: Annotated[
        bool, typer.Option("--with-effective", help="With --isvc: what it runs with, as of runtime effective, too.")
    ] = False,
    namespace: group.Namespace = "default",
    ome_namespace: group.OmeNamespace = "ome",
    output: group.Output = "table",
) -> None:
    """Every runtime that OME may choose for a model, best first, and why it chooses none of the others."""
    from analyzer.ome import ask
    from analyzer.ome.runtime import asked, selection, views
    from analyzer.ome.runtime.effective import effective as evaluate

    with group.answering():
        if bool(isvc) == bool(model):
            raise ask.RefusedError("exactly one of --model or --isvc is required")
        if with_effective and not isvc:
            raise ask.RefusedError("--with-effective requires --isvc")
        ask.check(isvc or model, namespace, ome_namespace, output, "InferenceService" if isvc else "model")
        with group.opened(bundle, ome_namespace) as source:
            found = asked.selection_of(source, isvc, model, namespace)
            notes = asked.selection_notes(source, found)
            context = evaluate(source.world, found.service, ome_namespace) if with_effective else None
            notes += views.notes(context) if context else []
    group.show(selection.render(found, output, source.stamp, context), notes)


def effective(
    bundle: paths.BundleArgument,
    name: group.Service,
    namespace: group.Namespace = "default",
    ome_namespace: group.OmeNamespace = "ome",
    output: group.Output = "table",
) -> None:
    """The runtime of an InferenceService as it is now, and the one that it is pinned to."""
    from analyzer.ome import ask
    from analyzer.ome.runtime import views
    from analyzer.ome.runtime.effective import effective as evaluate

    with group.answering():
        ask.check(name, namespace, ome_namespace, output)
        with group.opened(bundle, ome_namespace) as source:
            found = evaluate(source.world, ask.find(source, name, namespace), ome_namespace)
            notes = [*views.notes(found), *ask.undated(source)]
    group.show(views.render(found, output, source.stamp), notes)


def tree(
    bundle: paths.BundleArgument,
    name: Annotated[str, typer.Argument(metavar="RUNTIME", help="A runtime; without one all are shown.")] = "",
    namespace: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--namespace",
            metavar="NS",
            help="Default: default; without RUNTIME, all.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="ServingRuntime or ClusterServingRuntime.")] = "",
    strays: Annotated[
        bool, typer.Option("--show-unattributed-users", help="With the InferenceServices of which no runtime can be told.")
    ] = False,
    output: group.Output = "table",
) -> None:
    """What a runtime inherits from, which runtimes inherit from it, and the InferenceServices that name any of them."""
    from analyzer.ome import ask
    from analyzer.ome.runtime import asked, branches

    with group.answering():
        ask.check_form(output)
        asked.check_target(name, kind)
        if namespace is not None:
            ask.check_label("namespace", namespace)
        with group.opened(bundle) as source:
            found = asked.tree_of(source, name, kind, namespace)
    strays = strays or not name
    notes = [*branches.notes(found), *asked.hidden(found, strays=strays)]
    group.show(branches.render(found, output, source.stamp, strays=strays), notes)
