"""A group id is larger than the compiler can read.

Why XLA refuses it: XLA:GPU reads ids with a 32-bit parse, and of 2147483648 or more it says "stoi"
(measured, jax 0.10.2 and 0.12.0.1); libtpu reads 64 bits, and for v5e ends the process all the
same.

On an op whose annotation the compiler drops (docs/lint.md has the table) it is a warning.

Example:

    with set_xla_metadata(_scheduling_group_id=hash("layer0") % 2**62):
        y = x @ w

What to write instead: small ids, counted from 0.

Fix: `schedscope fix` gives such groups ids that every XLA can read. It is safe.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_at
from schedscope.lint.rule import Module, Rule


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    limit, told = module.target.id_limit, set[int]()
    # XLA reads the ids of some ops only: those first.
    for problem in sorted(module.problems, key=lambda each: not each.is_read):
        marked, group = problem.marked, problem.marked.mark.group
        if group is not None and group not in told:
            told.add(group)
            yield rule.finds(
                f"group id {group} is too large: XLA:{module.target.family.upper()} reads ids "
                f"below {limit}",
                spot_at(marked.op, marked.op.name, group=group),
                severity=None if problem.is_read else Severity.WARNING,
                groups=(group,),
                help="use small ids, or `schedscope fix`, which renumbers such groups",
                fixable="schedscope fix",
            )


RULE = Rule("SG104", "too-large-id", Severity.ERROR, check, __doc__ or "")
