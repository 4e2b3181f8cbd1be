"""What becomes of one object on its way to the bundle: what is dropped, what is kept in another form, what is masked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import orjson

from analyzer.collect.discovery import Resource
from analyzer.collect.plan import Plan, has_any, matches_any
from analyzer.managed import LABEL_TIMES, MANAGERS, label_times, managers
from analyzer.redact import mask_object
from analyzer.redact.signs import needles

METADATA_ONLY = "triage.dev/metadata-only"
MAX_MANAGERS = 50
"""Managers of one object that are kept, the newest first."""

_PLACEHOLDER = re.compile(rb"\[masked:([a-z-]{1,32}):[0-9a-f]{10}")
_SECRET_ANNOTATIONS = (
    "kubernetes.io/*",
    "*.kubernetes.io/*",
    "openshift.io/*",
    "*.openshift.io/*",
    "cert-manager.io/*",
    "meta.helm.sh/*",
    "reloader.*",
)
"""Annotations of Secrets whose values say where they come from. Any other may hold the secret itself, so that it is left out."""
_MAX_ANNOTATION = 500

Shape = Callable[[dict[str, Any]], None]


@dataclass(slots=True)
class Tally:
    """What was left out of objects, and what was masked in them: counts by what and why, and by kind of secret."""

    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Takes over the counts of another."""
        self.left_out.update(other.left_out)
        self.masked.update(other.masked)


class Shaper:
    """Makes the objects of one resource fit for the bundle."""

    def __init__(self, plan: Plan, resource: Resource, contents: Callable[[dict[str, Any]], bool], *, secret_keys: bool) -> None:
        """`contents` says of a ConfigMap whether its content is taken; `secret_keys` keeps the names of a Secret's keys."""
        self._plan, self._resource = plan, resource
        self._contents, self._secret_keys = contents, secret_keys
        self._trims = [entry for entry in plan.trimmed if entry.resource == resource.name]
        self._managers = resource.name in plan.field_managers.resources or (plan.field_managers.custom and resource.custom)
        self._labels = plan.label_times.keys if resource.name in plan.label_times.resources else ()

    def shape(self, value: dict[str, Any], tally: Tally) -> bytes:
        """The object as one line of JSON: kind filled in, trimmed, masked. Changes `value`."""
        value = self._typed(value)
        metadata = value.get("metadata")
        if not isinstance(metadata, dict):
            metadata = value["metadata"] = {}
        self._metadata(metadata, tally)
        if self._resource.name == "secrets":
            value = self._secret(value, metadata, tally)
        elif self._resource.name == "configmaps":
            self._configmap(value, tally)
        for trim in self._trims:
            if not has_any(trim.keep, metadata.get("labels") or {}) and not has_any(trim.keep, metadata.get("annotations") or {}):
                for path in trim.drop:
                    if _drop(value, path):
                        tally.left_out[f"{trim.resource} {path}", trim.why] += 1
        line = orjson.dumps(value)
        if needles(line) or value["kind"] == "Secret":
            line = orjson.dumps(mask_object(value))
        if b"[masked:" in line:
            tally.masked.update(kind.decode() for kind in _PLACEHOLDER.findall(line))
        return line

    def _typed(self, value: dict[str, Any]) -> dict[str, Any]:
        """Items of lists carry no kind: the list's says it. A kind of its own counts where it has one."""
        kind = value.pop("kind", None)
        version = value.pop("apiVersion", None)
        partial = kind == "PartialObjectMetadata"
        return {
            "apiVersion": self._resource.api_version if partial or not isinstance(version, str) or not version else version,
            "kind": self._resource.kind if partial or not isinstance(kind, str) or not kind else kind,
            **value,
        }

    def _metadata(self, metadata: dict[str, Any], tally: Tally) -> None:
        fields = metadata.pop("managedFields", None)
        annotations = metadata.get("annotations")
        if isinstance(annotations, dict):
            for name in self._plan.drop_annotations:
                if annotations.pop(name, None) is not None:
                    tally.left_out[f"annotation {name}", "repeats the object"] += 1
        if not isinstance(fields, list):
            return
        tally.left_out["metadata.managedFields", "large; managers and times are kept where rules read them"] += 1
        added: dict[str, str] = {}
        if self._managers and (writers := managers(fields, MAX_MANAGERS)):
            added[MANAGERS] = orjson.dumps(writers).decode()
        if self._labels and (times := label_times(fields, partial(matches_any, self._labels))):
            added[LABEL_TIMES] = orjson.dumps(times).decode()
        if added:
            metadata["annotations"] = {**(annotations if isinstance(annotations, dict) else {}), **added}

    def _secret(self, value: dict[str, Any], metadata: dict[str, Any], tally: Tally) -> dict[str, Any]:
        """Metadata only, built anew: nothing else of a Secret gets in, whatever the server answered."""
        annotations = metadata.get("annotations")
        kept: dict[str, Any] = {}
        for key, text in annotations.items() if isinstance(annotations, dict) else ():
            known = matches_any(_SECRET_ANNOTATIONS, key) and isinstance(text, str) and len(text) <= _MAX_ANNOTATION
            kept[key] = text if known else _size_mark(text)
        metadata["annotations"] = {**kept, METADATA_ONLY: "true"}
        tally.left_out["Secret values", "never leave the server, or are dropped before anything is written"] += 1
        secret: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
        if self._secret_keys:
            if isinstance(value.get("type"), str):
                secret["type"] = value["type"]
            data = value.get("data")
            if isinstance(data, dict):
                secret["data"] = {key: _size_mark(text, packed=True) for key, text in data.items()}
        return secret

    def _configmap(self, value: dict[str, Any], tally: Tally) -> None:
        wanted = self._contents(value)
        for part in ("data", "binaryData"):
            held = value.get(part)
            if not isinstance(held, dict):
                continue
            if wanted and part == "data":
                for key, text in held.items():
                    if isinstance(text, str) and len(text) > self._plan.configmaps.max_bytes:
                        held[key] = _size_mark(text)
                        tally.left_out["ConfigMap content", f"a value of more than {self._plan.configmaps.max_bytes} bytes"] += 1
            elif held:
                value[part] = {key: _size_mark(text, packed=part == "binaryData") for key, text in held.items()}
                tally.left_out["ConfigMap content", "read by no rule"] += 1


def _size_mark(text: object, *, packed: bool = False) -> str:
    """What stands for a value that is left out; of base64 the size of what is in it is told."""
    if not isinstance(text, str):
        return "(not collected)"
    size = len(text) * 3 // 4 - text[-2:].count("=") if packed else len(text.encode("utf-8", "surrogatepass"))
    return f"({size} bytes, not collected)"


def field_of(value: Any, path: str) -> Any:
    """The value at `a.b.c`; None where there is none."""
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _drop(value: Any, path: str) -> bool:
    """Removes the field at `a.b` or `a.b[].c`, in every item of a list; True where there was one."""
    step, _, rest = path.partition(".")
    each = step.endswith("[]")
    step = step.removesuffix("[]")
    if not isinstance(value, dict) or step not in value:
        return False
    if not rest:
        del value[step]
        return True
    inner = value[step]
    if each:
        # In every item: any() of a generator would end at the first.
        return sum(_drop(item, rest) for item in inner) > 0 if isinstance(inner, list) else False
    return _drop(inner, rest)
