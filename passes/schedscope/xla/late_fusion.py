"""Groups that libtpu's scheduler meets, after matmuls were fused with what uses them.

A member dot takes the elementwise ops that alone use it into one fusion, which is a member then.
Where another operand of these waits on the group through an op that fuses with nothing, the group
waits on itself; the gap check came before, and the scheduler is stuck. What is fused is XLA's
choice: this is a likely outcome, and not a certain one.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.xla.targets import Target
from schedscope.xla.xla_view import Computation, Node, View

DOTS = frozenset({"stablehlo.dot", "stablehlo.dot_general", "stablehlo.convolution"})
_ELEMENTWISE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs", "add", "convert", "cosine", "divide", "exponential", "maximum", "minimum",
        "multiply", "negate", "select", "sine", "subtract", "tanh",
    )
)  # fmt: skip
_STACKED = frozenset(f"stablehlo.{name}" for name in ("broadcast_in_dim", "concatenate", "reduce"))
"""What a sum of stacked values is made of; XLA makes additions of it."""
FUSIBLE = _ELEMENTWISE | {
    f"stablehlo.{name}"
    for name in (
        "broadcast_in_dim",
        "concatenate",
        "pad",
        "reshape",
        "reduce",
        "slice",
        "transpose",
    )
}


def scheduled(computation: Computation, target: Target) -> dict[int, int]:
    """The group of each node at scheduling: members that are left, what was filled in between
    where all are, and what is fused to dots."""
    found = _left(computation, target)
    whole = {
        group
        for group, members in computation.membership.members.items()
        if all(node in found for node in members)
    }
    for node, group in computation.membership.group_of.items():
        if group in whole:
            found[node] = group
    for node, dot in _fused(computation).items() if found else ():
        if dot in found:
            found[node] = found[dot]
    return found


def _left(computation: Computation, target: Target) -> dict[int, int]:
    """The members that are left, where the computation is scheduled with its groups in mind."""
    graph, names = computation.graph, computation.flat.names
    found: dict[int, int] = {}
    for group, members in computation.membership.members.items():
        awaits = any(names[graph.ops[node]] in target.awaited for node in members)
        kept = target.scheduled if awaits else DOTS
        left = [node for node in members if names[graph.ops[node]] in kept]
        if len(left) > 1:
            found.update(dict.fromkeys(left, group))
    return found if found and minds_groups(computation, target) else {}


def minds_groups(computation: Computation, target: Target) -> bool:
    """Whether the scheduler works on the computation: something in it must be awaited."""
    graph, names = computation.graph, computation.flat.names
    return any(
        names[op] in target.awaited and used for op, used in zip(graph.ops, graph.used, strict=True)
    )


def _fused(computation: Computation) -> dict[int, int]:
    """For each elementwise op that is fused to a dot before it, that dot. Of two dots the one
    that makes the last operand gets it (measured)."""
    graph, names = computation.graph, computation.flat.names
    dot_of: dict[int, int] = {}
    fused: dict[int, int] = {}
    users = _user_counts(computation)
    for node, used in enumerate(graph.used):
        if not used:
            continue
        name = names[graph.ops[node]]
        if name in DOTS:
            dot_of[node] = node
        elif name in _ELEMENTWISE or name in _STACKED:
            for each in reversed(graph.operands[node]):
                if each in dot_of and users[each] == 1:
                    fused[node] = dot_of[node] = dot_of[each]
                    break
    return fused


def _user_counts(computation: Computation) -> dict[int, int]:
    graph = computation.graph
    counts: dict[int, int] = {}
    for node, used in enumerate(graph.used):
        if used:
            for each in dict.fromkeys(graph.operands[node]):
                counts[each] = counts.get(each, 0) + 1
    return counts


def torn(view: View, cautious: bool = False) -> Iterator[tuple[int, Node]]:
    """Groups that wait on themselves when they are scheduled, and the op that waits; with
    `cautious` also where XLA might fuse all that lies between."""
    if view.target.family != "tpu":  # XLA:GPU fuses before it looks for gaps
        return
    for computation in view.computations:
        group_of = scheduled(computation, view.target)
        if group_of:
            yield from _torn(computation, group_of, cautious)


def _torn(
    computation: Computation, group_of: dict[int, int], cautious: bool
) -> Iterator[tuple[int, Node]]:
    graph, names = computation.graph, computation.flat.names
    groups = dict.fromkeys(group_of.values())
    bits = {group: 1 << number for number, group in enumerate(groups)}
    own = {node: bits[group] for node, group in group_of.items()}
    soft: dict[int, int] = {}
    hard: dict[int, int] = {}
    told: set[int] = set()
    fused = _fused(computation)
    for node in range(min(group_of), max(group_of) + 1):
        if not graph.used[node]:
            continue
        near = far = 0
        for each in graph.operands[node]:
            near |= own.get(each, 0) | soft.get(each, 0)
            far |= hard.get(each, 0)
        if not near and not far:
            continue
        mine = own.get(node, 0)
        if far & mine and group_of[node] not in told:
            told.add(group_of[node])
            yield group_of[node], computation.node(node)
        if cautious or node in fused or names[graph.ops[node]] not in FUSIBLE:
            near, far = 0, near | far
        if near & ~mine:
            soft[node] = near & ~mine
        if far & ~mine:
            hard[node] = far & ~mine
