"""Label selectors: `matchLabels` and `matchExpressions` (metav1.LabelSelector)."""

from __future__ import annotations

from typing import Any

from analyzer.facts.values import mapping, mappings


def selects(selector: dict[str, Any], labels: dict[str, Any]) -> bool:
    """Whether the selector fits these labels; an empty one selects nothing here."""
    equal, expressions = mapping(selector.get("matchLabels")), mappings(selector.get("matchExpressions"))
    if not equal and not expressions:
        return False
    return all(labels.get(name) == value for name, value in equal.items()) and all(
        _fits(expression, labels) for expression in expressions
    )


def _fits(expression: dict[str, Any], labels: dict[str, Any]) -> bool:
    key, values = expression.get("key"), expression.get("values")
    value, known = labels.get(str(key)), values if isinstance(values, list) else []
    match expression.get("operator"):
        case "In":
            return value in known
        case "NotIn":
            return value not in known
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return False
