"""The rules' documentation: what `schedscope rule` prints and docs/rules.md holds."""

from __future__ import annotations

from collections.abc import Sequence

from schedscope.lint.diagnostic import Severity
from schedscope.lint.rule import Rule

_MEANING = {
    Severity.ERROR: "error: XLA refuses the module",
    Severity.WARNING: "warning: XLA may refuse the module, or ignores something in silence",
    Severity.NOTE: "note",
}

_HEAD = """\
# Rules of `schedscope lint`

What `schedscope rule` prints. Codes keep their meaning: `SG1..` are errors, which XLA refuses;
`SG2..` are warnings, for what it may refuse or ignores in silence; `SG3..` are notes. Written by
`scripts/write_rules.py`.

| code | name | severity |
|---|---|---|
"""


def listed(rule: Rule) -> str:
    return f"{rule.code}  {rule.severity.word:<8} {rule.name}"


def explained(rule: Rule) -> str:
    """In Markdown, which reads well as it is."""
    head = f"## {rule.code}: {rule.name}\n\n{_MEANING[rule.severity]}"
    return f"{head}\n\n{rule.doc.strip()}\n"


def page(rules: Sequence[Rule]) -> str:
    """docs/rules.md."""
    rows = "".join(
        f"| [{rule.code}](#{_anchor(rule)}) | {rule.name} | {rule.severity.word} |\n"
        for rule in rules
    )
    return "\n".join([_HEAD + rows, *map(explained, rules)])


def _anchor(rule: Rule) -> str:
    """As Markdown hosts make it of the heading."""
    return f"{rule.code}-{rule.name}".lower()
