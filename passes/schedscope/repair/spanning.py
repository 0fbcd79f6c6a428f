"""Groups that repair has made, so that scoping leaves them as they are.

Scoping tells one instance's group from another's by the calls between their ops, and would take
apart again what repair has put together. So an id whose ops lie in several bodies gets the marker
that it spans calls, and a call made inside a group stays in the group of what it inlines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from schedscope._mlir import ir
from schedscope.annotation import SCOPE, write_entries
from schedscope.xla.flat import Flat, Piece
from schedscope.xla.marking import Mark


def followed(flat: Flat, before: dict[int, Mark]) -> Iterator[tuple[int, int]]:
    """Calls that carry an id under which nothing is left in what they inline, and the id that the
    first op in there of that group has now. `before` are the marks as they were."""
    for op, mark in list(flat.marks.items()):
        if mark.group is None or op not in flat.callees:
            continue
        mine = [each for each in below(flat, op) if _group(before, each) == mark.group]
        now = [flat.marks[each].group for each in mine]
        if mine and mark.group not in now:
            new = next((group for group in now if group is not None), None)
            if new is not None:
                yield op, new


def spanning(flat: Flat, ids: Collection[int]) -> set[int]:
    """Those of `ids` that ops of several bodies carry."""
    wanted, homes = set(ids), dict[int, set[str]]()
    for name, piece in flat.functions.items():
        for op in _ops(flat, piece):
            group = _group(flat.marks, op)
            if group is not None and group in wanted and op not in flat.callees:
                homes.setdefault(group, set()).add(name)
    return {group for group, found in homes.items() if len(found) > 1}


def mark_spanning(flat: Flat, ids: Collection[int]) -> None:
    """Gives those of `ids` that ops of several bodies carry the marker. Needs a current context."""
    spans = spanning(flat, ids)
    for op, mark in flat.marks.items():
        if mark.group in spans and not mark.has(SCOPE):
            write_entries(flat.ops[op], {**mark.entries, SCOPE: ir.StringAttr.get("global")})


def _group(marks: dict[int, Mark], op: int) -> int | None:
    mark = marks.get(op)
    return None if mark is None else mark.group


def _ops(flat: Flat, piece: Piece) -> Iterator[int]:
    pending = [piece]
    for each in pending:
        yield from each.ops
        for op in each.sites:
            pending += flat.regions.get(op, ())


def below(flat: Flat, op: int) -> Iterator[int]:
    """The ops that a call inlines, those of further calls too."""
    met = {flat.callees[op]}
    pending = list(met)
    for name in pending:
        for each in _ops(flat, flat.functions[name]):
            yield each
            callee = flat.callees.get(each)
            if callee is not None and callee not in met:
                met.add(callee)
                pending.append(callee)
