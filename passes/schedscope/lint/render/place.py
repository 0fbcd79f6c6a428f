"""Where in the user's files a finding lies: what every format asks."""

from __future__ import annotations

import os
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from schedscope.lint.diagnostic import Diagnostic, Spot
from schedscope.locations import Frame


class Linted(NamedTuple):
    """What became of one module."""

    name: str
    """The file's, as the user gave it."""
    findings: Sequence[Diagnostic] = ()
    problem: str | None = None
    """Why the module could not be linted, with the file's name in front."""


class Place(NamedTuple):
    """A stretch of a file. Lines and columns count characters, from 1 on."""

    file: str
    """Relative to the working directory where it lies under it."""
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    """The column after the last one, where the stretch ends in the line it begins in."""

    def __str__(self) -> str:
        return ":".join(str(each) for each in self[:3] if each is not None)


@dataclass
class Places:
    """Finds places, and reads each Python file once."""

    _lines: dict[str, list[str]] = field(default_factory=dict)

    def of(self, spot: Spot, module: str) -> Place:
        """The innermost Python frame, or else the op in the module's own file."""
        if spot.frames:
            return self.of_frame(spot.frames[0], spot.end)
        line, column = spot.position or (None, None)
        return Place(relative(module), line, column)

    def of_frame(self, frame: Frame, end: tuple[int, int] | None = None) -> Place:
        """jax counts a line's bytes, from 0 on. Older dumps of XLA have no column: it is 0, and
        there is no end."""
        if frame.column == 0 and end is None:
            return Place(relative(frame.file), frame.line)
        column = self._characters(frame, frame.column)
        end_column = None
        if end is not None and end[0] == frame.line and end[1] > frame.column:
            end_column = 1 + self._characters(frame, end[1])
        return Place(relative(frame.file), frame.line, 1 + column, end_column)

    def source(self, place: Place) -> str | None:
        """The line, where the file can be read."""
        lines = self._lines_of(place.file)
        known = place.line is not None and 0 < place.line <= len(lines)
        return lines[place.line - 1] if known and place.line else None

    def _characters(self, frame: Frame, column: int) -> int:
        lines = self._lines_of(relative(frame.file))
        line = lines[frame.line - 1].encode() if 0 < frame.line <= len(lines) else b""
        if column > len(line):  # the file has changed since
            return column
        return len(line[:column].decode(errors="ignore"))

    def _lines_of(self, file: str) -> list[str]:
        if file not in self._lines:
            self._lines[file] = _read(file)
        return self._lines[file]


def relative(file: str) -> str:
    """Relative to the working directory where it lies under it."""
    if not os.path.isabs(file):
        return file
    here = os.getcwd()
    inside = file.startswith(os.path.join(here, ""))
    return os.path.relpath(file, here) if inside else file


def callers(spot: Spot) -> Iterator[Frame]:
    """Every Python line on the way to the op's own, outermost first: the calls, then the frames
    around the op within the function that it lies in."""
    yield from spot.calls
    yield from reversed(spot.frames[1:])


def _read(file: str) -> list[str]:
    if not file.endswith((".py", ".pyw", ".pyi")):
        return []  # `<stdin>`, a module's own text, a device
    try:
        with tokenize.open(file) as opened:
            return opened.read().splitlines()
    except (OSError, SyntaxError, ValueError):  # no file; no encoding; not in that encoding
        return []
