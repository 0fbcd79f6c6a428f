"""Which bodies XLA splices into which computation, and at which call paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from schedscope import inlining
from schedscope.xla.early_inlining import EarlyInlining
from schedscope.xla.flat import Flat, Piece
from schedscope.xla.quiet import Quiet
from schedscope.xla.targets import Target

Stage = Literal["given", "early", "late"]
"""When the module is looked at: as it is given, after libtpu's first inlining, or all inlined."""


class Inliner:
    def __init__(self, flat: Flat, target: Target, quiet: Quiet, stage: Stage = "late") -> None:
        self.flat = flat
        self.quiet = quiet
        self.frames: list[tuple[int, int]] = []
        """Call paths: the frame around each, and the op."""
        self._target = target
        self._stage = stage
        self._early = EarlyInlining(flat, target, quiet.order) if stage == "early" else None
        self._waiting: list[tuple[Piece, int]] = []
        self._met: set[Piece] = set()

    def computations(self) -> Iterator[tuple[Piece, int]]:
        """Those that hold a group, from the entries inward, each with its call path. Who asks for
        the next has looked into the last with `inlined` and `meet_computations`."""
        self._waiting = [(self.flat.functions[name], -1) for name in reversed(self._roots())]
        while self._waiting:
            piece, frame = self._waiting.pop()
            if piece in self._met:
                continue
            self._met.add(piece)
            below = len(self._waiting)
            if self.quiet.holds_group(piece, self.inlines):
                yield piece, frame
            else:
                self.pass_over(piece, frame)
            self._waiting[below:] = reversed(self._waiting[below:])

    def _roots(self) -> list[str]:
        """The functions that are computations of their own."""
        if self._stage == "given":
            return list(self.flat.functions)
        return [*self.flat.entries(), *(self._early.kept if self._early is not None else ())]

    def pass_over(self, piece: Piece, frame: int) -> None:
        """Looks for computations below a piece that holds no group itself."""
        if not self.quiet.reaches(piece):
            return
        pending = [(piece, frame)]
        while pending:
            piece, frame = pending.pop()
            for op in piece.ops:
                self.meet_computations(op, frame)
                inner = self.inlined(op)
                if inner is not None and inner not in self._met and self.quiet.reaches(inner):
                    self._met.add(inner)
                    pending.append((inner, self.step(frame, op)))

    def inlined(self, op: int) -> Piece | None:
        """The piece that XLA splices in place of an op."""
        callee = self.flat.callees.get(op)
        if callee is not None:
            kept = self._stage == "given" or (
                self._early is not None and callee in self._early.kept
            )
            return None if kept else self.flat.functions[callee]
        for piece in self.flat.regions.get(op, ()):
            if piece.spliced and not self._is_apart(op, piece):
                return piece
        return None

    def _is_apart(self, op: int, piece: Piece) -> bool:
        """Whether a region that XLA will splice is still a computation of its own. The branch of
        a constant is none from the start."""
        if self.flat.names[op] in inlining.BRANCHES:
            return False
        if self._stage == "given":
            return True
        if self.flat.names[op] == "sdy.manual_computation":
            return self._stage == "early"
        return self._early is not None and piece.function in self._early.repeated

    def step(self, frame: int, op: int) -> int:
        self.frames.append((frame, op))
        return len(self.frames) - 1

    def meet_computations(self, op: int, frame: int) -> None:
        """Notes the computations that an op holds, to be made into graphs later."""
        for piece in self.flat.regions.get(op, ()):
            alone = not piece.spliced or self._is_apart(op, piece)
            if alone and piece not in self._met and self.quiet.reaches(piece):
                self._waiting.append((piece, self.step(frame, op)))
        for name in self.flat.outlined.get(op, ()):
            piece = self.flat.functions[name]
            if self.inlines and piece not in self._met and self.quiet.reaches(piece):
                self._waiting.append((piece, self.step(frame, op)))

    def is_new(self, piece: Piece) -> bool:
        """Whether nobody has looked below the piece yet, and a group is there."""
        new = piece not in self._met and self.quiet.reaches(piece)
        if new:
            self._met.add(piece)
        return new

    def is_quiet(self, piece: Piece) -> bool:
        return not self.quiet.is_loud(piece)

    @property
    def inlines(self) -> bool:
        """Whether calls are inlined, all or some."""
        return self._stage != "given"

    @property
    def hands_id_to_root(self) -> bool:
        """Whether a call's id goes to what makes its results, where that has none."""
        return self._target.family == "gpu"
