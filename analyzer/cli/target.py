"""`BUNDLE KIND/NAME [-n NS]`: the object a command is about, or how the command ends where there is none."""

from __future__ import annotations

import contextlib
import sys

import duckdb

from analyzer.bundle.errors import UnreadableError
from analyzer.cli.errors import USAGE, fail
from analyzer.render.escape import clip, command_line
from analyzer.store.lookup import AmbiguousError, Asked, NotInBundleError, Target, lookup

NOT_THERE = 1
"""Exit code where the object is not in the bundle."""

_LISTED = 20
_MAX_NAME = 300


def find(con: duckdb.DuckDBPyConnection, what: Asked, namespace: str | None) -> Target:
    """The object; ends the command where there is none (exit 1) or several (exit 2, which are listed on stderr)."""
    try:
        return lookup(con, what, namespace)
    except duckdb.CatalogException:
        raise UnreadableError("another version of triage made this database; analyze the bundle again") from None
    except NotInBundleError as error:
        meant = " or ".join(clip(command_line(hint), _MAX_NAME) for hint in error.hints)
        fail(f"{error}{f'. Is {meant} meant?' if meant else ''}", NOT_THERE)
    except AmbiguousError as error:
        with contextlib.suppress(OSError, ValueError):
            for one in error.matches[:_LISTED]:
                print(f"  {clip(command_line(str(one)), _MAX_NAME)}", file=sys.stderr)
            if len(error.matches) > _LISTED:
                print(f"  and {len(error.matches) - _LISTED:,} more", file=sys.stderr)
        fail(f"{error}: say which with -n NAMESPACE or KIND.GROUP/NAME", USAGE)
