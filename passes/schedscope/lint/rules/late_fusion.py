"""A matmul of the group will be fused with an op that waits on something outside the group, which
in turn waits on the group.

Why XLA may refuse it: on XLA:TPU v5e the fusion takes the annotation of the matmul, and so the
group waits on itself: "failed to find a node to schedule"; a fusion of two groups' results it
refuses as "a fusion with multiple annotations". What is fused is XLA's choice, which the module
does not show: of 31 programs that this rule spoke of, XLA refused 26 (measured, v5e).

Example:

    with set_xla_metadata(_scheduling_group_id=0):
        y = jax.lax.all_gather(x, "i")
        z = x @ w
    out = z + jnp.sort(y)               # fused with the matmul, and waits on the gather

What to write instead: `jax.lax.optimization_barrier` around the matmul's result.

Fix: none by scoping; `schedscope fix --repair --seal` puts such barriers, and so does `--repair`
alone for a TPU. It is safe, and costs what XLA would fuse across them.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.late_fusion import torn
from schedscope.lint.diagnostic import Diagnostic, Severity, spot_of
from schedscope.lint.rule import Module, Rule


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
                "`schedscope fix --repair --seal` does",
                fixable="schedscope fix --repair --seal",
            )


RULE = Rule("SG205", "fusion-across-group", Severity.WARNING, check, __doc__ or "")
