"""What the tests of documents share: printers like the ones that write bundles, and strategies for objects."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import strategies as st

from analyzer.bundle.documents import read_documents
from analyzer.bundle.documents.scalars import plain
from analyzer.bundle.types import Hint, Item, ListSeen, LogText, Other, Part, Problem

POD_HINT = Hint(kind="Pod", version="v1", namespace="shop")


class GoDumper(yaml.SafeDumper):
    """Quotes all that Go quotes: PyYAML alone would leave `y` and `1e3` bare."""


def _text(dumper: GoDumper, text: str) -> yaml.ScalarNode:
    quoted = not isinstance(plain(text), str) or any(mark in text for mark in "\u2028\u2029\u0085\ufeff")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if quoted else None)


GoDumper.add_representer(str, _text)


def go_yaml(value: object) -> bytes:
    """YAML as Go's printers write it: keys sorted, lists not indented."""
    return yaml.dump(value, Dumper=GoDumper, sort_keys=True, default_flow_style=False, allow_unicode=True).encode()


def parts(data: bytes, hint: Hint | None = None) -> list[Part]:
    return list(read_documents(data, hint or Hint()))


def items(data: bytes, hint: Hint | None = None) -> list[Item]:
    return [part for part in parts(data, hint) if isinstance(part, Item)]


def problems(data: bytes, hint: Hint | None = None) -> list[Problem]:
    return [part for part in parts(data, hint) if isinstance(part, Problem)]


def lists(data: bytes, hint: Hint | None = None) -> list[ListSeen]:
    return [part for part in parts(data, hint) if isinstance(part, ListSeen)]


def others(data: bytes, hint: Hint | None = None) -> list[Any]:
    return [part.value for part in parts(data, hint) if isinstance(part, Other)]


def logs(data: bytes, hint: Hint | None = None) -> list[LogText]:
    return [part for part in parts(data, hint) if isinstance(part, LogText)]


def pod(name: str, namespace: str = "shop", *, typed: bool = True, **spec: object) -> dict[str, Any]:
    """A small Pod; untyped as typed clients print list items."""
    kind = {"apiVersion": "v1", "kind": "Pod"} if typed else {}
    return {**kind, "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"}, "spec": spec or {"nodeName": "n1"}}


def pod_list(*pods: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": list(pods), "kind": "PodList", "metadata": {"resourceVersion": "77"}}


TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=30),
    st.sampled_from(
        [
            "",
            "no",
            "0644",
            "1e3",
            "- x",
            "a: b",
            '"q"',
            "it's",
            "two\nlines\n",
            "word " * 30,
            "# no",
            "&a",
            "*b",
            "{",
            "]",
            "!t",
            "null",
            "~",
            "---",
            "items:",
            "kind: Foo",
            "2026-11-01T12:00:00Z",
            "12:30:45",
            "0x1f",
            "=",
            "<<",
            "a\tb",
            "x\u2028y",
            "x\x85y",
        ]
    ),
)
KEYS = st.one_of(
    st.from_regex(r"[a-z][a-zA-Z0-9./-]{0,12}", fullmatch=True), st.sampled_from(["yes", "0644", "a b", "k:v", "-", "?"])
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)


@st.composite
def pods(draw: st.DrawFn, *, typed: bool | None = None) -> list[dict[str, Any]]:
    """Some Pods with anything in them, all of them typed or none."""
    is_typed = draw(st.booleans()) if typed is None else typed
    return [
        {**pod(f"pod-{index}", typed=is_typed), "spec": draw(VALUES), "status": {"message": draw(TEXTS)}}
        for index in range(draw(st.integers(1, 4)))
    ]
