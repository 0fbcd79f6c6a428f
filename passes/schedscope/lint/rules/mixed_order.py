"""Ops of one group differ in `keep_original_sequence_order_in_group`.

Why XLA refuses it: XLA:GPU's scheduler takes the word of the first op that it meets for the whole
group. Where that one keeps its order and a later one does not, it ends the process: "Check failed:
HasKeepOriginalSequenceOrder..." (xla/service/latency_hiding_scheduler.cc; seen on jax 0.10.2 and
0.12.0.1). Where the first one does not, the attribute of the others is ignored in silence, and this
is a warning. Which of two independent ops it meets first is its choice.

Example:

    with set_xla_metadata(_scheduling_group_id=1, keep_original_sequence_order_in_group=True):
        y = jax.lax.ppermute(x, "i", perm)
    with set_xla_metadata(_scheduling_group_id=1):
        z = jax.lax.ppermute(y, "i", perm)

What to write instead: the attribute on all ops of the group, or on none.

Fix: none by scoping; where XLA may end the process, `schedscope fix --repair` sets it on all of
them, or on none where XLA:GPU cannot keep the order. It is safe: results do not change by a bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla.aborts import ORDER


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    for mixed in module.mixed_orders:
        first, odd = mixed.keeping[0], mixed.others[0]
        said = "lacks"
        if odd.number < first.number:
            first, odd, said = odd, first, "has"
        help = "set it on every op of the group, or on none"
        yield rule.finds(
            f"ops of group {mixed.group} differ in {ORDER}: this one {said} it",
            spot_of(odd),
            [Related("unlike this one", spot_of(first))],
            Severity.ERROR if mixed.aborts else Severity.WARNING,
            groups=(mixed.group,),
            help=f"{help}; `schedscope fix --repair` does" if mixed.aborts else help,
            fixable="schedscope fix --repair" if mixed.aborts else None,
        )


RULE = Rule("SG107", "mixed-sequence-order", Severity.ERROR, check, __doc__ or "")
