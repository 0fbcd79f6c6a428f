"""`keep_original_sequence_order_in_group`: XLA:GPU wants that all members of a group have it or
none, and that no two collectives of a group that has it are independent (measured, 0.10.2 and
0.12.0.1: the process ends, and "exceeds the overlap limits")."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope.annotation import entries_on, write_entries
from schedscope.xla.aborts import ORDER, crowds, mixed_orders
from schedscope.xla.flattening import flatten
from schedscope.xla.xla_view import View, view_of


def agree(view: View) -> Iterator[int]:
    """Where some members are to keep their order, all are, and where XLA cannot do that, none.
    Yields each group whose ops are changed. Needs a current context."""
    changed: dict[int, None] = {}
    for mixed in (each for each in mixed_orders(view) if each.aborts):
        keeping = entries_on(mixed.keeping[0].op)[ORDER]
        for node in mixed.others:
            write_entries(node.op, {**entries_on(node.op), ORDER: keeping})
        changed.setdefault(mixed.group)
    if changed:
        view = view_of(flatten(view.flat.module), view.target)
    for crowd in crowds(view):
        for node in crowd.nodes:
            entries = entries_on(node.op)
            entries.pop(ORDER, None)
            write_entries(node.op, entries)
        changed.setdefault(crowd.group)
    yield from changed
