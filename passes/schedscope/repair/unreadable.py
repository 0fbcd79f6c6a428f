"""Annotations that no XLA can read, and those at which one ends its process: they are removed."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope._mlir import entries_of, ir
from schedscope.annotation import FRONTEND_ATTRIBUTES, GROUP_ID
from schedscope.flattening import flatten
from schedscope.locations import frames
from schedscope.repair.report import Loss
from schedscope.targets import Target


def remove_unreadable(module: ir.Module, target: Target) -> Iterator[Loss]:
    """Yields each op that loses its annotation. Needs a current context."""
    flat = flatten(module)
    for number, mark in flat.marks.items():
        op = flat.ops[number]
        if mark.malformed is not None:
            why = mark.malformed
        elif mark.group is not None and op.name in target.crashes:
            why = f"XLA:{target.family.upper()} of this jax crashes at an annotated op of its kind"
        else:
            continue
        yield loss(op, mark.text or "", why)
        remove(op)


def loss(op: ir.Operation, said: str, why: str) -> Loss:
    return Loss(op.name, said, place(op), why)


def place(op: ir.Operation) -> str | None:
    found = frames(op.location)
    return f"{found[0].file}:{found[0].line}" if found else None


def remove(op: ir.Operation) -> None:
    """Takes the annotation from an op."""
    present = op.attributes[FRONTEND_ATTRIBUTES]
    if not isinstance(present, ir.DictAttr):
        del op.attributes[FRONTEND_ATTRIBUTES]
        return
    entries = {name: each for name, each in entries_of(present).items() if name != GROUP_ID}
    if entries:
        op.attributes[FRONTEND_ATTRIBUTES] = ir.DictAttr.get(entries)
    else:
        del op.attributes[FRONTEND_ATTRIBUTES]
