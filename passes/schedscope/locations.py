"""From an MLIR location to jax's name stack and to the Python source.

jax writes `"jit(f)/ppermute"("layer"("train.py":20:8 to :14))`: the name stack of the op, and in it
the Python frame, a function's name around a position. Several frames nest as
`callsite(inner at outer)`. Since jax 0.7 the primitive may stand around the name stack once more:
`"ppermute:"("jit(f)/ppermute"(...))`. What text without locations parses to, `"-":9:12`, points
into the module's own file and is no Python location.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedscope._mlir import (
    Position,
    callee_and_caller,
    fused_parts,
    ir,
    name_and_child,
    position_of,
)

_SHOWN = 4
"""How many lines of a traceback are told."""


class Frame(NamedTuple):
    """One frame of the Python traceback."""

    file: str
    """As jax recorded it, usually an absolute path."""
    line: int
    column: int
    function: str | None
    """The function's qualified name, where the location has it."""


def name_of(loc: ir.Location) -> str | None:
    """The jax name stack of an op, such as `jit(f)/jit(layer)`."""
    site = callee_and_caller(loc)
    if site is not None:
        return name_of(site[0])
    named = _named(loc)
    if named is not None:
        name, child = named
        return None if _is_function(name, child, inside=False) else name
    names = (name_of(part) for part in fused_parts(loc))
    return next((name for name in names if name is not None), None)


def frames(loc: ir.Location) -> tuple[Frame, ...]:
    """The Python frames, innermost first; of a fused location, those of its first part that has
    any. Empty where there is no Python location."""
    return frames_and_end(loc)[0]


def frames_and_end(loc: ir.Location) -> tuple[tuple[Frame, ...], tuple[int, int] | None]:
    """The frames, and line and column where what the innermost one executes ends; None for that
    where the location has no range, as an HLO dump has none."""
    found = tuple(_frames_and_ends(loc))
    if not found:
        return (), None
    innermost, end = found[0]
    told = None if end == (innermost.line, innermost.column) else end
    return tuple([frame for frame, _ in found]), told


def _frames_and_ends(loc: ir.Location) -> Iterator[tuple[Frame, tuple[int, int]]]:
    pending = [(loc, False)]
    while pending:
        loc, inside = pending.pop()
        site = callee_and_caller(loc)
        if site is not None:
            callee, caller = site
            pending += [(caller, True), (callee, True)]
            continue
        named = _named(loc)
        name, child = named if named is not None else (None, loc)
        position = position_of(child)
        if position is not None:
            is_function = name is not None and _is_function(name, child, inside)
            if not _is_buffer(position, name):
                frame = Frame(position.file, *position.start, name if is_function else None)
                yield frame, position.end
        elif named is not None:
            pending.append((child, True))
        else:
            parts = (list(_frames_and_ends(part)) for part in fused_parts(loc))
            yield from next((part for part in parts if part), [])


def source_line(loc: ir.Location) -> str | None:
    """The innermost Python line, as `train.py:31`; None where there is no Python location."""
    innermost = next(iter(frames(loc)), None)
    return None if innermost is None else f"{innermost.file}:{innermost.line}"


def call_lines(loc: ir.Location) -> str | None:
    """The Python lines that led to an op, outermost first, as `train.py:31 > layers.py:20`: the
    innermost few of those that jax records, up to the jitted function that the op lies in or, in
    older versions, up to the program's start. None where there are none."""
    lines = list(dict.fromkeys(f"{frame.file}:{frame.line}" for frame in frames(loc)))
    return " > ".join(reversed(lines[:_SHOWN])) or None


def buffer_position(loc: ir.Location) -> tuple[int, int] | None:
    """Line and column in the module's own text, for a location that points there."""
    position = position_of(loc)
    return position.start if position is not None and _is_buffer(position, None) else None


def _named(loc: ir.Location) -> tuple[str, ir.Location] | None:
    """Name and child of a named location, with the primitive around the name stack taken off."""
    named = name_and_child(loc)
    if named is None:
        return None
    name, child = named
    inner = name_and_child(child)
    if inner is not None and name.endswith(":") and f"/{inner[0]}:".endswith(f"/{name}"):
        return inner
    return named


def _is_function(name: str, child: ir.Location, inside: bool) -> bool:
    """Whether `name` around `child` is a Python frame and not a name stack around a position.

    Both look alike. Inside another location it is a frame. Outermost, frames have a range
    (`20:8 to :14`), and positions under a bare name stack, which jax writes when full tracebacks
    are switched off, do not."""
    position = position_of(child)
    if position is None or "/" in name or "(" in name:
        return False
    return inside or position.end != position.start


def _is_buffer(position: Position, name: str | None) -> bool:
    """Whether a position points into MLIR text. `<stdin>` may be Python's, under a function."""
    file = position.file
    return (
        file == "-" or file.endswith((".mlir", ".mlirbc")) or (file == "<stdin>" and name is None)
    )
