"""One id is used in several computations that XLA schedules apart: a loop's body and what is around
it, or the branches of a condition.

Why it does nothing: ops of different computations never run together. XLA treats the parts as
groups of their own; a part without a collective, or of one op, it drops.

Example:

    with set_xla_metadata(_scheduling_group_id=0):
        y = jax.lax.ppermute(x, "i", perm)
        z = jax.lax.fori_loop(0, 4, lambda i, z: z @ w, x)   # the matmul is in the loop's body

What to write instead: the collective and what it overlaps with in the same computation.

Fix: none.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla.xla_view import Computation


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    first: dict[int, list[tuple[Computation, int]]] = {}
    for computation in module.view.computations:
        for group, tagged in computation.tagged.items():
            first.setdefault(group, []).append((computation, tagged[0]))
    for group, found in first.items():
        if len(found) > 1:
            nodes = [computation.node(number) for computation, number in found]
            yield rule.finds(
                f"group {group} lies in {len(nodes)} computations, which XLA schedules apart",
                spot_of(nodes[0]),
                [Related("and here", spot_of(node)) for node in nodes[1:]],
                groups=(group,),
                help="use an id of its own in each loop body and branch",
            )


RULE = Rule("SG203", "several-computations", Severity.WARNING, check, __doc__ or "")
