"""What a rule finds, as data; every output format is made of this."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from schedscope._mlir import ir
from schedscope.locations import Frame, buffer_position, frames, frames_and_end
from schedscope.xla.xla_view import Node


class Severity(IntEnum):
    """By weight: the worst first."""

    ERROR = 0
    """XLA will refuse the module."""
    WARNING = 1
    """XLA will ignore something in silence, or may refuse, which the module cannot show."""
    NOTE = 2

    @property
    def word(self) -> str:
        return self.name.lower()


class Spot(NamedTuple):
    """An op at one call path."""

    op: str
    """Its name, as in `stablehlo.all_gather`."""
    frames: tuple[Frame, ...]
    """The Python frames, innermost first; empty where the module has none."""
    position: tuple[int, int] | None
    """Line and column in the module's own text, where there are no Python frames."""
    calls: tuple[Frame, ...] = ()
    """The innermost frame of each call on the way, outermost first."""
    group: int | None = None
    end: tuple[int, int] | None = None
    """Line and column where the innermost frame ends, where the module says."""


class Related(NamedTuple):
    """Another op that belongs to a finding."""

    message: str
    spot: Spot


class Diagnostic(NamedTuple):
    """One finding."""

    code: str
    """The rule's, as in `SG101`."""
    name: str
    """The rule's, as in `gap-in-group`."""
    severity: Severity
    message: str
    """What was found, in one line."""
    spot: Spot
    groups: tuple[int, ...] = ()
    """The ids it is about."""
    related: tuple[Related, ...] = ()
    """In an order that means something: the path of a gap, for one."""
    help: str | None = None
    """What to write instead."""
    fixable: str | None = None
    """The command that removes it, as in `schedscope fix`; None where none does."""
    targets: tuple[str, ...] = ()
    """The compilers that it is true of, "gpu" or "tpu"; `lint_module` fills this in."""


def spot_of(node: Node) -> Spot:
    return spot_at(node.op, node.name, (step.op for step in node.path), node.group)


def spot_at(
    op: ir.Operation, name: str, steps: Iterable[ir.Operation] = (), group: int | None = None
) -> Spot:
    """`steps` are the ops that inline a body on the way, outermost first."""
    location = op.location
    found, end = frames_and_end(location)
    position = None if found else buffer_position(location)
    return Spot(name, found, position, tuple(_innermost(steps)), group, end)


def _innermost(ops: Iterable[ir.Operation]) -> Iterable[Frame]:
    for op in ops:
        found = frames(op.location)
        if found:
            yield found[0]
