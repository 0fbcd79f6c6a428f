"""Groups with a gap, and groups that wait for each other, made groups that do neither."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection

from schedscope.repair.faults import faults
from schedscope.repair.links import KINDS, Links, links
from schedscope.repair.marks import Marks
from schedscope.repair.partition import partition
from schedscope.states import bits
from schedscope.xla.xla_view import Computation, View

_TOGETHER = 512
"""How many groups one sweep looks after."""


def split(view: View, marks: Marks) -> bool:
    """Parts the groups that have a gap; True where there were any. What comes out may have faults
    of its own in another computation, so look again."""
    found = faults(view, waiting=False)
    for computation, groups in found:
        for start in range(0, len(groups), _TOGETHER):
            some = groups[start : start + _TOGETHER]
            known = links(computation, some)
            for group in some:
                _assign(computation, [group], known, partition(known, [group]), marks)
    return bool(found)


def untangle(view: View, marks: Marks) -> bool:
    """The same for groups that wait for each other."""
    found = faults(view, waiting=True)
    for computation, groups in found:
        marks.knotted.update(groups)
        knot = links(computation, groups)
        _assign(computation, groups, knot, partition(knot, groups), marks)
    return bool(found)


def _assign(
    computation: Computation, groups: Collection[int], known: Links, parts: list[int], marks: Marks
) -> None:
    """Gives the ops of each part an id: the first part of a group keeps the group's."""
    taken: set[int] = set()
    given: dict[int, int | None] = {
        op: None for op, group in zip(known.ops, known.groups, strict=True) if group in groups
    }
    for part in sorted(parts, key=lambda part: part & -part):
        first, *_ = bits(part)
        group = known.groups[first]
        new = group if group not in taken else marks.fresh()
        taken.add(group)
        given.update((known.ops[atom], new) for atom in bits(part))
    given.update(_followers(computation, groups, given))
    for op, now in given.items():
        marks.give(op, now)


def _followers(
    computation: Computation, groups: Collection[int], given: dict[int, int | None]
) -> dict[int, int | None]:
    """Ops whose id XLA does not keep: they go with the op of their group before them, or with the
    first."""
    ops = computation.graph.ops
    found: dict[int, int | None] = {}
    for group in groups:
        nodes = sorted(computation.tagged.get(group, ()))
        leaders = [node for node in nodes if ops[node] in given]
        if not leaders:
            continue
        for node in nodes:
            if ops[node] not in given and computation.name(node) not in KINDS:
                leader = leaders[max(bisect_right(leaders, node) - 1, 0)]
                found[ops[node]] = given[ops[leader]]
    return found
