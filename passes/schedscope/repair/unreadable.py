"""Annotations that no XLA can read, and those at which one ends its process: they are removed."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope import annotation
from schedscope._mlir import ADVANCE, PRE_ORDER, entries_of, ir
from schedscope.annotation import FRONTEND_ATTRIBUTES, GROUP_ID, SCOPE, entries_on, write_entries
from schedscope.locations import frames
from schedscope.repair.report import Loss
from schedscope.repair.spanning import below
from schedscope.xla.bytecode import Bytecode
from schedscope.xla.flat import Flat
from schedscope.xla.flattening import flatten
from schedscope.xla.targets import Target


def remove_unreadable(module: ir.Module) -> list[Loss]:
    """Takes what is no annotation from every op; each that had one. Needs a current context."""
    found: list[tuple[ir.Operation, str, str]] = []
    known: dict[ir.Attribute, str | None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if FRONTEND_ATTRIBUTES in op.attributes:
            attribute = op.attributes[FRONTEND_ATTRIBUTES]
            if attribute not in known:
                known[attribute] = _problem(attribute)
            why = known[attribute]
            if why is not None:
                found.append((op, _said(attribute), why))
        return ADVANCE

    module.operation.walk(visit, PRE_ORDER)
    for op, _, _ in found:
        remove(op)
    return [loss(op, said, why) for op, said, why in found]


def remove_crashing(module: ir.Module, target: Target, data: bytes) -> Iterator[Loss]:
    """Takes the annotation from ops at which the compiler dies; `data` is the module's bytecode.
    Needs a current context."""
    if target.crashes.isdisjoint(Bytecode(data).names):
        return
    flat = flatten(module, data)
    for number, mark in flat.marks.items():
        op = flat.ops[number]
        if mark.group is not None and op.name in target.crashes:
            why = f"XLA:{target.family.upper()} of this jax crashes at an annotated op of its kind"
            yield loss(op, mark.text or "", why)
            remove(op)


def spare_calls(flat: Flat, target: Target) -> bool:
    """Takes the id from calls that inline such an op, for XLA hands it on to the op that makes the
    result; whether there were any. Other ops must have their ids themselves. Needs a current
    context."""
    found = [
        op
        for op, mark in flat.marks.items()
        if mark.group is not None
        and op in flat.callees
        and any(flat.names[each] in target.crashes for each in below(flat, op))
    ]
    for op in found:
        remove(flat.ops[op])
    return bool(found)


def _problem(attribute: ir.Attribute) -> str | None:
    try:
        annotation.read(attribute)
    except annotation.MalformedAnnotation as error:
        return str(error)
    return None


def _said(attribute: ir.Attribute) -> str:
    entries = entries_of(attribute) if isinstance(attribute, ir.DictAttr) else {}
    value = entries.get(GROUP_ID, attribute)
    return value.value if isinstance(value, ir.StringAttr) else str(value)


def loss(op: ir.Operation, said: str, why: str) -> Loss:
    return Loss(op.name, said, place(op), why)


def place(op: ir.Operation) -> str | None:
    found = frames(op.location)
    return f"{found[0].file}:{found[0].line}" if found else None


def remove(op: ir.Operation) -> None:
    """Takes the annotation from an op."""
    entries = entries_on(op)
    write_entries(op, {name: entries[name] for name in entries if name not in (GROUP_ID, SCOPE)})
