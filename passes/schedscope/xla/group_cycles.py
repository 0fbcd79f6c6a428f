"""Groups that wait for each other: a cycle of the graph in which each group is one node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedscope.xla.late_fusion import scheduled
from schedscope.xla.xla_view import Computation, Node, View


class Wait(NamedTuple):
    """Groups none of which can run before another has."""

    groups: tuple[int, ...]
    path: tuple[Node, ...]
    """Around the cycle; two nodes in a row of one group are a step within it."""
    computation: Computation


def waits(view: View) -> list[Wait]:
    """One for each knot of groups of each computation."""
    return [wait for computation in view.computations for wait in waits_of(view, computation)]


def waits_of(view: View, computation: Computation) -> Iterator[Wait]:
    """Told over the ops that carry an id, where these wait without what is fused to them."""
    if len(computation.membership.members) < 2:
        return
    group_of = scheduled(computation, view.target)
    if len(set(group_of.values())) < 2:
        return
    found = list(_Contracted(computation, group_of).waits())
    if found:
        graph = computation.graph
        tagged = {node: group for node, group in group_of.items() if node in graph.groups}
        plain = {frozenset(each.groups): each for each in _Contracted(computation, tagged).waits()}
        yield from (plain.get(frozenset(each.groups), each) for each in found)


class _Contracted:
    """The graph with each group as one node: a group has the number of its first member."""

    def __init__(self, computation: Computation, group_of: dict[int, int]) -> None:
        self._computation = computation
        self._members: dict[int, list[int]] = {}
        for node, group in group_of.items():
            self._members.setdefault(group, []).append(node)
        self._group_of = group_of

    def waits(self) -> Iterator[Wait]:
        for knot in self._knots():
            met = (self._group_of.get(each) for each in knot)
            groups = tuple(dict.fromkeys(each for each in met if each is not None))
            if len(groups) > 1:
                yield Wait(groups, self._around(knot, groups[0]), self._computation)

    def _home(self, node: int) -> int:
        group = self._group_of.get(node)
        return node if group is None else self._members[group][0]

    def _before(self, home: int) -> Iterator[tuple[int, int]]:
        """For each edge into a contracted node, the node it leaves and the one it meets."""
        group = self._group_of.get(home)
        for node in (home,) if group is None else self._members[group]:
            for each in self._computation.graph.operands[node]:
                if each >= 0 and self._home(each) != home:
                    yield each, node

    def _knots(self) -> Iterator[list[int]]:
        """Strongly connected parts of more than one node, by Tarjan's algorithm."""
        numbers: dict[int, int] = {}
        lowest: dict[int, int] = {}
        stack: list[int] = []
        on_stack: set[int] = set()
        for start in [members[0] for members in self._members.values()]:
            if start in numbers:
                continue
            work = [(start, self._before(start))]
            numbers[start] = lowest[start] = len(numbers)
            stack.append(start)
            on_stack.add(start)
            while work:
                home, edges = work[-1]
                for each, _ in edges:
                    following = self._home(each)
                    if following not in numbers:
                        numbers[following] = lowest[following] = len(numbers)
                        stack.append(following)
                        on_stack.add(following)
                        work.append((following, self._before(following)))
                        break
                    if following in on_stack:
                        lowest[home] = min(lowest[home], numbers[following])
                else:
                    work.pop()
                    if work:
                        outer = work[-1][0]
                        lowest[outer] = min(lowest[outer], lowest[home])
                    if lowest[home] == numbers[home]:
                        part: list[int] = []
                        while not part or part[-1] != home:
                            part.append(stack.pop())
                            on_stack.discard(part[-1])
                        if len(part) > 1:
                            yield sorted(node for each in part for node in self._nodes(each))

    def _nodes(self, home: int) -> list[int]:
        group = self._group_of.get(home)
        return [home] if group is None else self._members[group]

    def _around(self, knot: list[int], group: int) -> tuple[Node, ...]:
        """A shortest way from `group` back to it through another group."""
        inside = {self._home(each) for each in knot}
        start = self._members[group][0]
        came: dict[int, tuple[int, int]] = {}
        waiting = [start]
        for home in waiting:
            for each, node in self._before(home):
                before = self._home(each)
                if before not in inside:
                    continue
                if before == start and self._passes_group(home, came, start):
                    return self._spell(each, node, home, came, start)
                if before not in came and before != start:
                    came[before] = each, node
                    waiting.append(before)
        return ()

    def _passes_group(self, home: int, came: dict[int, tuple[int, int]], start: int) -> bool:
        while home != start:
            if home in self._group_of:
                return True
            home = self._home(came[home][1])
        return False

    def _spell(
        self, each: int, node: int, home: int, came: dict[int, tuple[int, int]], start: int
    ) -> tuple[Node, ...]:
        path = [each, node]
        while home != start:
            leaves, meets = came[home]
            if leaves != path[-1]:
                path.append(leaves)
            path.append(meets)
            home = self._home(meets)
        return tuple(self._computation.node(every) for every in path)
