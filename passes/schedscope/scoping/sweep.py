"""One forward sweep over the ops of a body: the dataflow between its items.

The items are the arguments, the holders and the collectives, and whatever of these an inlined
body brings along, as its own sweep summed it up.
"""

from __future__ import annotations

from schedscope._mlir import ADVANCE, PRE_ORDER, SKIP, Value, block_of, ir
from schedscope.callgraph import PARTITIONED, Collective
from schedscope.scoping.bodies import Body, Fate, GroupSet, Link
from schedscope.scoping.crossing import entering_values, passed_values
from schedscope.scoping.dataflow import Dataflow, Flow, Member
from schedscope.states import NOTHING, State, appended, bits, chosen, depends, join, joined, reached


def sweep(dataflow: Dataflow, body: Body) -> Flow:
    """Sweeps `body` once; asks `dataflow` for the summaries of the bodies it inlines."""
    return _Sweep(dataflow, body).run()


class _Sweep:
    def __init__(self, dataflow: Dataflow, body: Body) -> None:
        self._dataflow = dataflow
        self._body = body
        self._flow = Flow()
        self._states: dict[Value, State] = {}
        scope = body.scope
        # By position, for an op met in a walk is told fastest by its number.
        self._links = {link.site.position: link for link in body.links}
        self._collectives = {each.position: each for each in scope.collectives}
        self._tags = {
            position: tag.group
            for tag in scope.tags
            if tag.group is not None
            for position in tag.positions
        }
        self._regions = set(scope.region_ops.values())
        self._roots: dict[Value, Member] = {}
        """The collectives that make a value, inlined ones too."""
        self._special = {*self._links, *self._collectives, *self._regions}

    def run(self) -> Flow:
        self._enter()
        scope, states = self._body.scope, self._states
        special, group_at = self._special, self._tags.get
        position = start = scope.position
        # Where the owner has other regions, their ops are met too.
        blocks = None if len(scope.op.regions) == 1 else frozenset(scope.blocks)
        last: ir.Operation = scope.op

        def visit(op: ir.Operation) -> ir.WalkResult:
            nonlocal position, last
            here = position
            position += 1
            if here == start or (blocks is not None and block_of(op) not in blocks):
                return ADVANCE
            last = op
            if here in special:
                nested = self._meet(op, here)
                position += nested
                return SKIP if nested else ADVANCE
            state = NOTHING
            for operand in op.operands:
                found = states.get(operand)
                if found is not None and found is not state:
                    state = found if state is NOTHING else joined(state, found)
            group = group_at(here)
            if group is not None:
                state = self._tagged(group, state)
            if state is not NOTHING:
                try:
                    states[op.result] = state
                except ValueError:  # not one result
                    for result in op.results:
                        states[result] = state
            return ADVANCE

        scope.op.walk(visit, PRE_ORDER)
        if last is not scope.op:
            returned = list(last.operands)
            self._flow.results = [states.get(value, NOTHING) for value in returned]
            self._flow.root = self._roots.get(returned[0]) if len(returned) == 1 else None
        return self._flow

    def _enter(self) -> None:
        scope = self._body.scope
        arguments = entering_values(scope) if scope.has_callers else []
        count = self._flow.arguments = self._flow.items = len(arguments)
        everything = (1 << count) - 1
        for number, value in enumerate(arguments):
            self._states[value] = State(everything & ~(1 << number), count)

    def _item(self) -> int:
        self._flow.items += 1
        return self._flow.items - 1

    def _meet(self, op: ir.Operation, here: int) -> int:
        """Handles an op that is an item or has regions; returns how many ops are nested in it."""
        operands = [self._states.get(value, NOTHING) for value in op.operands]
        before, nested = join(operands), 0
        if here in self._regions:
            before, nested = self._captured(op, before)
        results = [before] * len(op.results)
        link = self._links.get(here)
        if link is not None:
            if link.site.body is not None:
                nested = self._captured(op, before)[1]
            results = self._through(link, operands)
        results = self._own(op, here, link, before, results)
        for value, state in zip(op.results, results, strict=True):
            self._states[value] = state
        return nested

    def _own(
        self, op: ir.Operation, here: int, link: Link | None, before: State, results: list[State]
    ) -> list[State]:
        """The states of an op's results once the op itself is counted as a collective and as
        one of the body's own ops."""
        collective = self._collectives.get(here)
        if collective is not None:
            item = self._item()
            member = Member(collective.kind, collective, item=item, batch=item, before=before)
            self._flow.members.append(member)
            if len(results) == 1 and collective.kind != PARTITIONED:
                self._roots[op.results[0]] = member
            results = [reached(state, item) for state in results]
        group = self._tags.get(here)
        if group is None or (link is not None and group in link.body.handed_up):
            return results
        if link is not None and link.bare is not None:
            # XLA puts the id on what makes the result.
            item = self._holder(group, link, join(results))
        else:
            item = self._holder(group, None, before)
        return [reached(state, item) for state in results]

    def _tagged(self, group: int, before: State) -> State:
        """The state of the results of a plain op of `group`."""
        known = self._flow.holder_state.get((group, None))
        if known is before or (
            known is not None and not known.missing and known.until >= before.until
        ):
            item = self._flow.holder_item[group, None]
            return before if depends(before, item) else reached(before, item)
        return reached(before, self._holder(group, None, before))

    def _holder(self, group: int, link: Link | None, before: State) -> int:
        """The item of a holder, which depends on `before` too from now on."""
        key = (group, link)
        item = self._flow.holder_item.get(key)
        if item is None:
            item = self._flow.holder_item[key] = self._item()
            self._flow.holder_state[key] = before
        else:
            self._flow.holder_state[key] = joined(self._flow.holder_state[key], before)
        return item

    def _through(self, link: Link, operands: list[State]) -> list[State]:
        """The states of a site's results, and the items its body makes."""
        site = link.site
        if site.body is not None:
            operands = [
                self._states.get(value, NOTHING) for value in passed_values(site.op, site.body)
            ]
        if not link.body.scope.blocks:  # declared, not defined
            return [join(operands)] * len(site.op.results)
        summary = self._dataflow.summary(link.body)
        results = [join(chosen(operands, passed)) for passed in summary.passes]
        batch = self._flow.items
        fed = [0] * len(results)
        own: list[tuple[int, int]] = []
        for marker in summary.markers:
            before = join(chosen(operands, marker.trait.fed_by))
            group = marker.group
            if marker.kind is None and isinstance(group, GroupSet) and group.fate is Fate.INHERITED:
                own.append((marker.trait.feeds, self._holder(group.group, None, before)))
                continue
            item = self._item()
            if marker.kind is not None:
                member = Member(marker.kind, None, link, group, item, batch, before)
                self._flow.members.append(member)
                if marker.is_root and len(results) == 1:
                    self._roots[site.op.results[0]] = member
                    if link.bare is not None and group is None:
                        site.root = Collective(marker.kind, site.position, site.tag)
                        member.collective = site.root
            elif isinstance(group, GroupSet):
                key = (group.group, link)
                self._flow.holder_item[key], self._flow.holder_state[key] = item, before
            for number in bits(marker.trait.feeds):
                fed[number] |= 1 << item - batch
        count = self._flow.items - batch
        results = [appended(state, batch, count, fed[n]) for n, state in enumerate(results)]
        for feeds, item in own:
            for number in bits(feeds):
                results[number] = reached(results[number], item)
        return results

    def _captured(self, op: ir.Operation, state: State) -> tuple[State, int]:
        """`state` joined with everything from outside that the regions of `op` use, and the
        number of ops in them."""
        found, count = [state], -1

        def visit(nested: ir.Operation) -> ir.WalkResult:
            nonlocal count
            count += 1
            for value in nested.operands:
                outer = self._states.get(value)
                if outer is not None:
                    found.append(outer)
            return ADVANCE

        op.walk(visit, PRE_ORDER)
        return join(found), count
