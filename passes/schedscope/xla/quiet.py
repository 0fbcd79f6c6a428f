"""What holds nothing to see: no group, no collective, nothing that must stay. Such a body need
not be inlined; which arguments reach which result is all that a caller wants to know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedscope.explanation.diagnose import complaint
from schedscope.states import bits
from schedscope.xla.flat import Flat, Piece


class Result(NamedTuple):
    """One result of a quiet body."""

    arguments: tuple[int, ...]
    """The arguments that it depends on."""
    is_chain: bool
    """Whether it is made of one argument by ops of one operand and one user each."""
    constant: int | None
    """The constant it is, where it is one."""


class Quiet:
    """Raises InputError for a callee that is not there, or that calls itself."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._loud: dict[Piece, bool] = {}
        self._holds: dict[Piece, bool] = {}
        self._reaches: dict[Piece, bool] = {}
        self._results: dict[Piece, list[Result]] = {}
        self._captures: dict[int, tuple[int, ...]] = {}
        self.order = _callees_first(flat)
        """The functions, each after all that it calls."""
        for piece in self.order:
            self._note(piece)

    def is_loud(self, piece: Piece) -> bool:
        """Whether there is anything to see in the piece and what it inlines."""
        return self._loud[piece]

    def holds_group(self, piece: Piece, inlined: bool) -> bool:
        """Whether a group is in the piece, and in what it calls if that is `inlined`."""
        if inlined:
            return self._holds[piece]
        spliced = (each for op in piece.sites for each in self._flat.regions.get(op, ()))
        return piece.has_group or any(
            self.holds_group(each, False) for each in spliced if each.spliced
        )

    def reaches(self, piece: Piece) -> bool:
        """Whether a group is in the piece or anywhere below it."""
        return self._reaches[piece]

    def _note(self, piece: Piece) -> None:
        flat = self._flat
        loud, holds = piece.has_group or piece.has_more, piece.has_group
        reaches = holds
        for op in piece.sites:
            callee = flat.callees.get(op)
            inlined = [] if callee is None else [flat.functions[callee]]
            for region in flat.regions.get(op, ()):
                self._note(region)
                if region.spliced:
                    inlined.append(region)
                reaches |= self._reaches[region]
            for name in flat.outlined.get(op, ()):
                reaches |= self._reaches[flat.functions[name]]
            for inner in inlined:
                loud |= self._loud[inner]
                holds |= self._holds[inner]
                reaches |= self._reaches[inner]
        self._loud[piece], self._holds[piece], self._reaches[piece] = loud, holds, reaches

    def captures(self, op: int) -> tuple[int, ...]:
        """The values from outside that the regions of `op` use."""
        known = self._captures.get(op)
        if known is None:
            limit = self._flat.first_result[op]
            found: dict[int, None] = {}
            for piece in self._flat.regions[op]:
                for value in self._read(piece):
                    if 0 <= value < limit:
                        found.setdefault(value)
            known = self._captures[op] = tuple(found)
        return known

    def _read(self, piece: Piece) -> Iterator[int]:
        for op in piece.ops:
            yield from self._flat.operands[op]
            if op in self._flat.regions:
                yield from self.captures(op)
        yield from piece.results

    def results(self, piece: Piece) -> list[Result]:
        """Of a function that is not loud."""
        known = self._results.get(piece)
        if known is None:
            for each in self._unknown_below(piece):
                self._results[each] = _Tracer(self, self._flat, each).results()
            known = self._results[piece]
        return known

    def _unknown_below(self, piece: Piece) -> list[Piece]:
        """Functions whose results are not known yet, callees first."""
        found: dict[Piece, None] = {}
        pending = [(piece, False)]
        while pending:
            piece, done = pending.pop()
            if done:
                found.setdefault(piece)
            elif piece not in self._results and piece not in found:
                pending.append((piece, True))
                pending += [(each, False) for each in self._called(piece)]
        return list(found)

    def _called(self, piece: Piece) -> Iterator[Piece]:
        for op in piece.sites:
            callee = self._flat.callees.get(op)
            if callee is not None:
                yield self._flat.functions[callee]
            for region in self._flat.regions.get(op, ()):
                if region.spliced:
                    yield from self._called(region)


