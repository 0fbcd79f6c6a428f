"""A module as XLA sees it when it checks scheduling groups: one graph for each computation.

Every call is inlined, at every path. What is below a call and holds neither a group nor a
collective is one node for each result that its arguments reach.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from schedscope._mlir import ir
from schedscope.xla.combining import combined
from schedscope.xla.flat import Flat, Piece
from schedscope.xla.flattening import flatten
from schedscope.xla.graphs import Graph, Part
from schedscope.xla.inliner import Inliner, Stage
from schedscope.xla.marking import Mark
from schedscope.xla.membership import Membership, settle
from schedscope.xla.quiet import Quiet
from schedscope.xla.splicing import graphs
from schedscope.xla.targets import Target


class Step(NamedTuple):
    """One step of a call path: an op that inlines a body, or has a body of its own."""

    op: ir.Operation
    callee: str | None
    """The function inlined; None for a region."""


class Node(NamedTuple):
    """An op at one call path."""

    name: str
    """As in `stablehlo.add`; `copy` for the copy that XLA makes of `op`'s operand."""
    op: ir.Operation
    path: tuple[Step, ...]
    """From the entry inward; for a loop body or branch, of the first instance that holds it."""
    group: int | None
    """The id in the op's annotation; None where there is none or a part of a chain is filled."""
    is_member: bool
    number: int
    """In the computation's graph."""

    @property
    def location(self) -> ir.Location:
        return self.op.location


@dataclass(eq=False)
class Computation:
    """What XLA schedules as one."""

    flat: Flat
    graph: Graph
    membership: Membership
    stage: Stage = "late"

    @property
    def function(self) -> str:
        """The function whose body, or a region of it, the computation is."""
        return self.graph.piece.function

    def node(self, index: int) -> Node:
        graph = self.graph
        group = graph.groups.get(index)
        return self._node(index, Part(graph.ops[index], graph.frames[index], group))

    def parts(self, index: int) -> list[Node]:
        """The collectives that a node was made of, each with its own group."""
        return [self._node(index, part) for part in self.graph.merged.get(index, ())]

    def _node(self, index: int, part: Part) -> Node:
        name, op = self.flat.names[part.op], self.flat.ops[part.op]
        is_member = index in self.membership.group_of
        return Node(name, op, self._path(part.frame), part.group, is_member, index)

    def members(self, group: int) -> list[Node]:
        return [self.node(index) for index in self.membership.members.get(group, ())]

    @cached_property
    def tagged(self) -> dict[int, list[int]]:
        """By group the nodes that carry its id, members or not, dead ones left out."""
        used, found = self.graph.used, dict[int, list[int]]()
        for index, group in self.graph.groups.items():
            if used[index]:
                found.setdefault(group, []).append(index)
        return found

    def name(self, index: int) -> str:
        """Of a node, as in `stablehlo.add`."""
        return self.flat.names[self.graph.ops[index]]

    def _path(self, frame: int) -> tuple[Step, ...]:
        found: list[Step] = []
        while frame >= 0:
            frame, op = self.graph.inliner.frames[frame]
            found.append(Step(self.flat.ops[op], self.flat.callees.get(op)))
        return tuple(reversed(found))


class MarkedOp(NamedTuple):
    """An op with an annotation, wherever it lies, once however often it is inlined."""

    op: ir.Operation
    mark: Mark
    number: int


@dataclass(eq=False)
class View:
    """The module for one target."""

    flat: Flat
    target: Target
    computations: list[Computation] = field(default_factory=list)
    """Those that hold a group, outer ones first; a loop body or branch of a function that is
    inlined many times is here once."""
    earlier: list[Computation] = field(default_factory=list)
    """Where the target seeks gaps before everything is inlined, those of its checks: functions as
    they are given, and after the first inlining."""
    scheduled: list[Computation] = field(default_factory=list)
    """There, those of its last check, just before scheduling: what is awaited is the only member
    then, and a path through the group's own matmul is a gap."""

    @property
    def checked(self) -> list[list[Computation]]:
        """What the target seeks gaps in."""
        unchecked = self.target.unchecked_beside
        if not unchecked.isdisjoint(self.flat.names):
            return []
        if not self.target.checks_functions:
            return [self.computations]
        early = [each for each in self.earlier if each.stage == "early"]
        return [early, [each for each in self.earlier if each.stage == "given"], self.scheduled]

    @cached_property
    def marked(self) -> list[MarkedOp]:
        return [
            MarkedOp(self.flat.ops[number], mark, number)
            for number, mark in self.flat.marks.items()
            if mark.text is not None or mark.malformed is not None
        ]


def view(module: ir.Module, target: Target) -> View:
    """What XLA for `target` sees of `module`."""
    return view_of(flatten(module), target)


def view_of(flat: Flat, target: Target) -> View:
    """The same, of a module flattened before: for several targets."""
    made = View(flat, target)
    quiet = Quiet(flat)
    inlined = list(graphs(Inliner(flat, target, quiet)))
    late = [combined(graph, target) for graph in inlined]
    for graph, membership in zip(late, settle(late, target), strict=True):
        made.computations.append(Computation(flat, graph, membership))
    if target.checks_functions:
        stages: tuple[Stage, ...] = ("given", "early") if flat.callees else ("early",)
        for stage in stages:
            if flat.inlines_nothing:
                bodies = inlined
            else:
                bodies = list(graphs(Inliner(flat, target, quiet, stage)))
            for graph, membership in zip(bodies, settle(bodies, target), strict=True):
                made.earlier.append(Computation(flat, graph, membership, stage))
        if not target.members.isdisjoint(target.awaited):
            for graph, membership in zip(late, settle(late, target, True), strict=True):
                made.scheduled.append(Computation(flat, graph, membership))
    return made


__all__ = ["Computation", "MarkedOp", "Node", "Piece", "Step", "View", "view", "view_of"]
