"""Gaps: paths from one member of a group to another through an op outside it.

One forward sweep asks for many groups at once which of them have been left on the way to a node;
the shortest path is then sought backward, and only in groups that have a gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedscope.xla.xla_view import Computation, Node, View

_BATCH = 1024
"""How many groups one sweep looks after, as bits of one number."""


class Gap(NamedTuple):
    """A group that XLA refuses."""

    group: int
    path: tuple[Node, ...]
    """The shortest, from a member through ops outside the group to a member."""
    computation: Computation


def gaps(view: View) -> list[Gap]:
    """One for each computation and group that has a gap; XLA stops at the first it meets. A group
    that has one where all is inlined is not sought again in what XLA checks before."""
    found: list[Gap] = []
    for computations in view.checked:
        told = {gap.group for gap in found}
        for computation in computations:
            found += [gap for gap in gaps_of(computation) if gap.group not in told]
    return found


def gaps_of(computation: Computation) -> Iterator[Gap]:
    """The groups of one computation that have a gap, by their first members."""
    members = computation.membership.members
    groups = sorted(members, key=lambda group: members[group][0])
    for start in range(0, len(groups), _BATCH):
        yield from _Sweep(computation, groups[start : start + _BATCH]).found()


class _Sweep:
    def __init__(self, computation: Computation, groups: list[int]) -> None:
        self._computation = computation
        self._groups = groups
        members = computation.membership.members
        bits = {group: 1 << number for number, group in enumerate(groups)}
        self._own = {
            node: bits[group]
            for node, group in computation.membership.group_of.items()
            if group in bits
        }
        self._first = members[groups[0]][0]
        self._last = max(members[group][-1] for group in groups)
        self._left: dict[int, int] = {}
        """For each node the groups that were left on the way to it."""

    def found(self) -> Iterator[Gap]:
        ends = self._swept()
        for group in self._groups:
            if group in ends:
                path = self._shortest(group, ends[group])
                yield Gap(group, path, self._computation)

    def _swept(self) -> dict[int, list[int]]:
        """The members at which a gap ends, by group."""
        graph, group_of = self._computation.graph, self._computation.membership.group_of
        copied, merged = self._computation.membership.copied, graph.merged
        operands, used, left, own = graph.operands, graph.used, self._left, self._own
        members = self._computation.membership.members
        closing = sorted([members[group][-1] for group in self._groups], reverse=True)
        over = 0
        """The groups that have no members from here on."""
        touched = set(own)
        """The nodes in `own` and `left`."""
        none_of, get_own = touched.isdisjoint, own.get
        ends: dict[int, list[int]] = {}
        for node in range(self._first, self._last + 1):
            if not used[node] or none_of(operands[node]):
                continue
            through = direct = 0
            for each in operands[node]:
                if each in left:
                    through |= left[each]
                if each in own:
                    direct |= own[each]
                    if each in merged:
                        through |= own[each]
            mine = get_own(node, 0)
            if mine & (through | direct if node in copied else through):
                ends.setdefault(group_of[node], []).append(node)
            while closing and closing[-1] <= node:
                over |= own[closing.pop()]
            coming = (through | direct) & ~mine & ~over
            if coming:
                left[node] = coming
                touched.add(node)
        return ends

    def _shortest(self, group: int, ends: list[int]) -> tuple[Node, ...]:
        computation = self._computation
        operands, group_of = computation.graph.operands, computation.membership.group_of
        bit = self._own[ends[0]]
        left = self._left.get
        following: dict[int, int] = {}
        waiting: list[int] = []
        for end in ends:
            for each in operands[end]:
                if group_of.get(each) == group:
                    between = self._between(each, end)
                    if between is not None:
                        return computation.node(each), between, computation.node(end)
                elif left(each, 0) & bit and each not in following:
                    following[each] = end
                    waiting.append(each)
        for node in waiting:
            for each in operands[node]:
                if each not in following and left(each, 0) & bit:
                    following[each] = node
                    waiting.append(each)
                elif group_of.get(each) == group:
                    return tuple(self._path(each, node, following))
        raise AssertionError("a gap without a path")

    def _between(self, member: int, user: int) -> Node | None:
        """The op that XLA puts between two members of which one uses the other."""
        computation = self._computation
        if user in computation.membership.copied:
            return computation.node(user)._replace(name="copy", group=None, is_member=False)
        if member in computation.graph.merged:
            taken = computation.node(member)
            return taken._replace(name="get_tuple_element", group=None, is_member=False)
        return None

    def _path(self, member: int, node: int, following: dict[int, int]) -> Iterator[Node]:
        computation = self._computation
        yield computation.node(member)
        while node in following:
            yield computation.node(node)
            node = following[node]
        yield computation.node(node)
