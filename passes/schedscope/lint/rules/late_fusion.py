"""XLA will fuse an op of the group, or an op before it, with an op that waits for the group.

Why XLA may refuse it: on XLA:TPU v5e the fusion takes the annotation of a matmul, and so the group
waits on itself: "failed to find a node to schedule"; a fusion of two groups' results it refuses as
"a fusion with multiple annotations". XLA:GPU makes one op of two elementwise ops, or two matmuls,
that share an operand; where one leads to an op of the group and the other waits for another op of
it, the group has a gap. What is fused is XLA's choice, which the module does not show: of 31
programs that this rule spoke of, XLA refused 26 (measured, v5e).

Example:

    with set_xla_metadata(_scheduling_group_id=0):
        y = jax.lax.all_gather(x, "i")
        z = x @ w
    out = z + jnp.sort(y)               # fused with the matmul, and waits on the gather

What to write instead: `jax.lax.optimization_barrier` around the matmul's result, or around what
enters the group.

Fix: none by scoping; `schedscope fix --repair` puts such barriers. It is safe, and costs what XLA
would fuse across them.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla.late_fusion import torn
from schedscope.xla.sibling_fusion import joins


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    told = {gap.group for gap in module.gaps}
    told.update(group for wait in module.waits for group in wait.groups)
    for group, node in torn(module.view):
        if group not in told:
            told.add(group)
            yield rule.finds(
                f"group {group} may wait on itself: this op is likely to be fused with a matmul of "
                "the group, and needs another of its ops through one that is not fused",
                spot_of(node),
                groups=(group,),
                help="put jax.lax.optimization_barrier around the matmul's result; "
                "`schedscope fix --repair` does",
                fixable="schedscope fix --repair",
            )
    for join in joins(module.view):
        if join.group not in told:
            told.add(join.group)
            yield rule.finds(
                f"group {join.group} may get a gap: this op waits for the group, and is likely to "
                "become one op with another, which leads to the group",
                spot_of(join.waiting),
                [Related("with this one, which shares an operand", spot_of(join.leading))],
                groups=(join.group,),
                help="put jax.lax.optimization_barrier around what enters the group; "
                "`schedscope fix --repair` does",
                fixable="schedscope fix --repair",
            )


RULE = Rule("SG205", "fusion-across-group", Severity.WARNING, check, __doc__ or "")
