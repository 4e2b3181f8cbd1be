"""What the status of one object tells in its conditions, for facts that read objects in Python."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analyzer.facts.values import mappings, moment, text


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; `place` is where it stands, such as `status.conditions[2]`."""

    type: str
    status: str
    reason: str | None
    message: str | None
    since: datetime | None
    place: str

    @property
    def is_true(self) -> bool:
        """It says yes."""
        return self.status == "True"

    @property
    def is_false(self) -> bool:
        """It says no."""
        return self.status == "False"

    @property
    def path(self) -> str:
        """The field to quote: its message, else its status."""
        return f"{self.place}.{'message' if self.message else 'status'}"

    @property
    def words_path(self) -> str:
        """The field to quote where a reason is as good as words: its message, else its reason, else its status."""
        return f"{self.place}.{'message' if self.message else 'reason' if self.reason else 'status'}"


class Conditions(dict[str, Condition]):
    """Conditions by type."""

    def true(self, kind: str) -> Condition | None:
        """The condition of that type where it is True."""
        found = self.get(kind)
        return found if found is not None and found.is_true else None


def conditions(status: dict[str, Any]) -> Conditions:
    """The conditions of a status by type, the first of each; those without a type or a status are left out."""
    found = Conditions()
    for index, item in enumerate(mappings(status.get("conditions"))):
        kind, state = text(item.get("type")), text(item.get("status"))
        if kind and state and kind not in found:
            reason, message = text(item.get("reason")), text(item.get("message"))
            since = moment(item.get("lastTransitionTime"))
            found[kind] = Condition(kind, state, reason, message, since, f"status.conditions[{index}]")
    return found
