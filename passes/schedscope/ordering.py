"""The order of the nodes of a computation: in which XLA's passes meet them, and by dependence."""

from __future__ import annotations

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


def in_a_row(graph: Graph, nodes: list[int]) -> bool:
    """Whether each of several nodes, in their order, depends on the one before."""
    operands = graph.operands
    last = {nodes[0]: 0}
    """The last of them that a node depends on."""
    following = 1
    for node in range(nodes[0] + 1, nodes[-1] + 1):
        latest = -1
        for each in operands[node]:
            if each in last and last[each] > latest:
                latest = last[each]
        if node == nodes[following]:
            if latest != following - 1:
                return False
            last[node] = following
            following += 1
        elif latest >= 0:
            last[node] = latest
    return True
