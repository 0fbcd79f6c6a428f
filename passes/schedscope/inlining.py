"""Which regions XLA splices into the computation around them, and which stay computations.

A manual or named computation is inlined by Shardy's export. A `while` that runs once and a `case`
or `if` whose index is a constant lose their region to XLA's simplifiers before the gap check, so
their groups meet those outside (measured on XLA:GPU 0.12.0.1 and libtpu 0.0.52: a scan of length
1 around a tagged function, used twice, is refused for a gap; of length 2 it is not).
"""

from __future__ import annotations

from schedscope._mlir import Value, ir

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
        return 1 if _runs_once(op) else None
    if name in BRANCHES:
        return _branch_taken(op)
    return None


def _branch_taken(op: ir.Operation) -> int | None:
    index = constant(op.operands[0])
    if index is None:
        return None
    if op.name == "stablehlo.if":
        return 0 if index else 1
    last = len(op.regions) - 1
    return index if 0 <= index <= last else last  # StableHLO: out of range takes the last branch


def _runs_once(loop: ir.Operation) -> bool:
    """True for `for i in range(n, n + 1)` as jax writes it: compare LT in the condition, add in
    the body. A trip count that only XLA's own folding reveals is not seen."""
    condition, body = (region.blocks[0] for region in loop.regions)
    test = _producer(_terminator(condition).operands[0])
    if test is None or test.name != "stablehlo.compare":
        return False
    if "LT" not in str(test.attributes["comparison_direction"]):
        return False
    counter, bound = test.operands
    index = _argument(counter, condition)
    if index is None:
        return False
    start, limit = constant(loop.operands[index]), _loop_constant(bound, loop, condition, body)
    step = _increment(_terminator(body).operands[index], body, index)
    if start is None or limit is None or step is None:
        return False
    return start < limit <= start + step


def _increment(value: Value, body: ir.Block, index: int) -> int | None:
    add = _producer(value)
    if add is None or add.name != "stablehlo.add":
        return None
    left, right = add.operands
    if _argument(left, body) == index:
        return constant(right)
    return constant(left) if _argument(right, body) == index else None


def _loop_constant(
    value: Value, loop: ir.Operation, condition: ir.Block, body: ir.Block
) -> int | None:
    index = _argument(value, condition)
    if index is None:
        return constant(value)
    handed_on = _terminator(body).operands[index]
    return constant(loop.operands[index]) if _argument(handed_on, body) == index else None


def constant(value: Value) -> int | None:
    """The integer that `value` always is, or None; sees through conversions and clamps."""
    op = _producer(value)
    if op is None:
        return None
    if op.name == "stablehlo.constant":
        return _scalar(op.attributes["value"])
    if op.name in ("stablehlo.convert", "stablehlo.reshape"):
        return constant(op.operands[0])
    if op.name == "stablehlo.clamp":
        low, middle, high = map(constant, op.operands)
        if low is None or middle is None or high is None:
            return None
        return max(low, min(middle, high))
    return None


def _scalar(attribute: ir.Attribute) -> int | None:
    try:
        elements = ir.DenseIntElementsAttr(attribute)
    except ValueError:
        return None
    return int(elements[0]) if len(elements) == 1 else None


def _producer(value: Value) -> ir.Operation | None:
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def _argument(value: Value, block: ir.Block) -> int | None:
    owner = value.owner
    if not isinstance(owner, ir.Block) or owner != block:
        return None
    return next((n for n, each in enumerate(block.arguments) if each == value), None)


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation
