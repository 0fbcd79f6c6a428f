"""Which nodes XLA takes for the members of which group, when it looks for gaps."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from schedscope.xla.graphs import Graph, is_constant
from schedscope.xla.targets import Target


@dataclass(eq=False, slots=True)
class Membership:
    """Of one computation."""

    group_of: dict[int, int] = field(default_factory=dict)
    """The group of each member, in program order, and of the ops filled in between."""
    members: dict[int, list[int]] = field(default_factory=dict)
    """The members of each group that is kept, without those filled in."""
    dropped: dict[int, list[int]] = field(default_factory=dict)
    """Groups that XLA removes in silence, with what would be their members."""
    copied: set[int] = field(default_factory=set)
    """Members that work in place on an operand with other users: a copy is made of it."""


def settle(
    graphs: Sequence[Graph], target: Target, awaited_alone: bool = False
) -> list[Membership]:
    """The memberships of all computations of a module, together: whether a group is kept
    depends on all of them. With `awaited_alone` as they are just before scheduling, when what is
    awaited is the only member and the rest is fused."""
    kinds = target.members & target.awaited if awaited_alone else target.members
    found = [_kept(graph, kinds) for graph in graphs]
    busy: set[int] = set()
    for graph, membership in zip(graphs, found, strict=True):
        names = graph.inliner.flat.names
        for group, members in membership.members.items():
            if any(names[graph.ops[each]] in target.asynchronous for each in members):
                busy.add(group)
    for graph, membership in zip(graphs, found, strict=True):
        for group, members in list(membership.members.items()):
            if group not in busy or (len(members) == 1 and not target.keeps_single):
                membership.dropped[group] = membership.members.pop(group)
        for group, members in membership.members.items():
            membership.group_of.update(dict.fromkeys(members, group))
        if membership.members:
            _finish(graph, membership, target, awaited_alone or target.fuses_before_check)
    return found


def _kept(graph: Graph, kinds: frozenset[str]) -> Membership:
    """Ops whose annotation the target keeps."""
    names = graph.inliner.flat.names
    membership = Membership()
    for node in sorted(graph.groups):
        if graph.used[node] and names[graph.ops[node]] in kinds:
            membership.members.setdefault(graph.groups[node], []).append(node)
    return membership


def _finish(graph: Graph, membership: Membership, target: Target, fused: bool) -> None:
    users = _users(graph, membership)
    names = graph.inliner.flat.names
    group_of = membership.group_of
    for node, group in group_of.items():
        if names[graph.ops[node]] in target.copies and any(
            group_of.get(each) == group and len(users[each]) > 1
            for each in graph.operands[node]
            if each >= 0
        ):
            membership.copied.add(node)
    if not target.fills:
        return
    filling = _Filling(graph, membership, users, fused)
    filled: dict[int, int] = {}
    for node, group in group_of.items():
        for each in filling.chain(node, group):
            filled[each] = group
    group_of.update(filled)


def _users(graph: Graph, membership: Membership) -> dict[int, list[int]]:
    """The users of members, and of what comes of one member alone, constants aside."""
    users: dict[int, list[int]] = {node: [] for node in membership.group_of}
    origin: dict[int, int | None] = {node: node for node in users}
    none_of = users.keys().isdisjoint
    operands = graph.operands
    for node, used in enumerate(graph.used):
        if not used or none_of(operands[node]):
            continue
        for each in operands[node]:
            found = users.get(each)
            if found is not None and (not found or found[-1] != node):
                found.append(node)
        if node not in users:
            origins = {origin.get(each) for each in operands[node] if not is_constant(each)}
            if len(origins) == 1 and None not in origins:
                users[node] = []
                origin[node] = origins.pop()
    ends = len(graph.ops)
    for each in graph.results:
        if each in users and len(graph.results) > 1:
            users[each].append(ends)
    return users


class _Filling:
    def __init__(
        self,
        graph: Graph,
        membership: Membership,
        users: dict[int, list[int]],
        fused: bool,
    ) -> None:
        self._graph = graph
        self._group_of = membership.group_of
        self._users = users
        self._fuses = fused
        self._end = len(graph.ops)

    def chain(self, node: int, group: int) -> list[int]:
        """The nodes between a member and the next, where each has one operand and one user."""
        return self._fused(node, group) if self._fuses else self._plain(node, group)

    def _plain(self, node: int, group: int) -> list[int]:
        found: list[int] = []
        while True:
            users = self._users[node]
            if len(users) != 1 or users[0] == self._end:
                return []
            node = users[0]
            if self._group_of.get(node) == group:
                return found
            if node in self._group_of or not self._has_one_operand(node):
                return []
            found.append(node)

    def _has_one_operand(self, node: int) -> bool:
        graph = self._graph
        op = graph.ops[node]
        if op in graph.inliner.flat.callees and graph.inliner.inlines:
            return node in graph.chains
        return len(graph.operands[node]) == 1

    def _fused(self, node: int, group: int) -> list[int]:
        """The same, where what lies between becomes one fusion of one operand."""
        inside = {node}
        found: list[int] = []
        goal = -1
        waiting = list(self._users[node])
        seen = set(waiting)
        while waiting:
            following = heapq.heappop(waiting)
            if following == self._end:
                return []
            if self._group_of.get(following) == group:
                read = {each for each in self._graph.operands[following] if each in inside}
                if goal >= 0 or len(read) != 1:
                    return []  # a fusion of several results is taken apart by ops of its own
                goal = following
                continue
            if following in self._group_of:
                return []
            operands = self._graph.operands[following]
            if any(each not in inside and not is_constant(each) for each in operands):
                return []
            inside.add(following)
            found.append(following)
            for each in self._users[following]:
                if each not in seen:
                    seen.add(each)
                    heapq.heappush(waiting, each)
        return found if goal >= 0 else []
