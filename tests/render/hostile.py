"""Text that wants to be more than text."""

from __future__ import annotations

from hypothesis import strategies as st

STRINGS = (
    "<script>alert(1)</script>", "</script><script>", "</style>", "]]>", "-->", "<!--", "javascript:alert(1)", "{{7*7}}", "{%x%}",
    '" onmouseover="x', "' style='x", "<img src=x onerror=y>", "&lt;b&gt;", "&#60;b&#62;", "<details>", "<a href=//x>",
    "\x1b[31m", "\x1b]8;;http://x\x07", "\x9b31m", "\x00", "\x07", "\r", "\n", "\n\n# heading", "\n- item", "\n\n---\n", "\t",
    "| x | y |\n|---|---|\n| 1 | 2 |", "`", "``", "```", "````\n", "~~~", "~~x~~", "![x](http://example.com/x.png)",
    "[x](http://example.com)", "[x]: http://example.com", "[^1]", "<http://example.com>", "https://example.com/?a=b",
    "www.example.com", "someone@example.com", "@someone", "#123", "GH-12", "example/repo#7", "# h", "1. x", "- x", "+ x", "> x",
    "=====", "* x", "**x**", "_x_", "__x__", "$x$", "\\", "\\`", "\u202e", "\u200b", "\u2066", "\ufeff", "\u00ad", "\u2028",
    "\U000e0041", "[red]x[/red]", "[link=http://x]y[/link]", ":smile:", "    code", "&", "%s", "\ud800",
)  # fmt: skip

texts = st.lists(st.sampled_from(STRINGS) | st.text(max_size=12), min_size=1, max_size=5).map(" ".join)
raw = st.lists(st.sampled_from(STRINGS) | st.text(max_size=12), min_size=1, max_size=5).map("".join)
either = texts | raw
