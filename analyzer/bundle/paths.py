"""Names inside an archive: what is safe, what a link leads to, what looks like an archive."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from analyzer.bundle.limits import MAX_LINK_HOPS, MAX_PATH_CHARS

_ARCHIVE_ENDINGS = (".tar", ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tgz", ".txz", ".tzst", ".tbz", ".tbz2", ".zip")

_MAX_LINK_STEPS = 1000
"""Path parts looked at for one link, so that a maze of links costs little."""


def decode_name(raw: bytes) -> str:
    r"""A name as text; bytes that are no UTF-8 become `\xNN`, so that two different names stay different."""
    return raw.decode("utf-8", "backslashreplace")


def clean_path(name: str) -> tuple[str, str | None]:
    """The name without `./`, doubled and ending slashes, and why it is unsafe (None where it is not).

    An unsafe name comes back as it is, cut to the limit; its content is never read.
    """
    if len(name) > MAX_PATH_CHARS:
        return name[:MAX_PATH_CHARS], f"unsafe path: longer than {MAX_PATH_CHARS:,} characters"
    # Plain tests of strings: this runs for every entry, and one regular expression costs more than all of them.
    if (
        "./" not in name
        and "//" not in name
        and "\0" not in name
        and not name.startswith("/")
        and not name.endswith(("/", "/.", "/.."))
        and name not in {"", ".", ".."}
    ):
        return name, None
    if "\0" in name:
        return name.replace("\0", "\\0"), "unsafe path: it holds a NUL"
    if name.startswith("/"):
        return name, "unsafe path: it is absolute"
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if ".." in parts:
        return name, "unsafe path: it leads out of the bundle"
    return "/".join(parts), None if parts else "unsafe path: it has no name"


def is_archive_name(path: str) -> bool:
    """Whether the name says that this is an archive; its bytes decide which."""
    return path[-8:].lower().endswith(_ARCHIVE_ENDINGS)


def resolve_link(path: str, links: Mapping[str, str]) -> tuple[str, str | None]:
    """Where the link `path` leads, as a path from the root of the archive, and why it leads nowhere.

    Args:
        path: a clean path that is a key of `links`.
        links: clean path → target as written, of every symbolic link of the archive.
    """
    done: list[str] = []
    parts = deque(path.split("/"))
    hops = steps = 0
    while parts:
        steps += 1
        if steps > _MAX_LINK_STEPS or hops > MAX_LINK_HOPS:
            return "", "a link that leads in a circle or too far"
        part = parts.popleft()
        if part in {"", "."}:
            continue
        if part == "..":
            if not done:
                return "", "a link out of the bundle"
            done.pop()
            continue
        done.append(part)
        target = links.get("/".join(done))
        if target is not None:
            hops += 1
            if target.startswith("/"):
                return "", "a link out of the bundle"
            done.pop()
            parts.extendleft(reversed(target.split("/")))
    return "/".join(done), None
