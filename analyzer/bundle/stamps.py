"""When a collection ended, as far as its format says so itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

# As troubleshoot names its folders: the local time of whoever ran it, no zone.
_NAME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d)[_:-](\d\d)[_:-](\d\d)")


@dataclass(frozen=True, slots=True)
class Stamp:
    """The end time of one timestamp file.

    `prefix` is the root that it belongs to, `clock` whose clock it is (`server`, `pod` or `client`), `at` RFC 3339 UTC.
    """

    prefix: str
    path: str
    clock: str
    at: str
    line: int


def format_time(stamps: Sequence[Stamp]) -> tuple[str | None, str | None]:
    """The end of a collection and where it stands; two times None where no file says.

    The server's clock and a pod's are those of the cluster, so a client's stamp counts only where no image folder below
    it has one of its own. Of several images or inspects the one that ended last counts.
    """
    pods = [stamp for stamp in stamps if stamp.clock != "client"]
    chosen = pods + [
        one for one in stamps if one.clock == "client" and not any(pod.prefix.startswith(one.prefix) for pod in pods)
    ]
    if not chosen:
        return None, None
    last = max(chosen, key=lambda stamp: _moment(stamp.at))
    return last.at, f"line {last.line} of {last.path} (clock of the {last.clock})"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def name_time(name: str) -> datetime | None:
    """The local time in the name of a folder or archive, without zone; None where there is none."""
    found = _NAME.search(name)
    if not found:
        return None
    try:
        return datetime(*(int(part) for part in found.groups()))  # type: ignore[arg-type] # noqa: DTZ001 - has no zone
    except ValueError:
        return None
