"""`triage show`: one object of a bundle in plain words, or as it is stored."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from analyzer.bundle.errors import UsageError
from analyzer.cli import paths, prepare
from analyzer.cli.errors import fail


def show(
    bundle: paths.BundleArgument,
    name: Annotated[
        str,
        typer.Argument(
            metavar="KIND/NAME",
            parser=paths.word,
            help="Such as pod/app-0, deploy/web or services.serving.knative.dev/web.",
            show_default=False,
        ),
    ],
    namespace: Annotated[
        str | None,
        typer.Option(
            "-n", "--namespace", metavar="NS", parser=paths.word, help="Its namespace, where several have one of that name."
        ),
    ] = None,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="The object as stored, secrets masked.")] = False,
) -> None:
    """One object in plain words: state, why, since, what it is linked to, its conditions, events and findings."""
    from analyzer.cli import target
    from analyzer.store.lookup import asked
    from analyzer.store.reading import reading

    what = asked(name)
    if namespace is not None and not namespace.strip():
        raise UsageError("the namespace after -n is empty")
    with prepare.database_for(bundle) as database, reading(database) as con:
        found = target.find(con, what, namespace)
        if as_yaml:
            from analyzer.show.subject import subject
            from analyzer.show.yamltext import yaml_of

            if not found.is_object:
                fail(
                    f"not found: {found.kind} {found.name} is no object of the cluster, only its state is known", target.NOT_THERE
                )
            sys.stdout.write(yaml_of(subject(con, found).value))
            return
        from analyzer.show import view_of
        from analyzer.show.printing import Pages, print_view

        print_view(view_of(con, found), Pages())
