"""Groups that XLA:GPU and v5e may find a gap in, because they made one op of an op that leads to a
member and an op that waits for another member.

Two such pairs become one fusion of several results: elementwise ops of one shape that share an
operand, where either has taken in another op; and an elementwise op and one that uses it, where
something that is not fused uses it too. Matmuls that share an operand become one matmul. Neither
may depend on the other, groups apart, for which XLA does not ask. What is merged is XLA's choice:
this is a likely outcome, and not a certain one (measured: passes multi_output_fusion and
dot-merger of XLA:GPU, jaxlib 0.10 and 0.12; fusions of several results of libtpu 0.0.52).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from schedscope._mlir import ir
from schedscope.xla.graphs import is_constant
from schedscope.xla.late_fusion import DOTS, FUSIBLE
from schedscope.xla.xla_view import Computation, Node, View

_MEMBERS = 256
"""A group of more is not looked at."""
_NEAR = 32
"""How many ops a fusion is followed through."""
_FAR = 256
"""How many ops before and behind a group are looked at."""
_TRIES = 64
"""How many pairs of one group are looked at closely."""
_SEEN = 2048
"""How many ops are looked at for one pair."""


class Join(NamedTuple):
    """Two ops that XLA is likely to make one."""

    group: int
    leading: Node
    """Leads to a member."""
    waiting: Node
    """Waits for another."""


def joins(view: View) -> Iterator[Join]:
    """For each group at risk, in each computation, two such ops. On TPU there is a risk where gaps
    are sought after fusion, too, among what is awaited."""
    target = view.target
    late = target.fuses_before_check
    kinds = target.members if late else target.members & target.awaited
    for computation in view.computations if late else view.scheduled:
        if computation.membership.members:
            yield from _Joins(computation, kinds).run()


class _Joins:
    def __init__(self, computation: Computation, kinds: frozenset[str]) -> None:
        self._flat = computation.flat
        # What is merged here may keep collectives from being combined.
        self._graph = graph = computation.graph.apart or computation.graph
        self._computation = Computation(computation.flat, graph, computation.membership)
        self._results = frozenset(graph.results)
        self._members: dict[int, list[int]] = {}
        for node, group in graph.groups.items():
            if group in computation.membership.members and self._name(node) in kinds:
                self._members.setdefault(group, []).append(node)

    @cached_property
    def _users(self) -> list[list[int]]:
        graph = self._graph
        found: list[list[int]] = [[] for _ in graph.ops]
        for node, used in enumerate(graph.used):
            if used:
                for each in graph.operands[node]:
                    if each >= 0:
                        found[each].append(node)
        return found

    def run(self) -> Iterator[Join]:
        for group, members in self._members.items():
            pair = self._joined(members) if 1 < len(members) <= _MEMBERS else None
            if pair is not None:
                yield Join(group, *map(self._computation.node, pair))

    def _joined(self, members: list[int]) -> tuple[int, int] | None:
        before = self._spread(members, lambda node: self._graph.operands[node], -1)
        behind = self._spread(members, lambda node: self._users[node], 1)
        for node in before.keys() & behind.keys():  # filled in, or a gap's path
            del before[node], behind[node]
        pairs = (
            (leading, waiting)
            for leading, waiting in self._pairs(before, behind)
            if not before[leading] & behind[waiting]
        )
        for leading, waiting in islice(pairs, _TRIES):
            if not self._leads(leading, waiting):
                return leading, waiting
        return None

    def _pairs(self, before: Collection[int], behind: Collection[int]) -> Iterator[tuple[int, int]]:
        """Pairs that would be merged if neither depended on the other."""
        sharing: dict[object, list[tuple[int, bool]]] = {}
        for node in before:
            traits, large = self._traits(node)
            for trait in traits:
                sharing.setdefault(trait, []).append((node, large))
        for node in behind:
            traits, large = self._traits(node)
            yield from (
                (other, node)
                for trait in traits
                for other, is_large in sharing.get(trait, ())
                if large or is_large
            )
            if self._ends_fusion(node):
                inside, _ = self._fusion(node)
                yield from (
                    (each, node) for each in inside if each in before and self._ends_fusion(each)
                )

    def _spread(
        self, members: list[int], following: Callable[[int], Iterable[int]], way: int
    ) -> dict[int, int]:
        """Ops on one side of the group that are tied to some members and not to all, nearest
        first, and to which, in bits."""
        found = {member: 1 << bit for bit, member in enumerate(members)}
        everything = (1 << len(members)) - 1
        waiting = [way * member for member in members]
        heapq.heapify(waiting)
        own = set(members)
        partial: dict[int, int] = {}
        while waiting and len(partial) < _FAR:
            node = way * heapq.heappop(waiting)
            tied = found[node]
            if tied == everything:
                continue  # and so is all that follows
            if node not in own:
                partial[node] = tied
            for each in following(node):
                if each >= 0:
                    if each not in found:
                        heapq.heappush(waiting, way * each)
                    found[each] = found.get(each, 0) | tied
        return partial

    def _traits(self, node: int) -> tuple[Iterable[object], bool]:
        """What two ops must have in common to be merged, and whether the one is enough of a
        fusion for both."""
        callee = self._flat.callees.get(self._graph.ops[node])
        if self._name(node) in DOTS or callee is not None:
            return ((callee, each) for each in self._graph.operands[node]), True
        if not self._ends_fusion(node):
            return (), False
        inside, operands = self._fusion(node)
        shape = self._shape(node)
        return ((shape, each) for each in operands if not is_constant(each)), (
            len(inside) > 1 or any(is_constant(each) for each in operands)
        )

    def _ends_fusion(self, node: int) -> bool:
        """Whether something needs what `node` makes that is not fused with it."""
        return self._fuses(node) and (
            node in self._results or not all(self._fuses(each) for each in self._users[node])
        )

    def _fusion(self, node: int) -> tuple[dict[int, None], dict[int, None]]:
        """What is fused into `node`, itself first, and the operands of it all."""
        inside, outside = {node: None}, dict[int, None]()
        waiting = [node]
        while waiting:
            for each in self._graph.operands[waiting.pop()]:
                if not self._fuses(each) or len(inside) >= _NEAR:
                    outside.setdefault(each)
                elif each not in inside:
                    inside[each] = None
                    waiting.append(each)
        return inside, outside

    def _fuses(self, node: int) -> bool:
        return node >= 0 and self._name(node) in FUSIBLE

    def _leads(self, leading: int, node: int) -> bool:
        """Whether `node` waits for what `leading` makes, and does not compute it anew; where that
        takes long to see, it is taken for granted."""
        seen, waiting = {node}, [node]
        while waiting:
            if len(seen) > _SEEN:
                return True
            user = waiting.pop()
            for each in self._graph.operands[user]:
                if each == leading and not self._fuses(user):
                    return True
                if each > leading and each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return False

    def _name(self, node: int) -> str:
        return self._flat.names[self._graph.ops[node]]

    def _shape(self, node: int) -> tuple[int, ...]:
        kind = ir.ShapedType(self._flat.ops[self._graph.ops[node]].results[0].type)
        return tuple(kind.shape) if kind.has_rank else ()
