"""Equal ops of one computation, which XLA makes one before it looks for gaps.

Two ops are equal where kind, operands, attributes and result types are; frontend attributes do
not count (measured: two gathers of one operand in two groups become one). Attributes are dear to
read, and are read only where kind and operands meet.
"""

from __future__ import annotations

from typing import NamedTuple

from schedscope._mlir import attributes_of, ir
from schedscope.annotation import FRONTEND_ATTRIBUTES
from schedscope.xla.flat import Flat

_UNEQUAL = frozenset({"stablehlo.rng", "stablehlo.custom_call"})


class Equality:
    """Of one computation."""

    def __init__(self, flat: Flat) -> None:
        self.known: dict[tuple[str, tuple[int, ...]], int] = {}
        """For each kind and operands the first node."""
        self._flat = flat
        self._others: dict[tuple[object, tuple[int, ...]], int] = {}

    def node(self, found: int, op: int, operands: tuple[int, ...], ops: list[int]) -> int:
        """The node that `op` is equal to, where `found` has its kind and operands; -1 where
        there is none."""
        if self._flat.names[op] in _UNEQUAL:
            return -1
        other = ops[found]
        if other == op:
            return found
        wanted = signature(self._flat.ops[op])
        if wanted == signature(self._flat.ops[other]):
            return found
        key = wanted, operands
        known = self._others.get(key)
        if known is None:
            self._others[key] = len(ops)
            return -1
        return known


class Signature(NamedTuple):
    """What must be the same in equal ops, beside the operands."""

    name: str
    attributes: tuple[tuple[str, ir.Attribute], ...]
    types: tuple[ir.Type, ...]
    inner: tuple[object, ...]
    """The ops in its regions."""


def signature(op: ir.Operation) -> Signature:
    """Of an op, frontend attributes left out."""
    attributes = _attributes(op)
    types = tuple([result.type for result in op.results])
    inner = tuple(
        (view.operation.name, _attributes(view.operation))
        for region in op.regions
        for block in region.blocks
        for view in block.operations
    )
    return Signature(op.name, attributes, types, inner)


def _attributes(op: ir.Operation) -> tuple[tuple[str, ir.Attribute], ...]:
    found = attributes_of(op).items()
    return tuple((name, each) for name, each in found if name != FRONTEND_ATTRIBUTES)
