"""The graph of one computation, as data: what XLA schedules as one, calls inlined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from schedscope.xla.flat import Piece

if TYPE_CHECKING:
    from schedscope.xla.inliner import Inliner

OUTSIDE = 1 << 40
"""Values from outside a computation are numbered downward from here, negative."""


class Part(NamedTuple):
    """A collective of which, with others, XLA makes one."""

    op: int
    frame: int
    group: int | None


@dataclass(eq=False, slots=True)
class Graph:
    """One computation. Lists named alike run over its nodes, in program order."""

    piece: Piece
    inliner: Inliner
    frame: int
    """The call path of the piece itself."""
    ops: list[int] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    operands: list[tuple[int, ...]] = field(default_factory=list)
    """Nodes; negative numbers are constants and what comes from outside."""
    groups: dict[int, int] = field(default_factory=dict)
    """The nodes that carry a group's id."""
    results: list[int] = field(default_factory=list)
    effects: list[int] = field(default_factory=list)
    chains: set[int] = field(default_factory=set)
    """Of the nodes that stand for more than one op, those that stand for a chain of ops of one
    operand."""
    used: list[bool] = field(default_factory=list)
    merged: dict[int, list[Part]] = field(default_factory=dict)
    """The nodes that are several collectives made one, and which; each result is taken out of
    such a node by an op of its own."""
    apart: Graph | None = None
    """What it was before collectives were made one; None where none were."""


def is_constant(operand: int) -> bool:
    """Of a graph's operand: whether it is neither a node nor from outside."""
    return -OUTSIDE < operand < 0
