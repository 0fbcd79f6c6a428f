"""Small modules, repaired."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schedscope._mlir import ADVANCE, PRE_ORDER, ir, make_context
from schedscope.annotation import FRONTEND_ATTRIBUTES, GROUP_ID
from schedscope.repair.repair import RepairTarget, repair_module
from schedscope.repair.report import RepairReport


@contextmanager
def mended(
    target: RepairTarget, *functions: str, seal: bool | None = False
) -> Iterator[tuple[RepairReport, ir.Module]]:
    text = "module attributes {mhlo.num_partitions = 2 : i32} {\n" + "\n".join(functions) + "\n}"
    with make_context():
        module = ir.Module.parse(text)
        report = repair_module(module, target, seal=seal)
        assert module.operation.verify()
        yield report, module


def ids(module: ir.Module) -> list[str]:
    """Op and id of every annotated op, in the order of the text."""
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if FRONTEND_ATTRIBUTES in op.attributes:
            entries = ir.DictAttr(op.attributes[FRONTEND_ATTRIBUTES])
            if GROUP_ID in entries:
                text = ir.StringAttr(entries[GROUP_ID]).value
                found.append(f"{op.name.removeprefix('stablehlo.')} {text}")
        return ADVANCE

    module.operation.walk(visit, PRE_ORDER)
    return found


def names(module: ir.Module) -> list[str]:
    """Every op of the functions, in the order of the text."""
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op.name.removeprefix("stablehlo."))
        return ADVANCE

    module.operation.walk(visit, PRE_ORDER)
    return [name for name in found if name not in ("builtin.module", "func.func", "func.return")]
