"""Functions whose calls depend on each other, within one group, made functions of their own: an op
can carry only one id, and each call needs its own."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope._mlir import ir
from schedscope.repair.cloning import Cloning, redirect
from schedscope.repair.faults import faults
from schedscope.repair.links import links
from schedscope.xla.xla_view import Computation, Step, View


def unshare(view: View, waiting: bool) -> bool:
    """Clones one level of them; whether there were any. What comes out may need it again. Needs a
    current context."""
    calls: dict[ir.Operation, str] = {}
    for computation, groups in faults(view, waiting):
        known = links(computation, groups)
        torn = {op for atom, op in enumerate(known.ops) if known.reach[atom] >> atom & 1}
        for first, others in _instances(computation, torn):
            for path in others:
                step = _shared(first, path)
                if step is not None and step.callee is not None:
                    calls.setdefault(step.op, step.callee)
    cloning = Cloning(view.flat.module)
    for call, callee in calls.items():
        redirect(call, cloning.clone(callee))
    return bool(calls)


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
