"""Collectives of different groups are alike and do not depend on each other, so that XLA's combiner
makes them one.

Why XLA refuses it: the combiner looks at no group. It joins the ids of what it takes to one text,
"0,1", which is then read as one id: "Instruction has a non-integer scheduling annotation group
id". Seen on XLA:GPU of jax 0.10.2 and 0.12.0.1, for all but all-reduces.

Example: two small gathers, each in a group of its own.

    with set_xla_metadata(_scheduling_group_id=0):
        a, b = jax.lax.all_gather(x, "i"), x @ w
    with set_xla_metadata(_scheduling_group_id=1):
        c, d = jax.lax.all_gather(y, "i"), y @ w

What to write instead: a frontend attribute `combiner_key`, another one for each group:
`set_xla_metadata(_scheduling_group_id=0, combiner_key="0")`.

Fix: `schedscope fix` writes such keys. It is safe.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    for merge in module.merges:
        *others, last = merge.nodes
        groups = ", ".join(map(str, merge.groups))
        kind = last.name.removeprefix("stablehlo.")
        yield rule.finds(
            f"{len(merge.nodes)} {kind} ops of the groups {groups} will be combined into one",
            spot_of(last),
            [Related("with this one", spot_of(node)) for node in others],
            groups=merge.groups,
            help='give each group\'s collectives a combiner_key="..." of their own; '
            "`schedscope fix` does",
            fixable="schedscope fix",
        )


RULE = Rule("SG105", "merged-collectives", Severity.ERROR, check, __doc__ or "")
