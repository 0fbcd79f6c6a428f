"""From a module's text or bytecode to what is known of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from tests.reference.inlined import Computation, Op, computations

_PLAIN = re.compile(r"(^|/)(manual|closed_call)(?=/)")
"""Bodies with a number are one of several of their block, and stay."""
_SAME = {"scan": "reduce_window"}
"""What jax makes of a cumsum differs between versions and targets."""


def read(module: str | bytes) -> list[Computation]:
    with mlir.make_ir_context():
        return computations(ir.Module.parse(module))


def groups(computation: Computation) -> list[frozenset[Op]]:
    """The ops of each id, as the ids stand."""
    found: defaultdict[int, set[Op]] = defaultdict(set)
    for op in computation.ops:
        if op.group is not None:
            found[op.group].add(op)
    return [frozenset(found[group]) for group in sorted(found)]


def described(ops: Iterable[Op]) -> str:
    """A group as tests/cases/expected.py writes it."""
    bodies: defaultdict[str, list[str]] = defaultdict(list)
    for op in ops:
        path = _PLAIN.sub("", "/" + op.label).strip("/").rpartition("/")[0]
        bodies[path or "main"].append(_SAME.get(op.kind, op.kind))
    return "; ".join(sorted(f"{path}: {' '.join(sorted(kinds))}" for path, kinds in bodies.items()))
