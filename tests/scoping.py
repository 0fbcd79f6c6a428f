"""Runs the pass on a module's text or bytecode."""

from __future__ import annotations

import io
from dataclasses import dataclass

import schedscope
from jax._src.interpreters import mlir
from jaxlib.mlir import ir


@dataclass(frozen=True)
class Scoped:
    changed: bool
    bytecode: bytes
    text: str
    """With locations."""


def scope(
    module: str | bytes,
    every_call_site: bool = False,
    keep_global: frozenset[int] = frozenset(),
) -> Scoped:
    options = schedscope.ScopeOptions(every_call_site=every_call_site, keep_global=keep_global)
    with mlir.make_ir_context():
        parsed = ir.Module.parse(module)
        report = schedscope.scope_module(parsed, options)
        parsed.operation.verify()
        return Scoped(report.changed, _bytecode(parsed), _text(parsed))


def reprinted(module: str | bytes) -> Scoped:
    """What `scope` gives where there is nothing to do."""
    with mlir.make_ir_context():
        parsed = ir.Module.parse(module)
        return Scoped(False, _bytecode(parsed), _text(parsed))


def _text(module: ir.Module) -> str:
    return str(module.operation.get_asm(enable_debug_info=True))


def _bytecode(module: ir.Module) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
