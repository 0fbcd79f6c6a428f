"""What members of one group that are to keep their order come to, and other ends of the compiler
that are no error about groups: XLA:GPU ends the process where some keep it and some do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from schedscope.xla.graphs import Graph
from schedscope.xla.marking import Mark
from schedscope.xla.ordering import in_a_row
from schedscope.xla.xla_view import Computation, Node, View

ORDER = "keep_original_sequence_order_in_group"


class MixedOrder(NamedTuple):
    """Members of one group of which some are to keep their order."""

    group: int
    keeping: tuple[Node, ...]
    others: tuple[Node, ...]
    aborts: bool
    """False where it is sure that XLA meets one of the others first, and orders nothing."""


def crashes(view: View) -> Iterator[Node]:
    """Annotated ops at which the compiler dies."""
    deadly = view.target.crashes
    for computation in view.computations if deadly else ():
        for nodes in computation.tagged.values():
            yield from (
                computation.node(each) for each in nodes if computation.name(each) in deadly
            )


def mixed_orders(view: View) -> Iterator[MixedOrder]:
    """Groups whose members differ in what they say of their order. XLA takes the word of the one
    that it meets first, and ends the process at one that does not keep it when that one does
    (measured, 0.12.0.1); which of two independent ones it meets first is its choice."""
    for computation, group, members, keeping in _ordering(view):
        if len(keeping) < len(members):
            others = [node for node in members if node not in keeping]
            yield MixedOrder(
                group,
                _parts(computation, keeping),
                _parts(computation, others),
                members != others + keeping or not in_a_row(computation.graph, members),
            )


def _ordering(view: View) -> Iterator[tuple[Computation, int, list[int], list[int]]]:
    """Groups of which some members are to keep their order: all members, and those."""
    if not view.target.aborts_on_mixed_order:
        return
    marks = view.flat.marks
    for computation in view.computations:
        for group, members in computation.membership.members.items():
            keeping = [node for node in members if _keeps(computation.graph, node, marks)]
            if keeping:
                yield computation, group, members, keeping


def _keeps(graph: Graph, node: int, marks: Mapping[int, Mark]) -> bool:
    """Of collectives made one, any is enough (measured)."""
    ops = [part.op for part in graph.merged.get(node, ())] or [graph.ops[node]]
    return any(op in marks and marks[op].has(ORDER) for op in ops)


def _parts(computation: Computation, nodes: list[int]) -> tuple[Node, ...]:
    return tuple(
        part for node in nodes for part in computation.parts(node) or [computation.node(node)]
    )


class Crowd(NamedTuple):
    """Collectives of one group that keeps its order, of which XLA would have two under way."""

    group: int
    nodes: tuple[Node, ...]


def crowds(view: View) -> Iterator[Crowd]:
    """XLA:GPU lets one collective be under way, and with the order kept it does not put one after
    the other (measured, 0.10.2 and 0.12.0.1: refused where two do not depend on each other, and
    were not combined)."""
    for computation, group, members, keeping in _ordering(view):
        alone = len(members) == 1 or in_a_row(computation.graph, members)
        if len(keeping) == len(members) and not alone:
            yield Crowd(group, tuple(computation.members(group)))
