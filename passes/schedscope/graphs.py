"""Graphs of computations: bodies inlined at every call path, equal ops merged, dead ones marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from schedscope import inlining
from schedscope.early_inlining import EarlyInlining
from schedscope.equality import Equality
from schedscope.flattening import Flat, Piece
from schedscope.quiet import Quiet
from schedscope.survivors import Twins, keep_first
from schedscope.targets import Target

Stage = Literal["given", "early", "late"]
"""When the module is looked at: as it is given, after libtpu's first inlining, or all inlined."""

BARRIER = "stablehlo.optimization_barrier"
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

    @property
    def inlines(self) -> bool:
        return self.inliner.inlines


class Inliner:
    def __init__(self, flat: Flat, target: Target, stage: Stage = "late") -> None:
        self.flat = flat
        self.frames: list[tuple[int, int]] = []
        """Call paths: the frame around each, and the op."""
        self._target = target
        self._stage = stage
        self._quiet = Quiet(flat)
        self._early = EarlyInlining(flat, target) if stage == "early" else None
        self._waiting: list[tuple[Piece, int]] = []
        self._met: set[Piece] = set()

    def graphs(self) -> Iterator[Graph]:
        """Those that hold a group, from the entries inward."""
        self._waiting = [(self.flat.functions[name], -1) for name in reversed(self._roots())]
        while self._waiting:
            piece, frame = self._waiting.pop()
            if piece in self._met:
                continue
            self._met.add(piece)
            below = len(self._waiting)
            if self._quiet.holds_group(piece, self.inlines):
                yield self._graph(piece, frame)
            else:
                self.pass_over(piece, frame)
            self._waiting[below:] = reversed(self._waiting[below:])

    def _roots(self) -> list[str]:
        """The functions that are computations of their own."""
        if self._stage == "given":
            return list(self.flat.functions)
        return [*self.flat.entries(), *(self._early.kept if self._early is not None else ())]

    def _graph(self, piece: Piece, frame: int) -> Graph:
        graph = Graph(piece, self, frame)
        function = self.flat.functions[piece.function]
        count = function.last_value - function.first_value
        values = list(range(-OUTSIDE, -OUTSIDE - count, -1))
        builder = _Builder(self, graph)
        graph.results = builder.splice(piece, function.first_value, values, frame)
        if builder.twins:
            apart = Graph(piece, self, frame)
            values = list(range(-OUTSIDE, -OUTSIDE - count, -1))
            unmerged = _Builder(self, apart, merges=False)
            apart.results = unmerged.splice(piece, function.first_value, values, frame)
            keep_first(graph, builder.twins, apart)
        graph.used = _used(graph)
        return graph

    def pass_over(self, piece: Piece, frame: int) -> None:
        """Looks for computations below a piece that holds no group itself."""
        if not self._quiet.reaches(piece):
            return
        pending = [(piece, frame)]
        while pending:
            piece, frame = pending.pop()
            for op in piece.ops:
                self.meet_computations(op, frame)
                inner = self.inlined(op)
                if inner is not None and inner not in self._met and self._quiet.reaches(inner):
                    self._met.add(inner)
                    pending.append((inner, self.step(frame, op)))

    def inlined(self, op: int) -> Piece | None:
        """The piece that XLA splices in place of an op."""
        callee = self.flat.callees.get(op)
        if callee is not None:
            kept = self._stage == "given" or (
                self._early is not None and callee in self._early.kept
            )
            return None if kept else self.flat.functions[callee]
        for piece in self.flat.regions.get(op, ()):
            if piece.spliced and not self._is_apart(op, piece):
                return piece
        return None

    def _is_apart(self, op: int, piece: Piece) -> bool:
        """Whether a region that XLA will splice is still a computation of its own. The branch of
        a constant is none from the start."""
        if self.flat.names[op] in inlining.BRANCHES:
            return False
        if self._stage == "given":
            return True
        if self.flat.names[op] == "sdy.manual_computation":
            return self._stage == "early"
        return self._early is not None and piece.function in self._early.repeated

    def step(self, frame: int, op: int) -> int:
        self.frames.append((frame, op))
        return len(self.frames) - 1

    def meet_computations(self, op: int, frame: int) -> None:
        """Notes the computations that an op holds, to be made into graphs later."""
        for piece in self.flat.regions.get(op, ()):
            alone = not piece.spliced or self._is_apart(op, piece)
            if alone and piece not in self._met and self._quiet.reaches(piece):
                self._waiting.append((piece, self.step(frame, op)))
        for name in self.flat.outlined.get(op, ()):
            piece = self.flat.functions[name]
            if self.inlines and piece not in self._met and self._quiet.reaches(piece):
                self._waiting.append((piece, self.step(frame, op)))

    def is_new(self, piece: Piece) -> bool:
        """Whether nobody has looked below the piece yet, and a group is there."""
        new = piece not in self._met and self._quiet.reaches(piece)
        if new:
            self._met.add(piece)
        return new

    def is_quiet(self, piece: Piece) -> bool:
        return not self._quiet.is_loud(piece)

    @property
    def inlines(self) -> bool:
        """Whether calls are inlined, all or some."""
        return self._stage != "given"

    @property
    def quiet(self) -> Quiet:
        return self._quiet

    @property
    def hands_id_to_root(self) -> bool:
        """Whether a call's id goes to what makes its results, where that has none."""
        return self._target.family == "gpu"


