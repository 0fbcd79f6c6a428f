"""The order in which XLA's passes meet the ops of a computation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedscope.graphs import Graph


def post_order(graph: Graph) -> list[int]:
    """Where each node stands when operands are visited first, from the results on."""
    position = [-1] * len(graph.ops)
    count = 0
    ends = [*graph.results, *graph.effects]
    for end in ends:
        waiting = [end] if end >= 0 else []
        while waiting:
            node = waiting[-1]
            if position[node] >= 0:
                waiting.pop()
                continue
            if position[node] == -2:
                position[node] = count
                count += 1
                waiting.pop()
                continue
            position[node] = -2
            operands = reversed(graph.operands[node])
            waiting += [each for each in operands if each >= 0 and position[each] == -1]
    return position
