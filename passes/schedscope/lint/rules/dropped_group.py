"""XLA will remove a group: what is left of it is one op, or holds no collective.

Why it does nothing: XLA keeps the annotation of some kinds of ops only (docs/lint.md has the
table). A group left with one op, or without a collective to overlap, it dissolves without a word
(xla/service/legalize_scheduling_annotations.cc).

Example: only the matmul and the addition carry the id, and no collective.

    with set_xla_metadata(_scheduling_group_id=0):
        z = x @ w + b

What to write instead: the collective that the compute should hide, in the same group.

Fix: none; the group is harmless.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla.xla_view import Computation


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    kept = {group for each in module.view.computations for group in each.membership.members}
    kept.update(group for merge in module.merges for group in merge.groups)
    kept.update(gap.group for gap in module.gaps)  # refused before inlining makes less of it
    told: set[int] = set()
    for computation in module.view.computations:
        for group, nodes in computation.tagged.items():
            if group not in kept and group not in told:
                told.add(group)
                yield rule.finds(
                    f"group {group} will be dropped: {_why(computation, group, module)}",
                    spot_of(computation.node(nodes[0])),
                    groups=(group,),
                    help="put the collective and the compute that is to hide it into the group",
                )


def _why(computation: Computation, group: int, module: Module) -> str:
    left = computation.membership.dropped.get(group, [])
    family = module.target.family.upper()
    if not left:
        return f"XLA:{family} keeps none of its ops"
    names = [computation.node(each).name.removeprefix("stablehlo.") for each in left]
    if len(left) == 1:
        return f"XLA:{family} keeps one of its ops only, the {names[0]}"
    return f"none of the ops that XLA:{family} keeps is a collective"


RULE = Rule("SG201", "dropped-group", Severity.WARNING, check, __doc__ or "")
