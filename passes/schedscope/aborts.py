"""What ends the compiler's process instead of in an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedscope.xla_view import Node, View

ORDER = "keep_original_sequence_order_in_group"


class MixedOrder(NamedTuple):
    """Members of one group of which some are to keep their order."""

    group: int
    keeping: tuple[Node, ...]
    others: tuple[Node, ...]


def crashes(view: View) -> Iterator[Node]:
    """Annotated ops at which the compiler dies."""
    for computation in view.computations if view.target.crashes else ():
        yield from (node for node in computation.annotated() if node.name in view.target.crashes)


def mixed_orders(view: View) -> Iterator[MixedOrder]:
    """Groups whose members differ in what they say of their order."""
    if not view.target.aborts_on_mixed_order:
        return
    marks = view.flat.marks
    for computation in view.computations:
        for group, members in computation.membership.members.items():
            ordered = [
                ORDER in marks[computation.graph.ops[node]].entries
                for node in members
                if computation.graph.ops[node] in marks
            ]
            if len(set(ordered)) > 1:
                nodes = computation.members(group)
                pairs = list(zip(nodes, ordered, strict=True))
                yield MixedOrder(
                    group,
                    tuple(node for node, keeps in pairs if keeps),
                    tuple(node for node, keeps in pairs if not keeps),
                )
