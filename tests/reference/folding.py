"""Scalar constants, followed through a program as XLA's simplifiers follow them.

XLA melts a loop that runs once and a branch that a constant takes into what is around them, and
does so before it looks for gaps. tests/test_melted_regions.py asks XLA:GPU, v5e and tpu7x: so it
is for loops `i < n`, `i <= n`, `i != n` and `i > n`, with any step, also where the bound is a
constant that a caller passes in; and for predicates that are constants, or follow from constants
by scalar arithmetic, but not where a caller passes them in.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Scalar = int | float | bool
Known = Mapping[Any, Scalar]
"""The values that are always one number."""

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "stablehlo.add": operator.add,
    "stablehlo.subtract": operator.sub,
    "stablehlo.multiply": operator.mul,
    "stablehlo.negate": operator.neg,
    "stablehlo.minimum": min,
    "stablehlo.maximum": max,
    "stablehlo.clamp": lambda low, value, high: max(low, min(value, high)),
    "stablehlo.select": lambda test, yes, no: yes if test else no,
    "stablehlo.not": operator.not_,
    "stablehlo.reshape": lambda value: value,
    "stablehlo.broadcast_in_dim": lambda value: value,
}


def fold(op: Any, known: Known) -> Scalar | None:
    """The one number that a one-result op gives, if it is always that."""
    if len(op.results) != 1 or not str(op.results[0].type).startswith("tensor<"):
        return None
    if "x" in str(op.results[0].type):
        return None
    if op.name == "stablehlo.constant":
        return _literal(str(op.attributes["value"]))
    values = [known.get(operand) for operand in op.operands]
    if op.name in ("stablehlo.or", "stablehlo.and"):
        decisive = op.name == "stablehlo.or"
        if any(value is decisive for value in values):
            return decisive
        return None if None in values else not decisive
    if None in values:
        return None
    if op.name == "stablehlo.convert":
        return _converted(values[0], str(op.results[0].type))
    if op.name == "stablehlo.compare":
        direction = re.search(r"EQ|NE|LT|LE|GT|GE", str(op.attributes["comparison_direction"]))
        assert direction is not None
        return _COMPARE[direction[0]](*values)
    return _ARITHMETIC[op.name](*values) if op.name in _ARITHMETIC else None


def runs_once(loop: Any, known: Known) -> bool:
    """Tries it: the condition holds at first, and no more after one turn."""
    condition, body = (region.blocks[0] for region in loop.regions)
    start = [known.get(operand) for operand in loop.operands]
    if _run(condition, start, known)[0] is not True:
        return False
    return _run(condition, _run(body, start, known), known)[0] is False


def branch_taken(op: Any, known: Known) -> int | None:
    index = known.get(op.operands[0])
    if index is None:
        return None
    if op.name == "stablehlo.if":
        return 0 if index else 1
    last = len(op.regions) - 1
    return int(index) if 0 <= index <= last else last


def _run(block: Any, arguments: Sequence[Scalar | None], known: Known) -> list[Scalar | None]:
    pairs = zip(block.arguments, arguments, strict=True)
    values = {**known, **{argument: value for argument, value in pairs if value is not None}}
    for view in block.operations:
        op = view.operation
        if op.name == "stablehlo.return":
            return [values.get(operand) for operand in op.operands]
        result = fold(op, values)
        if result is not None:
            values[op.results[0]] = result
    raise AssertionError("a block without a terminator")


def _literal(attribute: str) -> Scalar | None:
    text = re.fullmatch(r"dense<([^>\[\"]*)> : tensor<\w+>", attribute)
    if text is None:
        return None
    if text[1] in ("true", "false"):
        return text[1] == "true"
    number = float if re.search(r"[.eE]", text[1]) else int
    try:
        return number(text[1])
    except ValueError:
        return None


def _converted(value: Scalar | None, type_: str) -> Scalar | None:
    assert value is not None
    element = type_.removeprefix("tensor<").removesuffix(">")
    if element == "i1":
        return bool(value)
    return float(value) if element.startswith(("f", "bf")) else int(value)


def known_in(block: Any, arguments: Sequence[Any], known: Known) -> dict[Any, Scalar]:
    """What is known of a block's arguments, given the values that stand for them outside."""
    pairs = zip(block.arguments, arguments, strict=True)
    return {inside: known[outside] for inside, outside in pairs if outside in known}
