"""What became of each group: of its ops, before ids are written and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schedscope.repair.report import Fate, FateKind
from schedscope.repair.unreadable import place
from schedscope.xla.flat import Flat
from schedscope.xla.marking import Mark


def fates_of(flat: Flat, before: Mapping[int, Mark]) -> tuple[Fate, ...]:
    """By id. `flat` says what the ops are to carry, `before` what they carried."""
    ops: dict[int, list[int]] = {}
    for op, mark in before.items():
        if mark.group is not None:
            ops.setdefault(mark.group, []).append(op)
    found = []
    for group, members in sorted(ops.items()):
        now = [flat.marks[op].group for op in sorted(members)]
        ids = tuple(dict.fromkeys(each for each in now if each is not None))
        kind = _kind(ids, None in now)
        places = () if kind == "whole" else dict.fromkeys(place(flat.ops[op]) for op in members)
        lines = tuple(each for each in places if each is not None)
        found.append(Fate(group, group, kind, ids, lines))
    return tuple(found)


def _kind(ids: tuple[int, ...], lost: bool) -> FateKind:
    if not ids:
        return "dropped"
    if len(ids) > 1:
        return "split"
    return "trimmed" if lost else "whole"


def composed(first: tuple[Fate, ...], later: Iterable[Fate]) -> tuple[Fate, ...]:
    """The fates of the groups of `first`, after what befell their parts."""
    if not first:
        return tuple(later)
    parts = {fate.id: fate for fate in later}
    return tuple(_after(fate, parts) for fate in first)


def _after(fate: Fate, parts: Mapping[int, Fate]) -> Fate:
    met = [parts[each] for each in fate.ids if each in parts]
    ids = tuple(dict.fromkeys(new for each in met for new in each.ids))
    lost = any(each.kind in ("trimmed", "dropped") for each in (fate, *met))
    kind = _kind(ids, lost)
    lines = fate.locations or tuple(dict.fromkeys(line for each in met for line in each.locations))
    return fate._replace(kind=kind, ids=ids, locations=() if kind == "whole" else lines)


def renumbered(fates: tuple[Fate, ...], new: Mapping[int, int]) -> tuple[Fate, ...]:
    """The same where scoping has given new ids since; `new` says what each was before."""
    apart: dict[int, list[int]] = {}
    for now, old in new.items():
        apart.setdefault(old, []).append(now)
    if not apart:
        return fates
    found = []
    for fate in fates:
        ids = tuple(each for old in fate.ids for each in (old, *apart.get(old, ())))
        found.append(fate._replace(ids=ids, kind=_kind(ids, fate.kind == "trimmed")))
    return tuple(found)
