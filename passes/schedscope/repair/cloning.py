"""Calls that get a function of their own: a clone of the one they call."""

from __future__ import annotations

from schedscope._mlir import clone_after, ir
from schedscope.callgraph import CALLS, SYMBOL


class Cloning:
    """Of the functions of one module. Needs a current context."""

    def __init__(self, module: ir.Module) -> None:
        self._functions = {
            ir.StringAttr(each.operation.attributes[SYMBOL]).value: each.operation
            for each in module.body.operations
            if each.operation.name == "func.func"
        }

    def clone(self, callee: str) -> str:
        """The name of a new private copy of the function, right behind it."""
        number = 0
        while f"{callee}_{number}" in self._functions:
            number += 1
        name = f"{callee}_{number}"
        function = self._functions[callee]
        clone = self._functions[name] = clone_after(function, function)
        clone.attributes[SYMBOL] = ir.StringAttr.get(name)
        clone.attributes["sym_visibility"] = ir.StringAttr.get("private")
        return name

    def function(self, name: str) -> ir.Operation:
        return self._functions[name]


def redirect(call: ir.Operation, name: str) -> None:
    """Makes `call` call another function."""
    call.attributes[CALLS[call.name]] = ir.FlatSymbolRefAttr.get(name)
