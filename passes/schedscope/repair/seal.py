"""Optimization barriers around a group, so that no later fusion or combination ties one of its ops
to something outside.

One barrier takes all operands that enter the group, one all results that leave it. They cost fusion
at the border. XLA keeps them until it has scheduled (measured on XLA:GPU and libtpu).
"""

from __future__ import annotations

from collections.abc import Collection

from schedscope._mlir import Value, block_of, ir
from schedscope.flattening import Flat, flatten
from schedscope.late_fusion import torn
from schedscope.repair.links import KINDS
from schedscope.targets import Target
from schedscope.xla_view import view_of

BARRIER = "stablehlo.optimization_barrier"


def seal_groups(
    module: ir.Module, target: Target, groups: Collection[int] | None
) -> tuple[int, ...]:
    """Seals `groups` and those at risk, or every group where it is None; returns those that have
    new barriers. Needs a current context."""
    flat = flatten(module)
    chosen: set[int] | None = None
    if groups is not None:
        chosen = {*groups, *(group for group, _ in torn(view_of(flat, target)))}
    members: dict[tuple[int, ir.Block], list[int]] = {}
    for number, mark in flat.marks.items():
        group = mark.group
        if group is None or (chosen is not None and group not in chosen):
            continue
        if flat.names[number] in KINDS:
            members.setdefault((group, block_of(flat.ops[number])), []).append(number)
    sealed: dict[int, None] = {}
    for (group, block), numbers in members.items():
        if _Sealing(flat, block, sorted(numbers)).run():
            sealed.setdefault(group)
    return tuple(sealed)


class _Sealing:
    """Of the members of one group in one block."""

    def __init__(self, flat: Flat, block: ir.Block, members: list[int]) -> None:
        self._ops = [flat.ops[each] for each in members]
        self._block = block
        self._first = self._ops[0]

    def run(self) -> bool:
        """Makes the group one run of ops between two barriers; False where it is sealed, or where
        its ops cannot be brought together."""
        inside = set(self._ops)
        entering: dict[Value, None] = {}
        for op in self._ops:
            for operand in _used(op):
                owner = _owner(operand)
                if owner is None or owner not in inside:
                    entering.setdefault(operand)
        if entering and all(_is_barrier(_owner(each)) for each in entering):
            return False
        if not self._gather(inside):
            return False
        self._enter([each for each in entering if not _is_constant(_owner(each))], inside)
        self._leave(inside)
        return True

    def _gather(self, inside: set[ir.Operation]) -> bool:
        """Moves what lies between the members: before them what none of them feeds, after them
        the rest."""
        fed: set[ir.Operation] = set(self._ops[:1])
        behind: list[ir.Operation] = []
        between = _between(self._block, self._ops[0], self._ops[-1])
        for op in between:
            if op in inside:
                if any(_owner(each) in fed - inside for each in _used(op)):
                    return False  # through something outside: not convex here
                fed.add(op)
            elif any(_owner(each) in fed for each in _used(op)):
                fed.add(op)
                behind.append(op)
        for op in between:
            if op not in inside and op not in fed:
                op.move_before(self._first)
        last = self._ops[-1]
        for op in behind:
            op.move_after(last)
            last = op
        return True

    def _enter(self, entering: list[Value], inside: set[ir.Operation]) -> None:
        if not entering:
            return
        uses = [_uses(each) for each in entering]
        made = _barrier(entering, ir.InsertionPoint(self._first), self._first)
        for found, result in zip(uses, made.results, strict=True):
            for op, number in found:
                if _within(op, self._block) in inside:
                    op.operands[number] = result

    def _leave(self, inside: set[ir.Operation]) -> None:
        last = self._ops[-1]
        leaving: list[Value] = []
        uses: list[list[tuple[ir.Operation, int]]] = []
        for op in self._ops:
            for result in op.results:
                outside = [
                    (user, number)
                    for user, number in _uses(result)
                    if _within(user, self._block) not in inside
                ]
                if outside:
                    leaving.append(result)
                    uses.append(outside)
        if not leaving:
            return
        made = _barrier(leaving, ir.InsertionPoint(last), last)
        made.move_after(last)
        for found, result in zip(uses, made.results, strict=True):
            for user, number in found:
                user.operands[number] = result


def _uses(value: Value) -> list[tuple[ir.Operation, int]]:
    return [(use.owner.operation, use.operand_number) for use in value.uses]


def _barrier(values: list[Value], point: ir.InsertionPoint, like: ir.Operation) -> ir.Operation:
    made: ir.Operation = ir.Operation.create(
        BARRIER,
        results=[each.type for each in values],
        operands=values,
        loc=like.location,
        ip=point,
    )
    return made


def _used(op: ir.Operation) -> list[Value]:
    """What the op uses, in its regions too, and is made outside of it."""
    found = list(op.operands)
    for region in op.regions:
        for block in region.blocks:
            own: set[Value] = set(block.arguments)
            for view in block.operations:
                found += [each for each in _used(view.operation) if each not in own]
                own.update(view.operation.results)
    return found


def _owner(value: Value) -> ir.Operation | None:
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def _within(op: ir.Operation, block: ir.Block) -> ir.Operation:
    """The op of `block` that holds `op`."""
    while block_of(op) != block:
        parent = op.parent
        if parent is None:
            return op
        op = parent.operation
    return op


def _between(block: ir.Block, first: ir.Operation, last: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []
    for view in block.operations:
        op = view.operation
        if found or op == first:
            found.append(op)
        if op == last:
            break
    return found


def _is_barrier(op: ir.Operation | None) -> bool:
    return op is not None and op.name == BARRIER


def _is_constant(op: ir.Operation | None) -> bool:
    return op is not None and op.name == "stablehlo.constant"
