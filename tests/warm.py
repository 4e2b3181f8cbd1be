"""Imported once by the process that the program is forked from: our rules are read there, not by each run anew."""

from __future__ import annotations

from functools import cache

from analyzer.engine import pack

_read = cache(pack.built_in)
_read()
_read(checked=False)
setattr(pack, "built_in", _read)  # noqa: B010 - a function of a module, as far as types go
