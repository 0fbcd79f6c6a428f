"""Which of equal ops XLA keeps where their annotations differ: the one that it meets first,
operands before users, from the results on (measured on XLA:GPU and libtpu)."""

from __future__ import annotations

from typing import TypeAlias

from schedscope.xla.graphs import Graph
from schedscope.xla.ordering import post_order

Twins: TypeAlias = dict[int, list[tuple[int, int]]]
"""For a node ops that are equal to its own, and their call paths."""


def keep_first(graph: Graph, twins: Twins, apart: Graph) -> None:
    """Makes each of the nodes the op that XLA keeps. `apart` is the same computation with equal
    ops not merged."""
    wanted = {op for found in twins.values() for op, _ in found}
    wanted.update(graph.ops[node] for node in twins)
    order = post_order(apart)
    met = {
        (op, _route(apart, apart.frames[node])): order[node]
        for node, op in enumerate(apart.ops)
        if op in wanted and order[node] >= 0
    }
    marks = graph.inliner.flat.marks
    for node, others in twins.items():
        places = [(graph.ops[node], graph.frames[node]), *others]
        alive = [place for place in places if (place[0], _route(graph, place[1])) in met]
        if not alive:
            continue
        first = min(alive, key=lambda place: met[place[0], _route(graph, place[1])])
        if first == places[0]:
            continue
        graph.ops[node], graph.frames[node] = first
        mark = marks.get(first[0])
        if mark is not None and mark.group is not None:
            graph.groups[node] = mark.group
        else:
            graph.groups.pop(node, None)


def _route(graph: Graph, frame: int) -> tuple[int, ...]:
    found: list[int] = []
    while frame != graph.frame:
        frame, op = graph.inliner.frames[frame]
        found.append(op)
    return tuple(found)
