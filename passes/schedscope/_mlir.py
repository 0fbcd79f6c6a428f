"""The one door to jaxlib's MLIR bindings; what differs between jaxlib versions is settled here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from jaxlib.mlir import ir

_DIALECTS = (
    ("_stablehlo", "register_dialect"),
    ("_chlo", "register_dialect"),
    ("_mlirHlo", "register_mhlo_dialect"),
    ("_sdy", "register_dialect"),
    ("_sdyMpmd", "register_dialect"),
)
"""Extension modules that hold a dialect jax emits, and the function that registers it.
`_sdyMpmd` came with jaxlib 0.8; the rest are in every version we support."""

_UPSTREAM = ("_jax_mlir_ext", "register_jax_dialects")
"""Where func, arith and the other upstream dialects are registered: the first name since
jaxlib 0.7, the second before."""

ADVANCE = ir.WalkResult.ADVANCE
PRE_ORDER = ir.WalkOrder.PRE_ORDER


def make_context() -> ir.Context:
    """A fresh context in which every dialect that jax emits parses; jax is not imported."""
    context = ir.Context()
    registry = ir.DialectRegistry()
    _first_extension(_UPSTREAM).register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for name, register in _DIALECTS:
        extension = _extension(name)
        if extension is not None:
            getattr(extension, register)(context)
    return context


def _extension(name: str) -> Any:
    try:
        return import_module(f"jaxlib.mlir._mlir_libs.{name}")
    except ModuleNotFoundError:
        return None


def _first_extension(names: tuple[str, ...]) -> Any:
    for name in names:
        extension = _extension(name)
        if extension is not None:
            return extension
    raise ImportError(f"this jaxlib has none of {', '.join(names)}; schedscope needs jaxlib 0.6.0 or newer")


def walk(op: ir.Operation, visit: Callable[[ir.Operation], object]) -> None:
    """Calls `visit` on `op` and everything nested in it, parents first."""

    def step(nested: ir.Operation) -> ir.WalkResult:
        visit(nested)
        return ADVANCE

    op.walk(step, PRE_ORDER)
