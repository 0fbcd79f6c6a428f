"""An id on a call only is given to the ops in its function: XLA gives it to the op that makes the
result, and to no other (measured)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from schedscope._mlir import ir
from schedscope.annotation import GROUP_ID, entries_on, write_entries
from schedscope.callgraph import CALLS
from schedscope.repair.cloning import Cloning, redirect
from schedscope.repair.links import KINDS
from schedscope.xla.flat import Flat, Piece


def push_down(flat: Flat, crashes: Collection[str] = ()) -> Iterator[str]:
    """Yields the name of each function whose ops get an id, but for those of a kind in `crashes`;
    a function that has other callers is cloned. To be asked of a scoped module. Needs a current
    context."""
    plan = _Plan(flat, KINDS.difference(crashes))
    for op, mark in list(flat.marks.items()):
        callee = flat.callees.get(op)
        if callee is None or mark.group is None or plan.holds_group(callee):
            continue
        text = mark.entries[GROUP_ID]
        yield from plan.give(flat.ops[op], callee, text)


class _Plan:
    def __init__(self, flat: Flat, kinds: frozenset[str]) -> None:
        self._flat = flat
        self._kinds = kinds
        self._holds: dict[str, bool] = {}
        self._made: dict[tuple[str, ir.Attribute], str] = {}
        self._cloning = Cloning(flat.module)

    def holds_group(self, name: str) -> bool:
        """Whether an op in a function, or below it, carries an id."""
        known = self._holds.get(name)
        if known is None:
            piece = self._flat.functions[name]
            known = self._holds[name] = self._below(piece)
        return known

    def _below(self, piece: Piece) -> bool:
        if piece.has_group:
            return True
        for op in piece.sites:
            callee = self._flat.callees.get(op)
            if callee is not None and self.holds_group(callee):
                return True
            if any(self._below(region) for region in self._flat.regions.get(op, ())):
                return True
        return False

    def give(self, call: ir.Operation, callee: str, text: ir.Attribute) -> Iterator[str]:
        """Makes `call` one of a function whose ops carry `text`."""
        known = self._made.get((callee, text))
        if known is None:
            known = self._made[callee, text] = self._cloning.clone(callee)
            yield known
            yield from self._tag(self._cloning.function(known), text)
        redirect(call, known)

    def _tag(self, function: ir.Operation, text: ir.Attribute) -> Iterator[str]:
        for op in _straight(function):
            if op.name in self._kinds or op.name in CALLS:
                _mark(op, text)
            if op.name in CALLS:
                callee = ir.FlatSymbolRefAttr(op.attributes[CALLS[op.name]]).value
                yield from self.give(op, callee, text)


def _straight(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops of a function's body; loops and branches are computations of their own."""
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                yield inner
                if inner.name in ("sdy.manual_computation", "sdy.named_computation"):
                    yield from _straight(inner)


def _mark(op: ir.Operation, text: ir.Attribute) -> None:
    present = entries_on(op)
    if GROUP_ID not in present:
        write_entries(op, {**present, GROUP_ID: text})
