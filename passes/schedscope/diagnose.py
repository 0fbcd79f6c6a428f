"""Naming an op in a message: what it is and the Python line it came from."""

from __future__ import annotations

from schedscope._mlir import ir
from schedscope.errors import InputError
from schedscope.locations import source_line


def name(op: ir.Operation) -> str:
    """'"stablehlo.add" at train.py:31', without the line where jax recorded none."""
    line = source_line(op.location)
    return f'"{op.name}"' if line is None else f'"{op.name}" at {line}'


def complaint(op: ir.Operation, message: str) -> InputError:
    """An InputError about `op`."""
    return InputError(f"{name(op)}: {message}")
