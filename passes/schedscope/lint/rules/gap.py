"""A path leads from one op of a scheduling group to another through an op outside the group.

Why XLA refuses it: the ops of a group run together, and an op outside that needs one of them and
is needed by another can run neither before nor after. XLA says "Support for annotation groups
with gaps doesn't exist yet" (xla/service/legalize_scheduling_annotations.cc).

Example: a loop that forgot to count.

    for _ in range(3):
        with set_xla_metadata(_scheduling_group_id=5):
            y = jax.lax.ppermute(x, "i", perm)
            z = x @ w
        x = jnp.tanh(y + z)             # needs the first pass, is needed by the second

What to write instead: an id for each pass, `_scheduling_group_id=5 + i`; or put the op between
into the group too; or make the repeated part a jitted function, whose calls scoping tells apart.

Fix: none by scoping, for the ops are one function's own; `schedscope fix --repair` makes groups
without a gap of it. It is safe: results do not change by a bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_of
from schedscope.lint.gap_paths import is_collision, path_in_words, steps, tearing_call
from schedscope.lint.rule import Module, Rule
from schedscope.xla.gap_search import Gap


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    for gap in module.gaps:
        if not is_collision(gap, module) and tearing_call(gap, module) is None:
            yield rule.finds(
                f"group {gap.group} has a gap: {path_in_words(gap)}",
                spot_of(gap.path[-1]),
                steps(gap),
                groups=(gap.group,),
                help=_help(gap),
                fixable="schedscope fix --repair",
            )


def _help(gap: Gap) -> str:
    if gap.path[0].op == gap.path[-1].op:
        return (
            "the op is inlined more than once: give each use an id of its own; "
            "`schedscope fix --repair` does"
        )
    return (
        "give what comes before and what comes after ids of their own, or put what is between "
        "into the group; `schedscope fix --repair` does the first"
    )


RULE = Rule("SG101", "gap-in-group", Severity.ERROR, check, __doc__ or "")
