"""Which regions XLA splices into the computation around them, and which stay computations.

A manual or named computation is inlined by Shardy's export. A `while` that runs once and a `case`
or `if` whose index is a constant lose their region to XLA's simplifiers before the gap check, so
their groups meet those outside (measured on XLA:GPU 0.12.0.1 and libtpu 0.0.52: a scan of length
1 around a tagged function, used twice, is refused for a gap; of length 2 it is not).
"""

from __future__ import annotations

from schedscope._mlir import ir
from schedscope.folding import number, turns_once

SPLICED = frozenset({"sdy.manual_computation", "sdy.named_computation"})
BRANCHES = frozenset({"stablehlo.case", "stablehlo.if"})
REDUCERS = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_reduce",
        "map",
        "reduce",
        "reduce_scatter",
        "reduce_window",
        "scatter",
        "select_and_scatter",
        "sort",
    )
)
"""Ops whose region is a small function of scalars; tags in there mean nothing to XLA."""


def spliced_region(op: ir.Operation) -> int | None:
    """The number of the region of `op` that XLA inlines, or None."""
    name = op.name
    if name in SPLICED:
        return 0
    if name == "stablehlo.while":
        return 1 if turns_once(op) else None
    if name in BRANCHES:
        return _branch_taken(op)
    return None


def _branch_taken(op: ir.Operation) -> int | None:
    index = number(op.operands[0])
    if index is None:
        return None
    if op.name == "stablehlo.if":
        return 0 if index else 1
    last = len(op.regions) - 1
    return int(index) if 0 <= index <= last else last  # out of range takes the last branch
