"""What Ray's facts share: the group, and the pods of Ray by their cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import duckdb
import orjson

from analyzer.facts.values import mapping, text

GROUP = "ray.io"

_PODS = """
SELECT p.object_id, p.namespace, p.name, o.json -> '$.metadata.labels', p.phase, p.ready, p.ready_since, p.state,
    p.reason, p.message, p.since, p.created_at, p.deleted_at
FROM pods p JOIN objects o USING (object_id) WHERE contains(o.json::VARCHAR, '"ray.io/cluster"') ORDER BY p.object_id
"""


@dataclass(frozen=True, slots=True)
class RayPod:
    """A pod of a RayCluster."""

    object_id: int
    namespace: str
    name: str
    cluster: str
    role: str | None
    """head, worker or redis-cleanup"""
    group: str | None
    phase: str | None
    ready: bool
    state: str | None
    reason: str | None
    message: str | None
    since: datetime | None
    """Since when it is ready or not."""
    created_at: datetime | None
    deleted: bool

    @property
    def works(self) -> bool:
        """Running and ready, as KubeRay counts it."""
        return self.phase == "Running" and self.ready and not self.deleted

    @property
    def words(self) -> str:
        """Its state with the reason."""
        state = self.state or self.phase or "of no known state"
        return f"{state} ({self.reason})" if self.reason and self.reason != state else state


def pods_of(con: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], list[RayPod]]:
    """The pods of all RayClusters by namespace and name of the cluster."""
    found: dict[tuple[str, str], list[RayPod]] = {}
    for row in con.execute(_PODS).fetchall():
        object_id, namespace, name, labels, phase, ready, turned, state, reason, message, since, created, deleted = row
        marks = mapping(orjson.loads(labels)) if labels else {}
        cluster = text(marks.get("ray.io/cluster"))
        if cluster is None:
            continue
        pod = RayPod(
            object_id,
            namespace,
            name,
            cluster,
            text(marks.get("ray.io/node-type")),
            text(marks.get("ray.io/group")),
            phase,
            bool(ready),
            state,
            reason,
            message,
            turned or since or created,
            created,
            deleted is not None,
        )
        found.setdefault((namespace, cluster), []).append(pod)
    return found


def told(pods: Iterable[RayPod], most: int = 4) -> str | None:
    """The states of pods with their number, as words of a sentence: `2 pending (Unschedulable), 1 crash looping`."""
    counts = Counter(pod.words for pod in pods)
    listed = [f"{number} {words[:1].lower()}{words[1:]}" for words, number in counts.most_common(most)]
    more = len(counts) - most
    return ", ".join(listed) + (f" and {more} other states" if more > 0 else "") or None
