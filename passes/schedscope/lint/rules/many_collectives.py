"""A group holds more collectives than have been tried.

Why it matters: a group runs as one, and XLA's scheduler may hold it to a limit of collectives under
way: "There is a scheduling group which exceeds the overlap limits" was reported for XLA:GPU. None
of the compilers tried refused a group of 32 collectives (measured: XLA:GPU of jax 0.10.2 and
0.12.0.1, libtpu 0.0.52 for v5e and tpu7x), so only larger groups are named.

Example:

    with set_xla_metadata(_scheduling_group_id=0):
        ys = [jax.lax.psum(x, "i") for x in xs]         # 40 of them

What to write instead: several groups, each with the compute that it is to hide behind.

Fix: none.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Severity, spot_of
from schedscope.lint.rule import Module, Rule

TRIED = 32


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    asynchronous = module.target.asynchronous
    for computation in module.view.computations:
        for group, members in computation.membership.members.items():
            if len(members) <= TRIED:
                continue
            moving = [each for each in members if computation.name(each) in asynchronous]
            if len(moving) > TRIED:
                yield rule.finds(
                    f"group {group} holds {len(moving)} collectives; no more than {TRIED} in one "
                    "group have been tried",
                    spot_of(computation.node(moving[TRIED])),
                    groups=(group,),
                    help="make several groups of it",
                )


RULE = Rule("SG302", "many-collectives", Severity.NOTE, check, __doc__ or "")
