"""Members of a loop body's group that XLA would move out of the loop, to where their id means
something else.

XLA computes once, before the loop, what is the same in each turn, and leaves its annotation on it
(measured on libtpu). Where the same id is used around the loop, the loop then lies between two
members of one group. A barrier that takes a value of the turn too keeps such an op in the loop.

    %y = stablehlo.dot_general %w, %w     ->     %b:2 = stablehlo.optimization_barrier %w, %turn
                                                 %y = stablehlo.dot_general %b#0, %b#0
"""

from __future__ import annotations

from collections.abc import Iterator

from schedscope._mlir import Value, block_of, ir
from schedscope.repair.seal import barrier
from schedscope.xla.flat import Piece
from schedscope.xla.graphs import OUTSIDE, Graph
from schedscope.xla.xla_view import Computation, View


def keep_in_loops(view: View) -> tuple[int, ...]:
    """The groups that barriers were put for; `view` is of no use if there are any. Needs a current
    context."""
    if view.target.family != "tpu":
        return ()
    groups: dict[int, None] = {}
    ops: dict[int, None] = {}
    for computation in view.computations:
        if _is_loop_body(computation):
            for op, group in _movable(computation):
                if _is_met_around(view, computation.graph.piece, group):
                    ops.setdefault(op)
                    groups.setdefault(group)
    held = [_hold(view.flat.ops[op]) for op in ops]
    return tuple(groups) if any(held) else ()


def _is_loop_body(computation: Computation) -> bool:
    piece = computation.graph.piece
    owner = piece.owner
    is_loop = owner >= 0 and computation.flat.names[owner] == "stablehlo.while"
    return is_loop and piece.number == 1


def _movable(computation: Computation) -> Iterator[tuple[int, int]]:
    """Ops of the body that are, or inline, a member that is the same in each turn; its group."""
    graph = computation.graph
    turning = _turning_arguments(graph)
    fixed: set[int] = set()
    for node, operands in enumerate(graph.operands):
        if all(each in fixed or (each < 0 and each not in turning) for each in operands):
            fixed.add(node)
    for group, members in computation.membership.members.items():
        for node in members:
            if node in fixed:
                yield _outermost(graph, node), group


def _turning_arguments(graph: Graph) -> set[int]:
    """The arguments that are others in the next turn, as the graph numbers them."""
    first = graph.inliner.flat.functions[graph.piece.function].first_value
    numbers = [-OUTSIDE - (each - first) for each in graph.piece.arguments]
    pairs = zip(numbers, graph.results, strict=False)
    return {number for number, result in pairs if number != result}


def _outermost(graph: Graph, node: int) -> int:
    op, frame = graph.ops[node], graph.frames[node]
    while frame != graph.frame:
        frame, op = graph.inliner.frames[frame]
    return op


def _is_met_around(view: View, body: Piece, group: int) -> bool:
    """Whether a member of the group around the loop needs the loop, or the loop needs it."""
    for computation in view.computations:
        graph = computation.graph
        # One is enough: with what comes out of the loop they are two.
        tagged = computation.tagged.get(group, ())
        members = {each for each in tagged if computation.name(each) in view.target.members}
        loops = {node for node, op in enumerate(graph.ops) if op == body.owner}
        if (
            members
            and loops
            and (_reaches(graph, members, loops) or _reaches(graph, loops, members))
        ):
            return True
    return False


def _reaches(graph: Graph, sources: set[int], goals: set[int]) -> bool:
    met = set(sources)
    for node in range(min(sources), max(goals) + 1):
        if node not in met and any(each in met for each in graph.operands[node]):
            if node in goals:
                return True
            met.add(node)
    return False


def _hold(op: ir.Operation) -> bool:
    """Makes what an op of a loop body takes a thing of the turn."""
    block = block_of(op)
    *_, end = (view.operation for view in block.operations)
    handed: list[Value] = list(end.operands)
    turning = [each for each, new in zip(block.arguments, handed, strict=True) if each != new]
    taken = list(dict.fromkeys(op.operands))
    if not turning or not taken:
        return False
    if not any(each in turning for each in taken):
        taken.append(turning[0])
    made = barrier(taken, ir.InsertionPoint(op), op)
    new = dict(zip(taken, made.results, strict=True))
    for number, value in enumerate(list(op.operands)):
        op.operands[number] = new[value]
    return True
