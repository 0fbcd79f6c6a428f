"""What libtpu has inlined when it first checks groups across calls.

Its first inliner takes small functions and those that are called once; what it keeps is inlined
after the check (measured on libtpu 0.0.52 for tpu7x: a function of 19 HLO instructions is gone, one
of 20 is still called, however often it is called). Loops of one trip are made part of what is
around them by then, save where inlining has made two loops with the same body.
"""

from __future__ import annotations

from collections.abc import Iterable

from schedscope import inlining
from schedscope._mlir import ir
from schedscope.xla.flat import Flat, Piece
from schedscope.xla.targets import Target

_EXPANDING = "stablehlo.broadcast_in_dim"


class EarlyInlining:
    def __init__(self, flat: Flat, target: Target, functions: Iterable[Piece]) -> None:
        """`functions` are all of the module, each after those that it calls."""
        self._flat = flat
        self._limit = target.small_function
        self._callers = _callers(flat)
        self._sizes: dict[str, int] = {}
        self.kept = frozenset(each.function for each in functions if self._keeps(each.function))
        """The functions that are still called."""
        self.repeated = frozenset(name for name in flat.functions if self._times(name) > 1)
        """The functions whose body is there more than once."""

    def _keeps(self, name: str) -> bool:
        size = self._sizes[name] = self._size(self._flat.functions[name])
        return len(self._callers.get(name, ())) > 1 and size >= self._limit

    def _size(self, piece: Piece) -> int:
        """In HLO instructions, with what is inlined into it; its callees are known."""
        flat = self._flat
        size = len(piece.arguments) + len(piece.ops) + len(piece.constants) + piece.folded
        for op in piece.sites:
            callee = flat.callees.get(op)
            if callee is not None:
                if callee in self._sizes and not self._stays(callee):
                    size += self._sizes[callee] - len(flat.functions[callee].arguments) - 1
                elif flat.result_count[op] > 1:
                    size += flat.result_count[op]
            elif flat.names[op] == "stablehlo.while":
                size += 1 + _used_results(flat, op)
            elif flat.names[op] in inlining.BRANCHES:
                regions = flat.regions.get(op, ())
                taken = [each for each in regions if each.spliced]
                size += self._size(taken[0]) - 1 if taken else len(regions)
        if self._limit - size in range(1, 2 * len(piece.ops)):
            size += sum(_extra(flat, op) for op in piece.ops if flat.names[op] == _EXPANDING)
        return size

    def _stays(self, callee: str) -> bool:
        return len(self._callers[callee]) > 1 and self._sizes[callee] >= self._limit

    def _times(self, name: str) -> int:
        """How often its body is there; two stand for more."""
        times = 0 if self._callers.get(name) else 1
        pending = [name]
        while pending and times < 2:
            each = pending.pop()
            if each in self.kept:
                times += 1
                continue
            for caller in self._callers.get(each, ()):
                if self._callers.get(caller):
                    pending.append(caller)
                else:
                    times += 1
        return times


def _callers(flat: Flat) -> dict[str, list[str]]:
    """For each function that is called, where, once for each call."""
    found: dict[str, list[str]] = {}
    for name, piece in flat.functions.items():
        pending = [piece]
        while pending:
            for op in pending.pop().sites:
                if op in flat.callees:
                    found.setdefault(flat.callees[op], []).append(name)
                pending += flat.regions.get(op, ())
    return found


def _used_results(flat: Flat, op: int) -> int:
    return sum(any(True for _ in result.uses) for result in flat.ops[op].results)


def _extra(flat: Flat, op: int) -> int:
    """The instructions that a broadcast is, beside one: a dimension of size one is taken out
    before it is broadcast."""
    source = ir.RankedTensorType(flat.ops[op].operands[0].type)
    target = ir.RankedTensorType(flat.ops[op].results[0].type)
    dimensions = list(ir.DenseI64ArrayAttr(flat.ops[op].attributes["broadcast_dimensions"]))
    wanted = [target.shape[each] for each in dimensions]
    return 2 if any(a == 1 != b for a, b in zip(source.shape, wanted, strict=True)) else 0
