"""Which ops must end up in one group: DESIGN's sets, written down without a thought for speed.

partition(computation) -> sets of ops, for each group id
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.reference.gaps import has_gap
from tests.reference.inlined import Body, Computation, Op

Partition = dict[int, list[frozenset[Op]]]
"""For each group id the sets of its ops, each to become one group."""


@dataclass(frozen=True)
class Rule:
    every_call_site: bool = False
    keep_global: frozenset[int] = frozenset()


AS_NEEDED = Rule()


def partition(computation: Computation, rule: Rule = AS_NEEDED) -> Partition:
    """Of one computation. An id marked as global is one set whatever depends on what."""
    result: Partition = {}
    for group in sorted({op.group for op in computation.ops if op.group is not None}):
        tagged = [op for op in computation.ops if op.group == group]
        if group in rule.keep_global or any(_marked(op) for op in tagged):
            result[group] = [frozenset(tagged)]
        else:
            sets = _Sets(computation, group, rule).of(computation.root)
            result[group] = [frozenset(members) for members in sets]
    return result


def _marked(op: Op) -> bool:
    return op.frontend.get("_scheduling_group_scope") == "global"


class _Sets:
    def __init__(self, computation: Computation, group: int, rule: Rule) -> None:
        self.computation = computation
        self.group = group
        self.rule = rule

    def of(self, body: Body) -> list[list[Op]]:
        """All sets in a body that is not part of its caller's group, those of bodies in it too."""
        inner, sets = self._within(body)
        return inner + sets

    def _within(self, body: Body) -> tuple[list[list[Op]], list[list[Op]]]:
        """The sets that bodies in here keep to themselves, and those that `body` makes of its
        holders: its own ops, and each body in here that exposes one set."""
        inner: list[list[Op]] = []
        sets: list[list[Op]] = []
        for holder in self._holders(body):
            if isinstance(holder, Body):
                kept, made = self._within(holder)
                inner += kept
                if len(made) != 1:
                    inner += made
                    continue
                [ops] = made
            else:
                ops = holder
            if sets and not self.rule.every_call_site and not self._meet(sets[-1], ops):
                sets[-1] = sets[-1] + ops
            else:
                sets.append(ops)
        own = list(self._own(body))
        if own and not self.rule.every_call_site:
            sets = self._kept_whole(sets, own)
        return inner, sets

    def _kept_whole(self, sets: list[list[Op]], own: list[Op]) -> list[list[Op]]:
        """A body's own ops and the sets that wait for them and that they wait for: torn apart
        they would leave a gap where XLA, if it sees none in all of them, makes one group today."""
        [owner] = [number for number, ops in enumerate(sets) if own[0] in ops]
        depends = self.computation.depends
        between = [
            number
            for number, ops in enumerate(sets)
            if number > owner and depends(own, ops) and depends(ops, sets[owner])
        ]
        together = [op for number in (owner, *between) for op in sets[number]]
        if not between or has_gap(self.computation, together):
            return sets
        whole = [ops for number, ops in enumerate(sets) if number not in between]
        whole[owner] = together
        return whole

    def _meet(self, some: Sequence[Op], others: Sequence[Op]) -> bool:
        return self.computation.meet(some, others)

    def _holders(self, body: Body) -> Iterator[list[Op] | Body]:
        """In program order; all that is `body`'s own is one, in the place of its first op."""
        own = list(self._own(body))
        given = False
        for item, is_own in self._items(body, self._entered(body)):
            if is_own:
                if not given:
                    yield own
                given = True
                continue
            assert isinstance(item, Body)
            if item.group != self.group or self._held_below(item):
                yield item
            elif item.root_ops:
                yield item.root_ops

    def _items(self, body: Body, entered: bool) -> Iterator[tuple[Op | Body, bool]]:
        """What stands in `body` and in bodies that are part of it, and whether it is its own."""
        for item in body.items:
            if isinstance(item, Op):
                if item.group == self.group and not self._from_call(item):
                    yield item, True
            elif self._part_of(item, body, entered):
                for op in item.root_ops:
                    yield op, True
                yield from self._items(item, entered=True)
            else:
                yield item, False

    def _own(self, body: Body) -> Iterator[Op]:
        for item, is_own in self._items(body, self._entered(body)):
            if is_own:
                assert isinstance(item, Op)
                yield item

    def _part_of(self, inner: Body, outer: Body, entered: bool) -> bool:
        """The call was made while `outer` was inside the group."""
        if inner.group is not None:
            return inner.group == self.group and self._held_below(inner)
        return inner.out_of_line and (entered or self._held_in(outer))

    def _entered(self, body: Body) -> bool:
        """What brought us in here was inside the group."""
        if body.parent is not None:
            return self._part_of(body, body.parent, self._entered(body.parent))
        region_of = body.region_of
        return region_of is not None and (
            region_of.group == self.group or self._entered(region_of.body)
        )

    def _held_in(self, body: Body) -> bool:
        return any(
            item.group == self.group and not (isinstance(item, Op) and self._from_call(item))
            for item in body.items
        )

    def _held_below(self, body: Body) -> bool:
        return any(op.group == self.group and not self._from_call(op) for op in body.ops())

    def _from_call(self, op: Op) -> bool:
        body: Body | None = op.body
        while body is not None:
            if op in body.root_ops:
                return True
            body = body.parent
        return False
