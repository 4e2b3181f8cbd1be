"""Which ConfigMaps' content is taken: by the plan's names and labels, and by what other objects of the cluster say of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analyzer.collect.objects import field_of
from analyzer.collect.plan import ConfigMaps, has_any, matches_any


@dataclass(slots=True)
class Contents:
    """Learns from the objects that go by before the ConfigMaps do, and then decides.

    Attributes:
        rules: the plan's part about ConfigMaps.
        referenced: names that stand in fields of other objects.
        nodes: names of nodes.
        of_nodes: namespaces in which maps named like a node are taken.
    """

    rules: ConfigMaps
    referenced: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    of_nodes: set[str] = field(default_factory=set)

    def see(self, resource: str, value: dict[str, Any]) -> None:
        """Learns what an object of a resource (PLURAL or PLURAL.GROUP) refers to."""
        if resource == "nodes":
            name = field_of(value, "metadata.name")
            if isinstance(name, str):
                self.nodes.add(name)
        for entry in self.rules.referenced:
            if entry.resource == resource and isinstance(name := field_of(value, entry.field), str) and name:
                self.referenced.add(name)

    def looks_at(self, resource: str) -> bool:
        """Are objects of a resource of use to `see`."""
        return resource == "nodes" or any(entry.resource == resource for entry in self.rules.referenced)

    def wanted(self, value: dict[str, Any]) -> bool:
        """Is the content of this ConfigMap taken."""
        metadata = value.get("metadata")
        if not isinstance(metadata, dict):
            return False
        name, namespace, labels = metadata.get("name"), metadata.get("namespace"), metadata.get("labels")
        if not isinstance(name, str):
            return False
        return (
            matches_any(self.rules.names, name)
            or name in self.referenced
            or (name in self.nodes and namespace in self.of_nodes)
            or (isinstance(labels, dict) and has_any(self.rules.labels, labels))
        )
