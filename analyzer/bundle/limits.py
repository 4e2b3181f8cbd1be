"""Every limit that untrusted input meets, in one place, with the reason for its value.

Sizes are in bytes. None of them is meant to be met by a real bundle; each names what a hostile one could otherwise do.
"""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
TIB = 1024 * GIB

# --- archives and folders -------------------------------------------------------------------------------------------

MAX_ENTRIES = 1_000_000
"""Entries of one input, nested archives counted in. A must-gather of a large cluster has about 100,000 files."""

MAX_ENTRY_BYTES = 64 * GIB
"""One entry, uncompressed. The largest real ones are audit logs and journals of a few GiB."""

MAX_TOTAL_BYTES = TIB
"""All entries of one input, uncompressed. Nothing is unpacked to disk, so this bounds time, not space."""

MAX_RATIO = 250
"""Uncompressed to compressed bytes of one archive or compressed file. YAML and logs reach 10 to 60; zeros in gzip 1,030."""

RATIO_FLOOR_BYTES = 512 * MIB
"""Below this many uncompressed bytes the ratio is not looked at: a small archive of one repeated line does no harm."""

MAX_NESTING = 2
"""Archives inside archives. Real bundles have one level (insights archives in a must-gather, a must-gather in a case file)."""

MAX_NESTED_BYTES = 512 * MIB
"""Size of a nested archive as it lies in its parent: it is spooled, since a zip must be read from its end."""

NESTED_MEMORY_BYTES = 64 * MIB
"""Up to here a nested archive is spooled in memory, beyond in an unnamed temporary file."""

MAX_PATH_CHARS = 4096
"""Length of an entry's path, the outer archive's counted in. Real ones go to about 400."""

MAX_NAMES_CHARS = 256 * MIB
"""Length of all paths of one input together, which are kept in memory."""

MAX_FOLDER_DEPTH = 128
"""Folders in folders of a given directory."""

MAX_LINK_HOPS = 40
"""Links followed to find out where a link leads, as in Linux."""

MAX_LINKS = 20_000
"""Links of one archive that are remembered until its end."""

MAX_TAR_EXTRA_BYTES = MIB
"""Long name or pax header of one tar member. Paths and link targets are all that is used of it."""

MAX_ZIP_DIRECTORY_BYTES = 512 * MIB
"""A zip's table of contents, which is read whole: about 400 bytes an entry at `MAX_ENTRIES`."""

MAX_WINDOW_BYTES = 128 * MIB
"""Memory that a zstd or xz stream may ask for to be decompressed; `zstd -19` and `xz -9` need up to 65 MiB."""

MAX_STDIN_BYTES = 64 * GIB
"""What is read from standard input into the temporary folder."""

# --- documents ------------------------------------------------------------------------------------------------------

MAX_DOCUMENT_BYTES = 256 * MIB
"""One YAML or JSON file that is parsed. Event lists of some hundred MB exist."""

MAX_DOCUMENT_DEPTH = 200
"""Mappings and lists inside each other. The deepest real objects (CRD schemas) have about 60."""

MAX_ALIAS_NODES = 1_000_000
"""Nodes that the YAML aliases of one document may stand for ("billion laughs")."""

MAX_OBJECT_BYTES = 64 * MIB
"""One Kubernetes object as JSON; etcd takes 1.5 MiB by default."""

# --- logs -----------------------------------------------------------------------------------------------------------

TAIL_LINES = 50
"""Last lines of a log that are kept in the database."""

TAIL_BYTES = 8192
"""Bytes of these last lines at most."""

# --- processes --------------------------------------------------------------------------------------------------------

WORKER_BYTES = 4 * GIB
"""Address space of a worker on top of what it has when it starts, where the system can limit it."""
