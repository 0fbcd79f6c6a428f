"""Ops of one group differ in `keep_original_sequence_order_in_group`.

Why XLA refuses it: XLA:GPU's scheduler takes the first op's word for the whole group, and when
another one says otherwise it ends the process: "Check failed: HasKeepOriginalSequenceOrder..."
(xla/service/latency_hiding_scheduler.cc; seen on jax 0.10.2 and 0.12.0.1).

Example:

    with set_xla_metadata(_scheduling_group_id=1, keep_original_sequence_order_in_group=True):
        y = jax.lax.ppermute(x, "i", perm)
    with set_xla_metadata(_scheduling_group_id=1):
        z = jax.lax.ppermute(w, "i", perm)

What to write instead: the attribute on all ops of the group, or on none.

Fix: none by scoping; `schedscope fix --repair` sets it on all of them, or on none where XLA:GPU
cannot keep the order. It is safe: results do not change by a bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.aborts import ORDER
from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    for mixed in module.mixed_orders:
        first, odd = mixed.keeping[0], mixed.others[0]
        said = "lacks"
        if odd.number < first.number:
            first, odd, said = odd, first, "has"
        yield rule.finds(
            f"ops of group {mixed.group} differ in {ORDER}: this one {said} it",
            spot_of(odd),
            [Related("unlike this one", spot_of(first))],
            groups=(mixed.group,),
            help="set it on every op of the group, or on none; `schedscope fix --repair` does",
            fixable="schedscope fix --repair",
        )


RULE = Rule("SG107", "mixed-sequence-order", Severity.ERROR, check, __doc__ or "")