class _Builder:
    def __init__(self, inliner: Inliner, graph: Graph, merges: bool = True) -> None:
        """Without `merges` equal ops stay several."""
        self.twins: Twins = {}
        """Ops that were merged into a node whose annotation is another."""
        self._merges = merges
        self._inliner = inliner
        self._graph = graph
        self._flat = inliner.flat
        self._equality = Equality(inliner.flat)

    def splice(self, piece: Piece, first: int, values: list[int], frame: int) -> list[int]:
        """Adds the ops of a piece; returns what its results are. `values` are those of the
        function around it, from number `first` on."""
        flat, graph, inliner = self._flat, self._graph, self._inliner
        special = flat.callees.keys() | flat.regions.keys() | flat.outlined.keys() | flat.effects
        names, first_result, result_count = flat.names, flat.first_result, flat.result_count
        all_operands, marks, known = flat.operands, flat.marks, self._equality.known
        merges = self._merges
        for op in piece.ops:
            raw = all_operands[op]
            if len(raw) == 2:  # most have one or two, and a comprehension costs twice that
                one, other = raw
                used: tuple[int, ...] = (
                    values[one - first] if one >= 0 else one,
                    values[other - first] if other >= 0 else other,
                )
            elif len(raw) == 1:
                one = raw[0]
                used = (values[one - first] if one >= 0 else one,)
            else:
                used = tuple([values[each - first] if each >= 0 else each for each in raw])
            node = -1
            if op in special:
                if op in flat.effects:
                    graph.effects.append(len(graph.ops))
                inner = inliner.inlined(op)
                if inner is not None:
                    results = self._inline(op, inner, used, first, values, frame)
                    at = first_result[op] - first
                    values[at : at + len(results)] = results
                    continue
                inliner.meet_computations(op, frame)
                if op in flat.regions:
                    used += tuple([values[each - first] for each in inliner.quiet.captures(op)])
            else:
                key = names[op], used
                found = known.get(key)
                if found is None:
                    if merges:
                        known[key] = len(graph.ops)
                else:
                    node = self._equality.node(found, op, used, graph.ops)
                    if node in graph.groups or op in marks:
                        self._note_twin(node, op, frame)
            if node < 0:
                node = len(graph.ops)
                graph.ops.append(op)
                graph.frames.append(frame)
                graph.operands.append(used)
                if op in marks:
                    group = marks[op].group
                    if group is not None:
                        graph.groups[node] = group
            at = first_result[op] - first
            if result_count[op] == 1:
                values[at] = node
            else:
                values[at : at + result_count[op]] = self._results(op, node, frame)
        return [values[each - first] if each >= 0 else each for each in piece.results]

    def _results(self, op: int, node: int, frame: int) -> list[int]:
        """A node for each result of an op of several. Those of a barrier are told apart, as XLA
        does: else what uses one would be equal to what uses another."""
        flat, graph, known = self._flat, self._graph, self._equality.known
        if flat.names[op] != BARRIER:
            return [node] * flat.result_count[op]
        found = []
        for number in range(flat.result_count[op]):
            key = f"{BARRIER}#{number}", (node,)
            taken = known.get(key)
            if taken is None:
                taken = len(graph.ops)
                if self._merges:
                    known[key] = taken
                graph.ops.append(op)
                graph.frames.append(frame)
                graph.operands.append((node,))
            found.append(taken)
        return found

    def _note_twin(self, node: int, op: int, frame: int) -> None:
        mark = self._flat.marks.get(op)
        group = None if mark is None else mark.group
        if node >= 0 and group != self._graph.groups.get(node):
            self.twins.setdefault(node, []).append((op, frame))

    def _inline(
        self,
        op: int,
        inner: Piece,
        used: tuple[int, ...],
        first: int,
        values: list[int],
        frame: int,
    ) -> list[int]:
        inliner = self._inliner
        is_call = op in self._flat.callees
        mark = self._flat.marks.get(op)
        handed = mark.group if mark is not None and inliner.hands_id_to_root else None
        if is_call and handed is None and inliner.is_quiet(inner):
            if inliner.is_new(inner):
                inliner.pass_over(inner, inliner.step(frame, op))
            return self._skip(op, inner, used, frame)
        deeper = inliner.step(frame, op)
        if is_call:
            count = inner.last_value - inner.first_value
            first, values = inner.first_value, [0] * count
        for argument, value in zip(inner.arguments, used, strict=False):
            values[argument - first] = value
        start = len(self._graph.ops)
        results = self.splice(inner, first, values, deeper)
        if handed is not None:
            for each in results:
                if each >= start:
                    self._graph.groups.setdefault(each, handed)
        return results

    def _skip(self, op: int, inner: Piece, used: tuple[int, ...], frame: int) -> list[int]:
        """One node for each result of a call below which there is nothing to see."""
        graph, known = self._graph, self._equality.known
        found = []
        for number, result in enumerate(self._inliner.quiet.results(inner)):
            if result.constant is not None:
                found.append(result.constant)
                continue
            arguments = tuple([used[each] for each in result.arguments])
            key = (f"{inner.function}#{number}", arguments)
            node = known.get(key)
            if node is None:
                node = len(graph.ops)
                if self._merges:
                    known[key] = node
                graph.ops.append(op)
                graph.frames.append(frame)
                graph.operands.append(arguments)
                if result.is_chain:
                    graph.chains.add(node)
            found.append(node)
        return found


def _used(graph: Graph) -> list[bool]:
    """What a result or an effect needs."""
    used = [False] * len(graph.ops)
    for node in (*graph.results, *graph.effects):
        if node >= 0:
            used[node] = True
    operands = graph.operands
    for node in range(len(used) - 1, -1, -1):
        if used[node]:
            for each in operands[node]:
                if each >= 0:
                    used[each] = True
    return used


def is_constant(operand: int) -> bool:
    """Of a graph's operand: whether it is neither a node nor from outside."""
    return -OUTSIDE < operand < 0
