"""Which release of the GPU Operator its own must-gather says that it is of.

The file `version` has the product and the release of the image that gathered, where the must-gather ran as such an image.
"""

from __future__ import annotations

import re

import duckdb

from analyzer.bundle.formats.gpu_operator import FORMAT
from analyzer.facts.gpu.components import Release

_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?(?:[-+.].{0,100})?", re.ASCII)
_SAID = """
SELECT json_extract_string(d.json, '$.version') FROM documents d JOIN files f USING (file_id)
WHERE d.role = 'version' AND f.format = ? AND (?::INTEGER IS NULL OR f.input = ?) ORDER BY f.input, f.path
"""


def of_must_gather(con: duckdb.DuckDBPyConnection, number: int | None = None) -> Release | None:
    """Year and month of the release that a must-gather of the GPU Operator names; of one input where `number` is given."""
    for (said,) in con.execute(_SAID, [FORMAT, number, number]).fetchall():
        if found := _VERSION.fullmatch(said or ""):
            return int(found[1]), int(found[2])
    return None
