"""The collector where nothing can be installed: one POSIX shell script, made from the plan and collect.sh.tmpl beside it.

The script needs kubectl or oc, and tools that every Unix has. It makes the format of docs/bundle-format.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files

from analyzer import __version__
from analyzer.collect.plan import Plan, load

TEMPLATE = "collect.sh.tmpl"
MAX_LOG_BYTES = 5 << 20
MAX_TOTAL_LOG_BYTES = 256 << 20

_MARK = re.compile(r"@[A-Z_]+@")
_PATTERN = re.compile(r"[A-Za-z0-9*._=/-]*\Z")
"""What stands in the plan's patterns and names: nothing that a shell would take for more than a pattern."""

_SECRET_WORDS = ("password", "passwd", "passphrase", "secret", "token", "api[_-]?key", "access[_-]?key", "private[_-]?key")
_TEXT_VALUE = r"[^][\"[:space:],;&\\]+"

_TOKENS = (
    "A[KS]IA[0-9A-Z]{16}",
    "gh[pousr]_[A-Za-z0-9]{20,}",
    "github_pat_[A-Za-z0-9_]{20,}",
    "glpat-[A-Za-z0-9_-]{16,}",
    "hf_[A-Za-z0-9]{20,}",
    "nvapi-[A-Za-z0-9_-]{20,}",
    "xox[abprs]-[A-Za-z0-9-]{10,}",
    "sk-[A-Za-z0-9_-]{20,}",
)
"""Shapes of tokens that their makers gave a beginning of their own: AWS, GitHub, GitLab, Hugging Face, NVIDIA, Slack, OpenAI."""

_SED_COMMON = (
    r"s#-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"]*-----END [A-Z ]*PRIVATE KEY-----#[masked]#g",
    r"s#(://)[^]/@:\"[:space:]\\]*:[^]/@\"[:space:]\\]+@#\1[masked]@#g",
    r"s#eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}(\.[A-Za-z0-9_-]*)?#[masked]#g",
    r"s#([Bb]earer )[A-Za-z0-9._~+/=-]{12,}#\1[masked]#g",
    "s#(" + "|".join(_TOKENS) + ")#[masked]#g",
    r"s#(--[A-Za-z-]*(@STRICT@) +\\?\"?)" + _TEXT_VALUE + r"#\1[masked]#g",
)
_SED_TEXT = (
    r"s#([Aa]uthorization(\\?\")?[:=] *(\\?\")?)([A-Za-z]+ +)?" + _TEXT_VALUE + r"#\1[masked]#g",
    r"s#(([Ss]et-)?[Cc]ookie: ).*#\1[masked]#",
    r"s#(@WORDS@)((\\?\")? ?[=:] *(\\?\")?)" + _TEXT_VALUE + r"#\1\2[masked]#g",
    r"/-----BEGIN [A-Z ]*PRIVATE KEY-----/,/-----END [A-Z ]*PRIVATE KEY-----/s/.*/[masked]/",
)
_SED_JSON = (
    r"s#(@WORDS@)(\\?\")?=(\\?\")?" + _TEXT_VALUE + r"#\1\2=\3[masked]#g",
    # In a string; a key of JSON has a quote before its colon.
    r"s#(@STRICT@): +" + _TEXT_VALUE + r"#\1: [masked]#g",
    r"s#^( *\"[A-Za-z0-9_./-]*(@STRICT@)\": \")([^\"\\]|\\.)+\"#\1[masked]\"#",
)


def script(plan: Plan | None = None) -> str:
    """The text of the script.

    Args:
        plan: what is collected; None for the plan that is shipped.

    Raises:
        ValueError: the plan holds a pattern that cannot stand in a shell script.
    """
    values = _values(plan or load())
    text = files("analyzer.collect").joinpath(TEMPLATE).read_text(encoding="utf-8")
    return _MARK.sub(lambda found: values.get(found[0].strip("@"), found[0]), text)


