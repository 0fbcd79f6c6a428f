"""A group that keeps its order holds collectives that do not depend on each other.

Why XLA refuses it: XLA:GPU lets one collective be under way at a time, and where the ops of a group
are to keep their order it does not put one after the other: "There is a scheduling group which
exceeds the overlap limits" (measured, jax 0.10.2 and 0.12.0.1; without
`keep_original_sequence_order_in_group` groups of 32 collectives are accepted there and on XLA:TPU).

Example:

    with set_xla_metadata(_scheduling_group_id=1, keep_original_sequence_order_in_group=True):
        y = jax.lax.ppermute(x, "i", perm)
        z = jax.lax.all_gather(w, "i")

What to write instead: the group without `keep_original_sequence_order_in_group`, or a group for
each collective.

Fix: none by scoping; `schedscope fix --repair` takes the attribute from the group. It is safe:
results do not change by a bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla.aborts import ORDER


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    for crowd in module.crowds:
        first, *_, last = crowd.nodes
        yield rule.finds(
            f"group {crowd.group} keeps its order, and {len(crowd.nodes)} collectives in it would "
            "be under way at once; XLA:GPU allows one",
            spot_of(last),
            [Related("with this one", spot_of(first))],
            groups=(crowd.group,),
            help=f"leave {ORDER} out, or give each collective a group of its own; "
            "`schedscope fix --repair` does the first",
            fixable="schedscope fix --repair",
        )


RULE = Rule("SG109", "beyond-overlap-limit", Severity.ERROR, check, __doc__ or "")
