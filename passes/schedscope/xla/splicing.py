"""Graphs made of bodies: inlined at every call path, equal ops merged, dead ones marked."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.xla.equality import Equality
from schedscope.xla.flat import Piece
from schedscope.xla.graphs import OUTSIDE, Graph
from schedscope.xla.inliner import Inliner
from schedscope.xla.survivors import Twins, keep_first

BARRIER = "stablehlo.optimization_barrier"


def graphs(inliner: Inliner) -> Iterator[Graph]:
    """The graphs of the computations that hold a group."""
    return (_graph(inliner, piece, frame) for piece, frame in inliner.computations())


def _graph(inliner: Inliner, piece: Piece, frame: int) -> Graph:
    graph, twins = _built(inliner, piece, frame)
    if twins:
        apart, _ = _built(inliner, piece, frame, merges=False)
        keep_first(graph, twins, apart)
    graph.used = _used(graph)
    return graph


def _built(inliner: Inliner, piece: Piece, frame: int, merges: bool = True) -> tuple[Graph, Twins]:
    graph = Graph(piece, inliner, frame)
    function = inliner.flat.functions[piece.function]
    count = function.last_value - function.first_value
    values = list(range(-OUTSIDE, -OUTSIDE - count, -1))
    builder = _Builder(inliner, graph, merges)
    graph.results = builder.splice(piece, function.first_value, values, frame)
    return graph, builder.twins


class _Builder:
    def __init__(self, inliner: Inliner, graph: Graph, merges: bool) -> None:
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
        nodes, frames, operands, groups = graph.ops, graph.frames, graph.operands, graph.groups
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
            fresh = node = len(nodes)
            if op in special:
                if op in flat.effects:
                    graph.effects.append(fresh)
                inner = inliner.inlined(op)
                if inner is not None:
                    results = self._inline(op, inner, used, first, values, frame)
                    at = first_result[op] - first
                    values[at : at + len(results)] = results
                    continue
                inliner.meet_computations(op, frame)
                if op in flat.regions:
                    used += tuple([values[each - first] for each in inliner.quiet.captures(op)])
            elif merges:
                found = known.setdefault((names[op], used), fresh)
                if found != fresh:
                    found = self._equality.node(found, op, used, nodes)
                    if found >= 0:
                        node = found
                        if node in groups or op in marks:
                            self._note_twin(node, op, frame)
            if node == fresh:
                nodes.append(op)
                frames.append(frame)
                operands.append(used)
                if op in marks:
                    group = marks[op].group
                    if group is not None:
                        groups[node] = group
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
