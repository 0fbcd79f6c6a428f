"""Scalars that are always one number, as XLA's simplifiers find them before the gap check.

Followed within one function: through constants, conversions, comparisons and arithmetic, and
where asked through the arguments of a loop's block. What a caller passes in is not followed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from schedscope._mlir import Value, ir

Scalar: TypeAlias = int | float
Known: TypeAlias = Mapping[Value, Scalar | None]
"""Block arguments, and what is known of them."""

_DEPTH = 32
"""How many ops deep a number is looked for."""
_COMPARISONS: dict[str, Callable[[Scalar, Scalar], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Scalar]] = {
    "stablehlo.add": operator.add,
    "stablehlo.subtract": operator.sub,
    "stablehlo.multiply": operator.mul,
    "stablehlo.negate": operator.neg,
    "stablehlo.minimum": min,
    "stablehlo.maximum": max,
    "stablehlo.clamp": lambda low, number, high: max(low, min(number, high)),
    "stablehlo.select": lambda test, yes, no: yes if test else no,
    "stablehlo.not": lambda test: not test,
    "stablehlo.reshape": lambda number: number,
    "stablehlo.broadcast_in_dim": lambda number: number,
}

_OTHERS = frozenset(f"stablehlo.{name}" for name in ("and", "compare", "convert", "or"))


def number(value: Value, known: Known | None = None) -> Scalar | None:
    """The number that the scalar `value` always is, or None."""
    return _Folder(dict(known or {})).value(value, _DEPTH)


class _Folder:
    def __init__(self, found: dict[Value, Scalar | None]) -> None:
        self._found = found

    def value(self, value: Value, depth: int) -> Scalar | None:
        if value not in self._found:
            self._found[value] = self._folded(value, depth)
        return self._found[value]

    def _folded(self, value: Value, depth: int) -> Scalar | None:
        owner = value.owner
        if depth == 0 or isinstance(owner, ir.Block):
            return None
        op = owner.operation
        element = re.fullmatch(r"tensor<(\w+)>", str(value.type))
        if element is None:
            return None
        if op.name == "stablehlo.constant":
            return _literal(op.attributes["value"])
        if op.name not in _FUNCTIONS and op.name not in _OTHERS:
            return None
        operands = [self.value(each, depth - 1) for each in op.operands]
        if op.name in ("stablehlo.and", "stablehlo.or"):
            return _connected(op.name, operands) if element[1] == "i1" else None
        numbers = [each for each in operands if each is not None]
        if len(numbers) < len(operands):
            return None
        if op.name == "stablehlo.convert":
            return _converted(numbers[0], element[1])
        if op.name == "stablehlo.compare":
            return _compared(op, numbers)
        return _FUNCTIONS[op.name](*numbers)


def _connected(name: str, booleans: list[Scalar | None]) -> bool | None:
    """One operand may decide."""
    decisive = name == "stablehlo.or"
    if any(each is not None and bool(each) is decisive for each in booleans):
        return decisive
    return None if None in booleans else not decisive


def _compared(op: ir.Operation, numbers: list[Scalar]) -> bool | None:
    direction = re.search(r"\b(EQ|NE|LT|LE|GT|GE)\b", str(op.attributes["comparison_direction"]))
    return None if direction is None else _COMPARISONS[direction[1]](*numbers)


def _converted(value: Scalar, element: str) -> Scalar:
    if element == "i1":
        return bool(value)
    return float(value) if element.startswith(("f", "bf")) else int(value)


def _literal(attribute: ir.Attribute) -> Scalar | None:
    text = re.fullmatch(r"dense<(true|false|[-+.\deE]+)> : tensor<\w+>", str(attribute))
    if text is None:
        return None
    if text[1] in ("true", "false"):
        return text[1] == "true"
    return float(text[1]) if re.search(r"[.eE]", text[1]) else int(text[1])


def turns_once(loop: ir.Operation) -> bool:
    """True where the condition of a `while` holds at first and no more after one turn."""
    condition, body = (region.blocks[0] for region in loop.regions)
    state = [number(value) for value in loop.operands]
    if not _holds(condition, state):
        return False
    known: dict[Value, Scalar | None] = dict(zip(body.arguments, state, strict=True))
    after = [number(value, known) for value in _terminator(body).operands]
    return _holds(condition, after) is False


def _holds(condition: ir.Block, state: list[Scalar | None]) -> bool | None:
    known: dict[Value, Scalar | None] = dict(zip(condition.arguments, state, strict=True))
    result = number(_terminator(condition).operands[0], known)
    return None if result is None else bool(result)


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation
