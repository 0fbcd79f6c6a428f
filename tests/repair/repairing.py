"""Runs repair on a module's text or bytecode."""

from __future__ import annotations

from schedscope._mlir import bytecode_of, ir, make_context
from schedscope.repair.repair import RepairTarget, repair_module


def repaired(source: str | bytes, target: RepairTarget, seal: bool | None = None) -> bytes:
    with make_context():
        module = ir.Module.parse(source)
        repair_module(module, target, seal=seal)
        assert module.operation.verify()
        return bytecode_of(module)
