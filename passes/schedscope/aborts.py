"""What members of one group that are to keep their order come to, and other ends of the compiler
that are no error about groups: XLA:GPU ends the process where some keep it and some do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedscope.graphs import Graph
from schedscope.ordering import in_a_row
from schedscope.xla_view import Node, View

ORDER = "keep_original_sequence_order_in_group"


class MixedOrder(NamedTuple):
    """Members of one group of which some are to keep their order."""

    group: int
    keeping: tuple[Node, ...]
    others: tuple[Node, ...]


def crashes(view: View) -> Iterator[Node]:
    """Annotated ops at which the compiler dies."""
    deadly = view.target.crashes
    for computation in view.computations if deadly else ():
        for nodes in computation.tagged.values():
            yield from (
                computation.node(each) for each in nodes if computation.name(each) in deadly
            )


def mixed_orders(view: View) -> Iterator[MixedOrder]:
    """Groups whose members differ in what they say of their order."""
    if not view.target.aborts_on_mixed_order:
        return
    marks = view.flat.marks
    for computation in view.computations:
        graph = computation.graph
        for group, members in computation.membership.members.items():
            pairs = [
                (node, part, op in marks and marks[op].has(ORDER))
                for node in members
                for part, op in enumerate(_ops(graph, node))
            ]
            if len({keeps for _, _, keeps in pairs}) > 1:
                keeping: list[Node] = []
                others: list[Node] = []
                for node, part, keeps in pairs:
                    parts = computation.parts(node) or [computation.node(node)]
                    (keeping if keeps else others).append(parts[part])
                yield MixedOrder(group, tuple(keeping), tuple(others))


def _ops(graph: Graph, node: int) -> list[int]:
    """The op that a node is, or those that were made one."""
    return [part.op for part in graph.merged.get(node, ())] or [graph.ops[node]]


class Crowd(NamedTuple):
    """Collectives of one group that keeps its order, of which XLA would have two under way."""

    group: int
    nodes: tuple[Node, ...]


def crowds(view: View) -> Iterator[Crowd]:
    """XLA:GPU lets one collective be under way, and with the order kept it does not put one after
    the other (measured, 0.10.2 and 0.12.0.1: refused where two do not depend on each other, and
    were not combined)."""
    if not view.target.aborts_on_mixed_order:
        return
    marks = view.flat.marks
    for computation in view.computations:
        graph = computation.graph
        for group, members in computation.membership.members.items():
            keep = (
                graph.ops[each] in marks and marks[graph.ops[each]].has(ORDER) for each in members
            )
            if len(members) > 1 and all(keep) and not in_a_row(graph, members):
                yield Crowd(group, tuple(computation.members(group)))
