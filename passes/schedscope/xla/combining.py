"""Collectives that XLA's combiner makes one, as a graph in which they are one.

The combiner goes through the collectives of one key in post-order and takes them together until
one depends on what is taken; there it starts anew. It looks at no group: it joins the ids of what
it takes to one text, "0,1", which XLA cannot read afterwards.
"""

from __future__ import annotations

from typing import TypeAlias

from schedscope._mlir import ir
from schedscope.xla.equality import signature
from schedscope.xla.graphs import Graph, Part
from schedscope.xla.ordering import in_a_row, post_order
from schedscope.xla.targets import Target

Sets: TypeAlias = list[list[int]]
_APART = frozenset({"channel_handle", "all_gather_dim"})
"""Attributes that may differ between what is combined."""


def combined(graph: Graph, target: Target) -> Graph:
    """`graph` itself where nothing is combined."""
    if not target.combines or not graph.groups:
        return graph
    keyed = [nodes for nodes in _keyed(graph, target) if not in_a_row(graph, nodes)]
    if not keyed:
        return graph
    order = post_order(graph)
    sets = [each for nodes in keyed for each in _taken(graph, order, nodes, target)]
    if not sets:
        return graph
    made = _contracted(graph, sets)
    if made is None:
        # Sets of two keys wait for each other: XLA meets the second when the first is one already.
        made = _contracted(graph, _fitting(graph, [], sets))
    return made or graph


def _fitting(graph: Graph, done: Sets, sets: Sets) -> Sets:
    """`done`, and of `sets` one after the other those that can be contracted as well."""
    if _contracted(graph, [*done, *sets]) is not None:
        return [*done, *sets]
    if len(sets) == 1:
        return done
    half = len(sets) // 2
    return _fitting(graph, _fitting(graph, done, sets[:half]), sets[half:])


def _keyed(graph: Graph, target: Target) -> list[list[int]]:
    """Collectives of one key, where there are several."""
    names, groups = graph.inliner.flat.names, graph.groups
    always, alone = target.combines, target.combines_ungrouped
    named: dict[str, list[int]] = {}
    for node, op in enumerate(graph.ops):
        name = names[op]
        if (name in always or (name in alone and node not in groups)) and graph.used[node]:
            named.setdefault(name, []).append(node)
    keyed: dict[object, list[int]] = {}
    for nodes in named.values():
        if len(nodes) > 1 and not in_a_row(graph, nodes):  # else those of a key are in a row, too
            for node in nodes:
                keyed.setdefault(_key(graph, node), []).append(node)
    return sorted(nodes for nodes in keyed.values() if len(nodes) > 1)


def _key(graph: Graph, node: int) -> object:
    flat = graph.inliner.flat
    op = flat.ops[graph.ops[node]]
    if len(graph.operands[node]) != 1:
        return node  # the combiner leaves alone what has several operands
    name, attributes, types, inner = signature(op)
    alike = tuple((key, value) for key, value in attributes if key not in _APART)
    mark = flat.marks.get(graph.ops[node])
    own = mark.combiner_key if mark is not None else None
    elements = tuple(ir.ShapedType(each).element_type for each in types)
    return name, alike, elements, inner, own


def _taken(graph: Graph, order: list[int], nodes: list[int], target: Target) -> Sets:
    """The sets of more than one that the combiner takes of collectives of one key."""
    nodes = sorted(nodes, key=order.__getitem__)
    rank = {node: number for number, node in enumerate(nodes)}
    ops, types = graph.ops, graph.inliner.flat.ops
    span = sorted(
        (node for node in range(min(nodes), max(nodes) + 1) if order[node] >= 0),
        key=order.__getitem__,
    )
    reached: dict[int, int] = {}
    """The last set that a node depends on."""
    sets: Sets = [[]]
    size = 0
    for node in span:
        latest = -1
        for each in graph.operands[node]:
            if each >= 0:
                found = reached.get(each, -1)
                if found > latest:
                    latest = found
        if node in rank:
            weight = _bytes(types[ops[node]])
            current = len(sets) - 1
            if weight > target.combined_bytes:
                pass
            elif latest == current or size + weight > target.combined_bytes:
                sets.append([node])
                size = weight
                latest = current + 1
            else:
                sets[current].append(node)
                size += weight
                latest = current
        if latest >= 0:
            reached[node] = latest
    return [each for each in sets if len(each) > 1]


def _bytes(op: ir.Operation) -> int:
    kind = ir.RankedTensorType(op.results[0].type)
    count = 1
    for size in kind.shape:
        count *= size
    element = kind.element_type
    width: int = getattr(element, "width", 8)
    return count * max(width // 8, 1)


def _contracted(graph: Graph, sets: Sets) -> Graph | None:
    """A graph in which each set is one node; None where that makes a circle."""
    home: dict[int, list[int]] = {node: each for each in sets for node in each}
    order = _sorted(graph, home)
    if order is None:
        return None
    made = Graph(graph.piece, graph.inliner, graph.frame, apart=graph)
    renamed: dict[int, int] = {}

    def new(node: int) -> int:
        return renamed[node] if node >= 0 else node

    for node in order:
        here = len(made.ops)
        parts = home.get(node, [node])
        for each in parts:
            renamed[each] = here
        made.ops.append(graph.ops[parts[0]])
        made.frames.append(graph.frames[parts[0]])
        made.operands.append(tuple([new(each) for part in parts for each in graph.operands[part]]))
        made.used.append(True)
        groups = [graph.groups[each] for each in parts if each in graph.groups]
        if groups:
            made.groups[here] = groups[0]
        if node in graph.chains:
            made.chains.add(here)
        if node in home:
            made.merged[here] = [
                Part(graph.ops[each], graph.frames[each], graph.groups.get(each)) for each in parts
            ]
    made.results = [new(each) for each in graph.results]
    made.effects = [new(each) for each in graph.effects]
    return made


def _sorted(graph: Graph, home: dict[int, list[int]]) -> list[int] | None:
    """The used nodes, of each set the first, operands before users; None for a circle."""
    open_nodes: set[int] = set()
    done: set[int] = set()
    order: list[int] = []
    for end in range(len(graph.ops)):
        if not graph.used[end]:
            continue
        waiting = [end]
        while waiting:
            node = home.get(waiting[-1], waiting[-1:])[0]
            if node in done:
                waiting.pop()
                continue
            if node in open_nodes:
                waiting.pop()
                done.add(node)
                order.append(node)
                continue
            open_nodes.add(node)
            for part in home.get(node, [node]):
                for each in graph.operands[part]:
                    if each < 0:
                        continue
                    first = home.get(each, [each])[0]
                    if first in done:
                        continue
                    if first in open_nodes:
                        return None
                    waiting.append(first)
    return order