def _values(plan: Plan) -> dict[str, str]:
    maps = plan.configmaps
    return {
        "VERSION": __version__,
        "MAX_LOG_BYTES": str(MAX_LOG_BYTES),
        "MAX_TOTAL_LOG_BYTES": str(MAX_TOTAL_LOG_BYTES),
        "MAX_VALUE_BYTES": str(maps.max_bytes),
        "RANKS": "\n".join(
            f"        {_case([group])}) echo {rank} ;;" for rank, group in enumerate((*plan.groups, *plan.custom))
        ),
        "BUILT_IN": _case(plan.groups),
        "NEVER": _case(entry.resource for entry in plan.never),
        "PLAIN_GROUPS": " ".join(_safe(group) for group in (*plan.groups, *plan.custom) if group and "*" not in group),
        "MAP_NAMES": _case(maps.names),
        "MAP_LABELS": " ".join(_safe(label) for label in maps.labels),
        "REFERENCES": "\n".join(_reference(entry.resource, entry.field) for entry in maps.referenced) or "        :",
        "OF_NODES": "^(" + "|".join(_regex(pattern) for pattern in maps.of_nodes) + ")$",
        "POD_NAMES": _case(plan.logs.pods),
        "POD_NAMESPACES": _case(plan.logs.namespaces),
        "POD_LABELS": _case(f"*,{label}{'' if '=' in label else '=*'},*" for label in plan.logs.labels),
        "MANAGED": _case(plan.field_managers.resources),
        "LABEL": _label_prefix(plan.label_times.keys),
        "TRIMMED": "\n".join(
            f"        {_safe(entry.resource)}) drop='{','.join(_place(path) for path in entry.drop)}' "
            f"keep='{','.join(_kept(key) for key in entry.keep)}' ;;"
            for entry in plan.trimmed
        ),
        "SED_COMMON": _sed(_SED_COMMON),
        "SED_TEXT": _sed(_SED_TEXT),
        "SED_JSON": _sed(_SED_JSON),
    }


def _safe(pattern: str) -> str:
    if not _PATTERN.match(pattern):
        raise ValueError(f"the plan's {pattern!r} cannot stand in a shell script")
    return pattern


def _case(patterns: Iterable[str]) -> str:
    """Patterns of a `case` branch; the plan's have the same meaning there. The comma separates labels of a pod."""
    known = [(pattern, _safe(pattern.replace(",", ""))) for pattern in patterns]
    return " | ".join(pattern if safe else "''" for pattern, safe in known)


def _regex(pattern: str) -> str:
    return ".*".join(re.escape(part) for part in _safe(pattern).split("*"))


def _label_prefix(patterns: Iterable[str]) -> str:
    """The patterns of label keys as an awk regular expression, to stand behind `"f:`."""
    return "(" + "|".join(_safe(pattern).rstrip("*").replace(".", r"\.").replace("/", r"\/") for pattern in patterns) + ")"


def _reference(resource: str, field: str) -> str:
    """A command that prints the names in a field of all objects of a resource."""
    steps = [_safe(step) for step in field.split(".")]
    inner = "".join(f"{{{{with .{step}}}}}" for step in steps) + '{{.}}{{"\\n"}}' + "{{end}}" * len(steps)
    return (
        f"        \"$kubectl\" get {_safe(resource)} -o 'go-template={{{{range .items}}}}{inner}{{{{end}}}}' "
        '--request-timeout="$request_timeout" 2>/dev/null'
    )


def _place(path: str) -> str:
    """Where a field lies in kubectl's JSON: its top field, its indent, its name. A list's items are indented once more."""
    steps = path.split(".")
    depth = len(steps) - 1 + sum(step.endswith("[]") for step in steps)
    return f"{_safe(steps[0].removesuffix('[]'))} {12 + 4 * depth} {_safe(steps[-1])}"


def _kept(key: str) -> str:
    name, equals, value = key.partition("=")
    return f'{_safe(name)}": "{_safe(value)}"' if equals else f'{_safe(name)}":'


def _sed(rules: Iterable[str]) -> str:
    """Lines of a sed script. Words are matched in any case without the flag for it, which not every sed has."""
    words = "|".join(_any_case(word) for word in _SECRET_WORDS)
    strict = "|".join(_any_case(word) for word in _SECRET_WORDS if word != "secret")
    return "\n".join(rule.replace("@WORDS@", words).replace("@STRICT@", strict).replace(r"\"", '"') for rule in rules)


def _any_case(word: str) -> str:
    """A word with each letter in both cases; `[_-]?` is left as it is."""
    return "".join(f"[{char.upper()}{char}]" if char.isalpha() else char for char in word)
