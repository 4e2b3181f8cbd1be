"""What a rule says of itself, in words."""

from __future__ import annotations

from analyzer import times
from analyzer.engine.rule import Rule


def stands(rule: Rule) -> str:
    """The age limits of a rule in words."""
    parts = []
    if rule.after:
        parts.append(f"after {times.age(rule.after.total_seconds())}")
    if rule.fades:
        parts.append(f"info after {times.age(rule.fades.total_seconds())}")
    return ", ".join(parts) or "at once"


def needs(rule: Rule) -> str:
    """What a rule needs in words."""
    words = [f"{need} (with status)" if need.status else str(need) for need in rule.needs]
    joined = ", ".join(words) or "nothing in particular"
    return f"one of {joined}" if rule.any_of and len(words) > 1 else joined
