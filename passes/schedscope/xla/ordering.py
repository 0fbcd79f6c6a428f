"""The order of the nodes of a computation: in which XLA's passes meet them, and by dependence."""

from __future__ import annotations

from itertools import pairwise

from schedscope.xla.graphs import Graph


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


def in_a_row(graph: Graph, nodes: list[int]) -> bool:
    """Whether each of several nodes, in their order, depends on the one before."""
    operands = graph.operands
    for start, end in pairwise(nodes):
        reached = {start}
        for node in range(start + 1, end):
            if not reached.isdisjoint(operands[node]):
                reached.add(node)
        if reached.isdisjoint(operands[end]):
            return False
    return True
