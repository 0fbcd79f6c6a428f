"""Functions whose calls depend on each other, within one group, made functions of their own: an op
can carry only one id, and each call needs its own."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope._mlir import clone_after, ir
from schedscope.callgraph import CALLS, SYMBOL
from schedscope.repair.faults import faults
from schedscope.repair.links import links
from schedscope.xla_view import Computation, Step, View


def unshare(view: View, waiting: bool) -> dict[str, list[str]]:
    """Clones one level of them; for each function the names of its clones. What comes out may need
    it again. Needs a current context."""
    calls: dict[ir.Operation, str] = {}
    for computation, groups in faults(view, waiting):
        known = links(computation, groups)
        torn = {op for atom, op in enumerate(known.ops) if known.reach[atom] >> atom & 1}
        for first, others in _instances(computation, torn):
            for path in others:
                step = _shared(first, path)
                if step is not None and step.callee is not None:
                    calls.setdefault(step.op, step.callee)
    return _cloned(view, calls)


def _instances(
    computation: Computation, ops: set[int]
) -> Iterator[tuple[tuple[Step, ...], list[tuple[Step, ...]]]]:
    """The call paths to each op, the first apart."""
    paths: dict[int, list[tuple[Step, ...]]] = {}
    for nodes in computation.tagged.values():
        for node in nodes:
            if computation.graph.ops[node] in ops:
                found = paths.setdefault(computation.graph.ops[node], [])
                found.append(computation.node(node).path)
    for first, *others in paths.values():
        yield first, others


def _shared(first: tuple[Step, ...], path: tuple[Step, ...]) -> Step | None:
    """The outermost call of `path` that calls what `first` calls from elsewhere."""
    for depth, step in enumerate(path):
        if depth < len(first) and first[depth] == step:
            continue
        if any(other.callee == step.callee and other.op != step.op for other in first):
            return step
    return None


def _cloned(view: View, calls: dict[ir.Operation, str]) -> dict[str, list[str]]:
    names = set(view.flat.functions)
    made: dict[str, list[str]] = {}
    functions = {
        ir.StringAttr(each.operation.attributes[SYMBOL]).value: each.operation
        for each in view.flat.module.body.operations
        if each.operation.name == "func.func"
    }
    for call, callee in calls.items():
        number = 0
        while f"{callee}_{number}" in names:
            number += 1
        name = f"{callee}_{number}"
        names.add(name)
        clone = clone_after(functions[callee], functions[callee])
        clone.attributes[SYMBOL] = ir.StringAttr.get(name)
        clone.attributes["sym_visibility"] = ir.StringAttr.get("private")
        call.attributes[CALLS[call.name]] = ir.FlatSymbolRefAttr.get(name)
        made.setdefault(callee, []).append(name)
    return made
