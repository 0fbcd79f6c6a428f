"""Which calls could not carry an annotation though one was active, told by their location."""

from __future__ import annotations

import re
from typing import Any

from jaxlib.mlir import ir

_NAMED = re.compile(r'^loc\("((?:[^"\\]|\\.)*)"[()]')
_FILE = re.compile(r'^loc\("((?:[^"\\]|\\.)*)":\d+')
_BOUNDARIES = ("closed_call", "call_exported", "pjit")
"""`pjit` in jax 0.6, which does not say the name."""


def is_stripped(module: ir.Module) -> bool:
    """No op says where in Python it was made."""
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = found or _NAMED.match(str(op.location)) is not None
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return not found


def is_out_of_line(call: Any) -> bool:
    """A jitted function's call is named `jit(NAME)` after the callee; other calls were made by a
    lowering rule behind jax's back."""
    location = str(call.location)
    if _FILE.match(location) is not None and _in_module_text(location):
        return False
    named = _NAMED.match(location)
    component = _peeled(named[1].rsplit("/", 1)[-1]) if named is not None else ""
    if component in _BOUNDARIES:
        return False
    name = re.fullmatch(r"p?jit\((.*)\)", component)
    if name is None:
        return True
    callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    return re.fullmatch(re.escape(name[1]) + r"(_\d+)*", callee) is None


def _in_module_text(location: str) -> bool:
    match = _FILE.match(location)
    return match is not None and (match[1] == "-" or match[1].endswith(".mlir"))


def _peeled(component: str) -> str:
    """`transpose(jvp(jit(f)))` is `jit(f)`."""
    while True:
        inner = re.fullmatch(r"(?!p?jit\()\w+\((.*)\)", component)
        if inner is None:
            return component
        component = inner[1]
