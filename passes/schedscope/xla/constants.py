"""The constants of a module, by numbers from -1 downward: equal ones have one number, and what is
made of constants alone is a constant."""

from __future__ import annotations

import re

from schedscope._mlir import ir

_SPLAT = re.compile(r"dense<(-?[0-9][-+.0-9eE]*)>")
_NEUTRAL = {"stablehlo.add": 0, "stablehlo.multiply": 1}
"""Ops that are their other operand where one is this number; XLA leaves them out."""


class Constants:
    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._literals: dict[tuple[int, int], int] = {}
        self._splats: dict[int, float] = {}
        """Those that are one number throughout."""

    def literal(self, op: ir.Operation, attributes: int, properties: int) -> int:
        """Of a `stablehlo.constant`; ops with the same two numbers are equal."""
        known = self._literals.get((attributes, properties))
        if known is None:
            attribute = op.attributes["value"]
            known = self._literals[attributes, properties] = self._number(attribute)
            text = _SPLAT.match(str(attribute)) if _is_splat(attribute) else None
            if text is not None:
                self._splats[known] = float(text[1])
        return known

    def made(self, op: ir.Operation, used: tuple[int, ...]) -> list[int]:
        """The results of an op whose operands are all constants."""
        found: list[int] = []
        for number, result in enumerate(op.results):
            key: object = (op.name, used, result.type, number) if len(used) == 1 else object()
            found.append(self._number(key))
            if op.name == "stablehlo.broadcast_in_dim" and used[0] in self._splats:
                self._splats[found[-1]] = self._splats[used[0]]
        return found

    def leave_out(self, name: str, used: tuple[int, ...]) -> bool:
        """Whether an op is its one operand that is no constant."""
        neutral = _NEUTRAL.get(name)
        return neutral is not None and len(used) == 2 and self._splats.get(min(used)) == neutral

    def _number(self, key: object) -> int:
        return self._numbers.setdefault(key, -1 - len(self._numbers))


def _is_splat(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat
