"""Naming an op in a message: what it is and the Python line it came from."""

from __future__ import annotations

from schedscope._mlir import ir
from schedscope.errors import InputError
from schedscope.locations import buffer_position, source_line


def name(op: ir.Operation) -> str:
    """'"stablehlo.add" at train.py:31'; where there is no Python line, the line of the module's
    own text if that is known."""
    line = source_line(op.location)
    if line is not None:
        return f'"{op.name}" at {line}'
    position = buffer_position(op.location)
    return f'"{op.name}"' if position is None else f'"{op.name}" in line {position[0]} of the text'


def complaint(op: ir.Operation, message: str) -> InputError:
    """An InputError about `op`."""
    return InputError(f"{name(op)}: {message}")
