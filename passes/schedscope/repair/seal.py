"""Optimization barriers around a group, so that no later fusion or combination ties one of its ops
to something outside.

One barrier takes all operands that enter the group, one all results that leave it. They cost fusion
at the border. XLA keeps them until it has scheduled (measured on XLA:GPU and libtpu).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from schedscope._mlir import Value, block_of, ir
from schedscope.repair.links import KINDS
from schedscope.xla.late_fusion import torn
from schedscope.xla.sibling_fusion import joins
from schedscope.xla.splicing import BARRIER
from schedscope.xla.xla_view import Computation, Step, View


def seal_groups(view: View, groups: Collection[int] | None) -> tuple[int, ...]:
    """Seals `groups` and those at risk, or every group where it is None; returns those that have
    new barriers. Needs a current context."""
    risky = set() if groups is None else {*at_risk(view)}
    sealed: dict[int, None] = {}
    met: set[tuple[int, ir.Block]] = set()
    for computation in view.computations:
        for group, nodes in computation.tagged.items():
            if groups is not None and group not in groups and group not in risky:
                continue
            for places in _levels(computation, nodes):
                done = False
                for units in places:
                    block = block_of(units[0])
                    if (group, block) not in met:
                        met.add((group, block))
                        done |= _Sealing(block, units).run()
                if done:
                    sealed.setdefault(group)
                if done or group not in risky:
                    break
    return tuple(sealed)


def at_risk(view: View) -> Iterator[int]:
    """Groups that XLA may tie to something outside once it has fused what it can."""
    yield from (group for group, _ in torn(view, cautious=True))
    yield from (join.group for join in joins(view))


def _levels(computation: Computation, tagged: list[int]) -> Iterator[list[list[ir.Operation]]]:
    """The ops to seal, by body: in the innermost body that holds the whole group its members there
    and the calls that hold the others; then the same in those calls, and so on."""
    nodes = [
        node
        for each in sorted(tagged)
        if computation.name(each) in KINDS
        for node in computation.parts(each) or [computation.node(each)]
        if node.group is not None
    ]
    depth = 0
    while nodes:
        places: dict[tuple[Step, ...], dict[ir.Operation, None]] = {}
        for node in nodes:
            deeper = len(node.path) > depth
            unit = node.path[depth].op if deeper else node.op
            places.setdefault(node.path[:depth], {}).setdefault(unit)
        if any(len(units) > 1 for units in places.values()) or depth >= min(
            len(node.path) for node in nodes
        ):
            yield [_in_order(list(units)) for units in places.values()]
        depth += 1
        nodes = [node for node in nodes if len(node.path) >= depth]


def _in_order(ops: list[ir.Operation]) -> list[ir.Operation]:
    if len(ops) < 2:
        return ops
    wanted = {_key(op) for op in ops}
    found = (view.operation for view in block_of(ops[0]).operations)
    return [op for op in found if _key(op) in wanted]


class _Sealing:
    """Of the ops of one block that are, or hold, the members of one group."""

    def __init__(self, block: ir.Block, ops: list[ir.Operation]) -> None:
        self._ops = ops
        self._block = block
        self._first, self._last = ops[0], ops[-1]
        self._inside = {_key(op) for op in ops}
        """Python's objects for one op are several; its first result is the same."""

    def run(self) -> bool:
        """Makes the group one run of ops between two barriers; False where it is sealed, or where
        its ops cannot be brought together."""
        entering = dict.fromkeys(
            operand for op in self._ops for operand in _used(op) if not self._is_inside(operand)
        )
        free = [each for each in entering if not _is_made_by(each, "stablehlo.constant")]
        if not free or all(_is_made_by(each, BARRIER) for each in free) or not self._gather():
            return False
        self._enter(free)
        self._leave()
        return True

    def _is_inside(self, value: Value) -> bool:
        owner = _owner(value)
        return owner is not None and _key(owner) in self._inside

    def _gather(self) -> bool:
        """Moves what lies between the members: before them what none of them feeds, after them
        the rest."""
        fed: set[Value] = set()
        """What depends on a member, and the members."""
        outside: set[Value] = set()
        before: list[ir.Operation] = []
        behind: list[ir.Operation] = []
        for op in _between(self._block, self._first, self._last):
            used = _used(op)
            if _key(op) in self._inside:
                if any(each in outside for each in used):
                    return False  # through something outside: no run of ops can be made
                fed.update(op.results)
            elif any(each in fed for each in used):
                fed.update(op.results)
                outside.update(op.results)
                behind.append(op)
            else:
                before.append(op)
        for op in before:
            op.move_before(self._first)
        last = self._last
        for op in behind:
            op.move_after(last)
            last = op
        return True

    def _enter(self, entering: list[Value]) -> None:
        uses = [_uses(each) for each in entering]
        made = barrier(entering, ir.InsertionPoint(self._first), self._first)
        for found, result in zip(uses, made.results, strict=True):
            for op, number in found:
                if _key(_within(op, self._block)) in self._inside:
                    op.operands[number] = result

    def _leave(self) -> None:
        leaving: list[Value] = []
        uses: list[list[tuple[ir.Operation, int]]] = []
        for op in self._ops:
            for result in op.results:
                outside = [
                    (user, number)
                    for user, number in _uses(result)
                    if _key(_within(user, self._block)) not in self._inside
                ]
                if outside:
                    leaving.append(result)
                    uses.append(outside)
        if not leaving:
            return
        made = barrier(leaving, ir.InsertionPoint(self._last), self._last)
        made.move_after(self._last)
        for found, result in zip(uses, made.results, strict=True):
            for user, number in found:
                user.operands[number] = result


def _key(op: ir.Operation) -> Value | None:
    """The same for every Python object of one op; None for an op without results."""
    return op.results[0] if len(op.results) else None


def _uses(value: Value) -> list[tuple[ir.Operation, int]]:
    return [(use.owner.operation, use.operand_number) for use in value.uses]


def barrier(values: list[Value], point: ir.InsertionPoint, like: ir.Operation) -> ir.Operation:
    """A barrier over `values`, with the location of `like`."""
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


def _is_made_by(value: Value, name: str) -> bool:
    owner = _owner(value)
    return owner is not None and owner.name == name
