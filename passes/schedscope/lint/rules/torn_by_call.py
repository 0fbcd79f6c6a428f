"""A call that is not part of the group tears it: a library function such as `jnp.cumsum` or
`jax.random.uniform`, or a helper of your own, called between two of its ops.

Why XLA refuses it: it inlines the call, and what was in it keeps no annotation, so the ops before
and the ops after are apart. That the call was made within the group's `set_xla_metadata` does not
help: some of jax's calls carry no metadata (measured: `cumsum`, `threefry2x32`, `compute_on`), and
elementwise ops and reductions lose it in XLA.

Example:

    with set_xla_metadata(_scheduling_group_id=0):
        y = jax.lax.all_gather(x, "i")
        z = jnp.cumsum(y, axis=0) @ w           # the matmul needs the gather through cumsum

What to write instead: an id of its own for what comes after the call, or the call outside, before
or after the group.

Fix: none by scoping, for the group is one function's own; `schedscope fix --repair` makes two
groups of it. It is safe: results do not change by a bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_of
from schedscope.lint.gap_paths import short, steps, tearing_call
from schedscope.lint.rule import Module, Rule


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    for gap in module.gaps:
        call = tearing_call(gap, module)
        if call is not None:
            first, last = short(gap.path[0]), short(gap.path[-1])
            yield rule.finds(
                f"group {gap.group} is torn by a call of @{call.callee}: {last} needs {first} "
                "through it, and none of its ops is in the group",
                spot_of(gap.path[-1]),
                steps(gap),
                groups=(gap.group,),
                help="give what comes after the call an id of its own, or move the call out; "
                "`schedscope fix --repair` does the first",
                fixable="schedscope fix --repair",
            )


RULE = Rule("SG108", "torn-by-call", Severity.ERROR, check, __doc__ or "")