class _Tracer:
    """Which arguments reach which value of a quiet function, as bit masks."""

    def __init__(self, quiet: Quiet, flat: Flat, piece: Piece) -> None:
        self._quiet = quiet
        self._flat = flat
        self._piece = piece
        self._first = piece.first_value
        count = piece.last_value - piece.first_value
        self._masks = [0] * count
        self._makers = [-1] * count
        self._uses = [0] * count
        for number, argument in enumerate(piece.arguments):
            self._masks[argument - self._first] = 1 << number

    def results(self) -> list[Result]:
        found = []
        for value in self._trace(self._piece):
            if value < 0:
                found.append(Result((), False, value))
            else:
                mask = self._masks[value - self._first]
                found.append(Result(tuple(bits(mask)), self._is_chain(value), None))
        return found

    def _trace(self, piece: Piece) -> list[int]:
        flat, first, masks, makers, uses = (
            self._flat, self._first, self._masks, self._makers, self._uses,
        )  # fmt: skip
        sites = set(piece.sites)
        for op in piece.ops:
            mask = 0
            for each in flat.operands[op]:
                if each >= 0:
                    mask |= masks[each - first]
                    uses[each - first] += 1
            at = flat.first_result[op] - first
            if op in sites and self._inlined(op, at):
                continue
            if op in flat.regions:
                for each in self._quiet.captures(op):
                    mask |= masks[each - first]
            for result in range(at, at + flat.result_count[op]):
                masks[result] = mask
                makers[result] = op
        return piece.results

    def _inlined(self, op: int, at: int) -> bool:
        flat, first, masks = self._flat, self._first, self._masks
        callee = flat.callees.get(op)
        if callee is not None:
            operands = flat.operands[op]
            for number, result in enumerate(self._quiet.results(flat.functions[callee])):
                for each in result.arguments:
                    if operands[each] >= 0:
                        masks[at + number] |= masks[operands[each] - first]
            return True
        spliced = next((each for each in flat.regions.get(op, ()) if each.spliced), None)
        if spliced is None:
            return False
        for argument, value in zip(spliced.arguments, flat.operands[op], strict=False):
            masks[argument - first] = masks[value - first] if value >= 0 else 0
        for number, value in enumerate(self._trace(spliced)):
            masks[at + number] = masks[value - first] if value >= 0 else 0
        return True

    def _is_chain(self, value: int) -> bool:
        arguments = set(self._piece.arguments)
        while value not in arguments:
            op = self._makers[value - self._first]
            if op < 0 or len(self._flat.operands[op]) != 1 or op in self._flat.regions:
                return False
            value = self._flat.operands[op][0]
            if value < 0 or self._uses[value - self._first] != 1:
                return False
        return True


def _callees_first(flat: Flat) -> list[Piece]:
    """Every function, after all that it calls."""
    called: dict[str, list[tuple[int, str]]] = {name: [] for name in flat.functions}
    for name, piece in flat.functions.items():
        pending = [piece]
        while pending:
            for op in pending.pop().sites:
                names = (flat.callees[op],) if op in flat.callees else flat.outlined.get(op, ())
                called[name] += [(op, each) for each in names]
                pending += flat.regions.get(op, ())
    order: dict[str, None] = {}
    for start in flat.functions:
        way: dict[str, None] = {}
        waiting = [(start, -1, False)]
        while waiting:
            name, site, done = waiting.pop()
            if done:
                del way[name]
                order.setdefault(name)
                continue
            if name not in flat.functions:
                raise complaint(
                    flat.ops[site], f"calls @{name}, which is no function of the module"
                )
            if name in way:
                raise complaint(flat.ops[site], f"@{name} calls itself, which XLA cannot inline")
            if name in order:
                continue
            way[name] = None
            waiting.append((name, site, True))
            waiting += [(each, op, False) for op, each in called[name]]
    return [flat.functions[name] for name in order]
