"""Calls that depend on each other share a group, and XLA takes them for one without a word: the
paths between them happen to lead through no op outside the group.

Why it is not what was meant: the function was written as a group; two calls of it are two, and
the ops of the second can only wait for the first. The next change to the program may make a gap.

Example: one group of two helpers, in a layer that is used twice.

    layer(layer(x, w), w)

What to write instead: nothing. Install the hook, or fix the module with `schedscope fix`.

Fix: `schedscope fix` gives the calls ids of their own. It is safe.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, spot_of
from schedscope.lint.rule import Module, Rule
from schedscope.xla.xla_view import Computation, Node


def check(rule: Rule, module: Module) -> Iterator[Diagnostic]:
    gapped = {gap.group for gap in module.gaps}
    for computation in module.view.computations:
        for group in computation.membership.members:
            if group in gapped:
                continue
            if len(set(_frames(computation, group))) == 1:
                continue  # one body's own
            apart: dict[int | None, Node] = {}
            for node in _members(computation, group):
                apart.setdefault(module.scoped.id_of(node), node)
            if len(apart) > 1:
                first, *others = apart.values()
                yield rule.finds(
                    f"group {group} is {len(apart)} groups of calls that depend on each other, "
                    "which XLA takes for one",
                    spot_of(others[0]),
                    [Related("with this one", spot_of(first))],
                    groups=(group,),
                    help="`schedscope fix` gives each call groups of its own; so does the hook",
                    fixable="schedscope fix",
                )


def _frames(computation: Computation, group: int) -> Iterator[int]:
    """Where each member was inlined; without the work of making nodes."""
    graph = computation.graph
    for number in computation.membership.members[group]:
        if number in graph.merged:
            yield from (part.frame for part in graph.merged[number] if part.group == group)
        else:
            yield graph.frames[number]


def _members(computation: Computation, group: int) -> Iterator[Node]:
    """Collectives that XLA combines are one member, of several calls perhaps: each by itself."""
    for number in computation.membership.members[group]:
        parts = computation.parts(number) or [computation.node(number)]
        yield from (part for part in parts if part.group == group)


RULE = Rule("SG204", "calls-taken-for-one", Severity.WARNING, check, __doc__ or "")
