"""A module as plain lists of numbers: what every later question of lint is asked of.

Values are numbered from 0 on; a value that is made of constants alone has a negative number, the
same for the same constant. An op of which nothing but constants comes is no op here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from schedscope._mlir import ir
from schedscope.xla.marking import Mark


@dataclass(eq=False, slots=True)
class Piece:
    """A function's body, or a region."""

    function: str
    owner: int = -1
    """The op that has the region; -1 for a function's body."""
    number: int = 0
    """Which of that op's regions."""
    ops: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    sites: list[int] = field(default_factory=list)
    """Its ops that call, or have regions that are program."""
    constants: set[int] = field(default_factory=set)
    """The constants among its ops, and what is made of constants alone: equal ones are one for
    XLA from the start."""
    folded: int = 0
    """How many other ops it has that are none here."""
    has_group: bool = False
    """Whether one of its ops carries a group's id."""
    has_more: bool = False
    """Whether a collective is among its ops, or one that stays though nobody uses it."""
    first_value: int = 0
    last_value: int = 0
    """Of a function's body: its values are numbered from the first to before the last."""
    spliced: bool = False
    """Whether XLA makes the region part of the computation around it."""


@dataclass(eq=False, slots=True)
class Flat:
    """The module. Lists named alike run over the ops, by number."""

    module: ir.Module
    """Kept, for the ops die with it."""
    ops: list[ir.Operation] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    operands: list[tuple[int, ...]] = field(default_factory=list)
    """Values, constants and repetitions included."""
    first_result: list[int] = field(default_factory=list)
    result_count: list[int] = field(default_factory=list)
    marks: dict[int, Mark] = field(default_factory=dict)
    """The ops that carry frontend attributes we read."""
    regions: dict[int, list[Piece]] = field(default_factory=dict)
    """Of the ops whose regions are program, not small functions of scalars."""
    callees: dict[int, str] = field(default_factory=dict)
    outlined: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Functions that an op names and XLA keeps as computations of their own."""
    effects: set[int] = field(default_factory=set)
    """Ops that stay though nobody uses them."""
    functions: dict[str, Piece] = field(default_factory=dict)
    public: list[str] = field(default_factory=list)
    values: int = 0

    def entries(self) -> list[str]:
        """`main` where there is one, else every public function."""
        return ["main"] if "main" in self.functions else self.public

    @property
    def inlines_nothing(self) -> bool:
        """Whether XLA's computations are as they are given, before and after it inlines."""
        pieces = chain.from_iterable(self.regions.values())
        return not self.callees and not any(piece.spliced for piece in pieces)
