"""Groups wait for each other: an op of the one needs an op of the other, and the other way round.

Why XLA refuses it: a group runs as one, so none of them can be the first. XLA's scheduler says
"failed to find a node to schedule" (measured on v5e and XLA:GPU; v6e and tpu7x
give the groups up).

Example:

    with set_xla_metadata(_scheduling_group_id=1):
        a = jax.lax.all_gather(x, "i"); e = x @ w
    with set_xla_metadata(_scheduling_group_id=2):
        b = jax.lax.all_gather(w, "i"); g = a @ w      # needs group 1
    with set_xla_metadata(_scheduling_group_id=1):
        h = b @ w                                      # and group 1 needs group 2

What to write instead: an id of its own for the part that needs the other group.

Fix: none by scoping; `schedscope fix --repair` parts such groups where the fewest ops lose what
they could overlap with. It is safe: results do not change by a bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla.xla_view import Node


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    gapped = {gap.group for gap in module.gaps}
    for wait in module.waits:
        if not gapped.isdisjoint(wait.groups):
            continue  # they may wait no more once the gap is gone
        groups = " and ".join(map(str, wait.groups))
        yield rule.finds(
            f"groups {groups} wait for each other",
            spot_of(wait.path[-1]),
            [Related(_role(node), spot_of(node)) for node in wait.path[:-1]],
            groups=wait.groups,
            help="give the part of one group that needs the other an id of its own; "
            "`schedscope fix --repair` does",
            fixable="schedscope fix --repair",
        )


def _role(node: Node) -> str:
    where = "outside the groups" if node.group is None else f"in group {node.group}"
    return f"around the circle, {where}"


RULE = Rule("SG106", "waiting-groups", Severity.ERROR, check, __doc__ or "")
