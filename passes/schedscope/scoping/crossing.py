"""The values that cross the border of a scope."""

from __future__ import annotations

from schedscope._mlir import ADVANCE, PRE_ORDER, Value, ir
from schedscope.callgraph import Scope
from schedscope.inlining import BRANCHES


def entering_values(scope: Scope) -> list[Value]:
    """The values that come into a scope: its block arguments, then what it uses from outside."""
    arguments: list[Value] = [*scope.blocks[0].arguments] if scope.blocks else []
    return arguments if scope.isolated else [*arguments, *_captures(scope)]


def passed_values(op: ir.Operation, scope: Scope) -> list[Value]:
    """What the op that owns a spliced region passes for each of its entering values."""
    passed: list[Value] = [] if op.name in BRANCHES else list(op.operands)
    return passed if scope.isolated else [*passed, *_captures(scope)]


def _captures(scope: Scope) -> list[Value]:
    inside: set[Value] = set()
    outside: dict[Value, None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        for value in op.operands:
            if value not in inside:
                outside.setdefault(value)
        inside.update(op.results)
        for region in op.regions:
            for block in region.blocks:
                inside.update(block.arguments)
        return ADVANCE

    for block in scope.blocks:
        inside.update(block.arguments)
        for view in block.operations:
            view.operation.walk(visit, PRE_ORDER)
    return list(outside)
