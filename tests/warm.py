"""Imported once by the process that the program is forked from: our rules are read there, and their words compiled."""

from __future__ import annotations

import contextlib
import gc
from functools import cache

from analyzer.engine import pack
from analyzer.engine.templates import Template, TemplateError

_read = cache(pack.built_in)
_read(checked=False)
for template in [known for known in gc.get_objects() if isinstance(known, Template)]:
    # Filled with nothing, most of them fail: what counts is that each is compiled by then.
    with contextlib.suppress(TemplateError):
        template.render({})
_read()
setattr(pack, "built_in", _read)  # noqa: B010 - a function of a module, as far as types go
