"""Combiner keys where scoping's do not do: collectives that XLA would make one, and so make an
annotation that it cannot read, or a gap."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope._mlir import ir
from schedscope.annotation import COMBINER_KEY, entries_on, write_entries
from schedscope.xla.gap_search import gaps
from schedscope.xla.xla_view import Node, View


def part_collectives(view: View) -> int:
    """Gives each of them a key of its own, of several groups or on a gap's path; returns how many.
    Needs a current context."""
    taken = {
        mark.combiner_key for mark in view.flat.marks.values() if mark.combiner_key is not None
    }
    written: dict[ir.Operation, str] = {}
    for node in _merged(view):
        if node.op in written:
            continue
        entries = entries_on(node.op)
        own = ir.StringAttr(entries[COMBINER_KEY]).value if COMBINER_KEY in entries else "apart"
        number = 0
        while f"{own}.{number}" in taken:
            number += 1
        key = written[node.op] = f"{own}.{number}"
        taken.add(key)
        write_entries(node.op, {**entries, COMBINER_KEY: ir.StringAttr.get(key)})
    return len(written)


def _merged(view: View) -> Iterator[Node]:
    if not any(computation.graph.merged for computation in view.computations):
        return
    torn = {(gap.computation, node.number) for gap in gaps(view) for node in gap.path}
    for computation in view.computations:
        for index in computation.graph.merged:
            parts = computation.parts(index)
            groups = {part.group for part in parts}
            if len(groups) > 1 or (computation, index) in torn:
                yield from parts
