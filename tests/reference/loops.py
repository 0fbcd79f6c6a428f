"""Regions that XLA melts into what is around them: a loop that runs once, the branch that a
constant takes."""

from __future__ import annotations

import re
from typing import Any

from jaxlib.mlir import ir


def runs_once(loop: Any) -> bool:
    """For loops as jax writes them, `i < limit` and `i + step`, with all three constant."""
    condition, body = (region.blocks[0] for region in loop.regions)
    test = _maker(_last(condition).operands[0])
    if test is None or test.name != "stablehlo.compare" or "LT" not in str(test.attributes):
        return False
    position = _argument(test.operands[0], condition)
    if position is None:
        return False
    start = constant(loop.operands[position])
    limit = constant(test.operands[1])
    add = _maker(_last(body).operands[position])
    if start is None or limit is None or add is None or add.name != "stablehlo.add":
        return False
    if _argument(add.operands[0], body) != position:
        return False
    step = constant(add.operands[1])
    return step is not None and start < limit <= start + step


def branch_taken(op: Any) -> int | None:
    index = constant(op.operands[0])
    if index is None:
        return None
    if op.name == "stablehlo.if":
        return 0 if index else 1
    count = len(op.regions)
    return index if 0 <= index < count else count - 1


def constant(value: Any) -> int | None:
    op = _maker(value)
    if op is None:
        return None
    if op.name == "stablehlo.constant":
        text = re.fullmatch(r"dense<(-?\d+|true|false)> : tensor<\w+>", str(op.attributes["value"]))
        if text is None:
            return None
        return {"true": 1, "false": 0}.get(text[1]) if text[1].isalpha() else int(text[1])
    if op.name == "stablehlo.convert":
        return constant(op.operands[0])
    if op.name == "stablehlo.clamp":
        low, middle, high = (constant(operand) for operand in op.operands)
        if low is None or middle is None or high is None:
            return None
        return max(low, min(middle, high))
    return None


def _maker(value: Any) -> Any:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _argument(value: Any, block: Any) -> int | None:
    arguments = list(block.arguments)
    return arguments.index(value) if value in arguments else None


def _last(block: Any) -> Any:
    return list(block.operations)[-1].operation
