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

Fix: none by scoping.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope._mlir import ir
from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla_view import Computation, Node

KEEP_ORDER = "keep_original_sequence_order_in_group"


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    if module.target.family != "gpu":
        return
    for computation in module.view.computations:
        for group in computation.membership.members:
            yield from _check_group(rule, computation, group)


def _check_group(rule: Rule, computation: Computation, group: int) -> Iterator[Diagnostic]:
    members = computation.members(group)
    kept = [_keeps_order(computation, node) for node in members]
    if len(set(kept)) > 1:
        odd = kept.index(not kept[0])
        said = "has" if kept[odd] else "lacks"
        yield rule.finds(
            f"ops of group {group} differ in {KEEP_ORDER}: this one {said} it",
            spot_of(members[odd]),
            [Related("unlike this one", spot_of(members[0]))],
            groups=(group,),
            help="set it on every op of the group, or on none",
        )


def _keeps_order(computation: Computation, node: Node) -> bool:
    mark = computation.flat.marks.get(computation.graph.ops[node.number])
    value = None if mark is None else mark.entries.get(KEEP_ORDER)
    return isinstance(value, ir.StringAttr) and value.value == "true"


RULE = Rule("SG107", "mixed-sequence-order", Severity.ERROR, check, __doc__ or "")
