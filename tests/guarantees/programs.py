"""Runs the pass on notation, and reads out the ids by call path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import schedscope
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from tests.guarantees import notation

CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
SHORT = {
    "collective_permute": "permute",
    "all_gather": "gather",
    "all_reduce": "reduce",
    "dot_general": "dot",
    "manual_computation": "manual",
    "named_computation": "named",
    "custom_call": "custom",
}
REGIONS = ("while", "case", "if", "manual", "named")


@dataclass(frozen=True)
class Result:
    before: str
    """With locations."""
    text: str
    """Without locations."""
    located: str
    """With locations."""
    report: schedscope.ScopeReport

    @property
    def changed(self) -> bool:
        return self.report.changed

    @property
    def ids(self) -> dict[str, int]:
        return ids(self.text)

    @property
    def functions(self) -> list[str]:
        return re.findall(r'func\.func (?:\w+ )?@"?([\w.<>]+)"?\(', self.text)

    def attributes(self, name: str) -> dict[str, str]:
        """That frontend attribute of every op that has it, by call path."""
        return attributes(self.text, name)


def scope(text: str, **options: Any) -> Result:
    """Of notation; checks what must hold of every run."""
    return scope_text(notation.module(text), **options)


def scope_text(text: str, **options: Any) -> Result:
    chosen = schedscope.ScopeOptions(**options)
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        before = printed(module)
        report = schedscope.scope_module(module, chosen)
        module.operation.verify()
        after = printed(module)
        assert report.changed == (before != after)
        again = schedscope.scope_module(module, chosen)
        assert not again.changed, f"a second run changes\n{after}\ninto\n{printed(module)}"
        assert printed(module) == after
        return Result(before, str(module), after, report)


def printed(module: ir.Module) -> str:
    return str(module.operation.get_asm(enable_debug_info=True))


def ids(text: str) -> dict[str, int]:
    """The group of every tagged op that is not a call, by call path: `layer.1/permute`."""
    found = attributes(text, "_scheduling_group_id")
    groups = {path: note.partition(":")[0] for path, note in found.items()}
    return {path: int(group) for path, group in groups.items() if group.isdigit()}


def attributes(text: str, name: str) -> dict[str, str]:
    with mlir.make_ir_context():
        reader = _Reader(ir.Module.parse(text), name)
        entries = ["main"] if "main" in reader.functions else reader.public
        for entry in entries:
            prefix = "" if entry == "main" else f"{entry}/"
            reader.block(reader.functions[entry].regions[0].blocks[0], prefix)
        return reader.found


class _Reader:
    def __init__(self, module: ir.Module, name: str) -> None:
        self._module = module  # else it is gone, and its ops with it
        self.functions: dict[str, Any] = {}
        self.public: list[str] = []
        self.found: dict[str, str] = {}
        self._name = name
        for op in module.body.operations:
            if op.operation.name == "func.func":
                symbol = ir.StringAttr(op.attributes["sym_name"]).value
                self.functions[symbol] = op.operation
                if "private" not in str(op.attributes["sym_visibility"]):
                    self.public.append(symbol)

    def block(self, block: Any, prefix: str) -> None:
        ops = [view.operation for view in block.operations]
        labels = list(_numbered([self._label(op) for op in ops]))
        for op, label in zip(ops, labels, strict=True):
            path = f"{prefix}{label}"
            text = frontend(op).get(self._name)
            inlined = op.name in CALLEES
            if text is not None and not (inlined and self._held_below(op, text)):
                self.found[path] = text
            if inlined:
                blocks = self._callee(op).regions
                if len(blocks[0].blocks):
                    self.block(blocks[0].blocks[0], f"{path}/")
            elif label.split(".")[0] in REGIONS:
                for number, region in enumerate(op.regions):
                    inner = path if len(op.regions) == 1 else f"{path}:{number}"
                    self.block(region.blocks[0], f"{inner}/")

    def _label(self, op: Any) -> str:
        if op.name in CALLEES:
            return re.sub(
                r"(_\d+)+$", "", ir.FlatSymbolRefAttr(op.attributes[CALLEES[op.name]]).value
            )
        short = op.name.split(".")[1]
        return SHORT.get(short, short)

    def _callee(self, op: Any) -> Any:
        return self.functions[ir.FlatSymbolRefAttr(op.attributes[CALLEES[op.name]]).value]

    def _held_below(self, op: Any, text: str) -> bool:
        """A call's own annotation shows where nothing that it inlines has it (S4)."""
        if self._name != "_scheduling_group_id":
            return False
        regions = self._callee(op).regions if op.name in CALLEES else op.regions
        return any(self._holds(inner.operation, text) for inner in _ops(regions))

    def _holds(self, op: Any, text: str) -> bool:
        if frontend(op).get(self._name) == text:
            return True
        return (op.name in CALLEES or op.name.startswith("sdy.")) and self._held_below(op, text)


def _ops(regions: Any) -> Iterator[Any]:
    for region in regions:
        for block in region.blocks:
            yield from block.operations


def _numbered(labels: list[str]) -> Iterator[str]:
    """Numbers labels of one block that are the same: `layer.0`, `layer.1`."""
    for place, label in enumerate(labels):
        same = [n for n, each in enumerate(labels) if each == label]
        yield label if len(same) == 1 else f"{label}.{same.index(place)}"


def frontend(op: Any) -> dict[str, str]:
    if "mhlo.frontend_attributes" not in op.attributes:
        return {}
    entries: Any = ir.DictAttr(op.attributes["mhlo.frontend_attributes"])
    return {entry.name: ir.StringAttr(entry.attr).value for entry in entries}
