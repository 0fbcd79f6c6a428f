"""Whether holders that wait for each other make one group without a gap.

A body whose own ops of an id lie both before and after a call that exposes the id is torn by the
rule of sets, and XLA then meets a gap: its own ops with the callee's between them. Where every
path between members runs through members alone, XLA takes all of it for one group, and it must
stay one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from schedscope._mlir import ADVANCE, INTERRUPT, PRE_ORDER, SKIP, Value, block_of, ir
from schedscope.callgraph import COLLECTIVES
from schedscope.scoping.bodies import Body, Holder, Link
from schedscope.scoping.crossing import entering_values, passed_values

MEMBERS = COLLECTIVES | {
    "stablehlo.case",
    "stablehlo.convolution",
    "stablehlo.custom_call",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "stablehlo.if",
}
"""Ops whose annotation some target keeps; it drops the others', and they make a gap."""

_DEPTH = 100
"""How many calls deep a path is followed; the walks nest."""
_CONSTANT, _OUTSIDE, _GAP = -1, -2, -3
"""What a value comes from: constants alone; no member; a member and something else. A number from
0 on is one result of a member, and nothing else but constants."""


def make_one_group(body: Body, holders: Collection[Holder]) -> bool:
    """True where the `holders`, all of one id in `body`, are without a gap as one group."""
    return _followed(body, holders) is not None


def follow_at_once(body: Body, holders: Collection[Holder]) -> bool:
    """True where, besides, a member is fed by a member and a collective is among them: XLA had
    a group there."""
    paths = _followed(body, holders)
    return paths is not None and paths.any_fed and paths.any_collective


def _followed(body: Body, holders: Collection[Holder]) -> _Paths | None:
    """The paths between the members of `holders`; None where one leaves the group and returns."""
    inlined = {link for holder in holders for link in (*holder.inherited, holder.link) if link}
    own = any(holder.link is None for holder in holders)
    paths = _Paths(next(iter(holders)).group)
    return None if paths.through(body, inlined, own, ()) is None else paths


class _Paths:
    def __init__(self, group: int) -> None:
        self._group = group
        self.any_fed = False
        self.any_collective = False
        self._members = 0
        self._depth = 0

    def through(
        self, body: Body, inlined: Collection[Link], own: bool, entering: Sequence[int]
    ) -> list[int] | None:
        """What the results of `body` come from; None where a path leaves the group and comes
        back. Members are its own ops if `own`, and those of the `inlined` bodies."""
        scope = body.scope
        origins: dict[Value, int] = {}
        if entering:
            origins.update(zip(entering_values(scope), entering, strict=True))
        tagged = {
            position
            for tag in scope.tags
            if own and tag.group == self._group
            for position in tag.positions
        }
        links = {link.site.position: link for link in body.links}
        position = scope.position
        blocks = frozenset(scope.blocks)
        gap = False
        last = scope.op

        def visit(op: ir.Operation) -> ir.WalkResult:
            nonlocal position, gap, last
            here = position
            position += 1
            if here == scope.position or block_of(op) not in blocks:
                return ADVANCE
            last = op
            operands = [origins.get(value, _OUTSIDE) for value in op.operands]
            nested = _nested(op) if len(op.regions) else []
            position += len(nested)
            operands += [origins.get(value, _OUTSIDE) for each in nested for value in each.operands]
            link = links.get(here)
            results: list[int] | None
            if link is not None and link in inlined:
                results = self._inlined(op, link, origins)
            elif here in tagged and op.name in MEMBERS:
                results = self._member(op, operands)
            else:
                results = [_origin(operands)] * len(op.results)
            if results is None:
                gap = True
                return INTERRUPT
            origins.update(zip(op.results, results, strict=True))
            return SKIP if nested else ADVANCE

        scope.op.walk(visit, PRE_ORDER)
        return None if gap else [origins.get(value, _OUTSIDE) for value in last.operands]

    def _inlined(self, op: ir.Operation, link: Link, origins: dict[Value, int]) -> list[int] | None:
        site = link.site
        passed = list(op.operands) if site.body is None else passed_values(op, site.body)
        entering = [origins.get(value, _OUTSIDE) for value in passed]
        if link.bare == self._group:
            return self._member(op, entering)
        formed = link.body.handed_up[self._group]
        own = any(holder.link is None for holder in formed.holders)
        if self._depth == _DEPTH:
            return None
        self._depth += 1
        results = self.through(link.body, formed.links, own, entering)
        self._depth -= 1
        return results

    def _member(self, op: ir.Operation, operands: Sequence[int]) -> list[int] | None:
        """What the results of a member come from: itself. None where a path comes back here."""
        if _GAP in operands:
            return None
        self.any_fed = self.any_fed or any(each >= 0 for each in operands)
        self.any_collective = self.any_collective or op.name in COLLECTIVES
        count = len(op.results)
        self._members += count
        return list(range(self._members - count, self._members))


def _origin(operands: Sequence[int]) -> int:
    """What is made of one value alone, XLA fills in, at once or when it has fused it: a chain
    of unary ops, an op that uses the value twice."""
    found = {each for each in operands if each != _CONSTANT}
    if len(found) == 1:
        return found.pop()
    if not found:
        return _CONSTANT
    return _GAP if any(each == _GAP or each >= 0 for each in found) else _OUTSIDE


def _nested(op: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(nested: ir.Operation) -> ir.WalkResult:
        found.append(nested)
        return ADVANCE

    op.walk(visit, PRE_ORDER)
    return found[1:]
