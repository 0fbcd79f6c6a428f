"""Which holders and collectives of a body depend on which, in one forward sweep.

Every argument, holder and collective of the body is an item, numbered as the sweep meets it. A
value's state is the set of items it does NOT depend on, of those that came before it; in a chain
that set stays small however long the chain is, so a sweep is linear where programs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from schedscope._mlir import ADVANCE, PRE_ORDER, ir
from schedscope.bodies import Body, Fate, GroupSet, Holder, Link
from schedscope.callgraph import Collective, Scope
from schedscope.inlining import BRANCHES


class State(NamedTuple):
    """Independence of one value: bit i of `missing` says "not of item i", for i < `until`;
    no value depends on an item that came after it."""

    missing: int
    until: int


NOTHING = State(0, 0)
"""The state of a value that depends on no item."""


def joined(one: State, other: State) -> State:
    """The state of a value made of two."""
    if one.until > other.until:
        one, other = other, one
    missing = (one.missing & other.missing) | (other.missing >> one.until << one.until)
    return other if missing == other.missing else State(missing, other.until)


def reached(state: State, item: int) -> State:
    """`state`, made to depend on `item` as well."""
    if item < state.until:
        return State(state.missing & ~(1 << item), state.until)
    return appended(state, item, 1, 1)


def appended(state: State, first: int, count: int, fed: int) -> State:
    """`state` after `count` new items from `first` on, of which bit i of `fed` says whether the
    value depends on item `first + i`."""
    missing = state.missing
    if first > state.until:
        missing |= ((1 << first - state.until) - 1) << state.until
    unfed = ((1 << count) - 1) & ~fed
    if unfed:
        missing |= unfed << first
    return State(missing, first + count)


def depends(state: State, item: int) -> bool:
    return item < state.until and not state.missing >> item & 1


def lifted(state: State, until: int) -> int:
    """`missing` of `state` over the first `until` items."""
    return state.missing | ((1 << until) - (1 << state.until))


Group: TypeAlias = GroupSet | int | None
"""What a collective belongs to: a set, an id that spans calls, or nothing."""


@dataclass(eq=False, slots=True)
class Member:
    """A collective as a body sees it: its own, or one within an inlined body."""

    kind: str
    collective: Collective | None
    """None for one in an inlined body."""
    link: Link | None = None
    inner: Group = None
    """The linked body's group it belongs to."""
    item: int = 0
    batch: int = 0
    """The first item made for the same call: pairs within one call are that body's affair."""
    before: State = NOTHING


class Trait(NamedTuple):
    """What a caller must know of a set or a collective inside a body, as bit masks."""

    fed_by: int
    """Arguments it depends on."""
    feeds: int
    """Results that depend on it."""


@dataclass(eq=False, slots=True)
class Flow:
    """The outcome of a sweep."""

    items: int = 0
    holder_item: dict[tuple[int, Link | None], int] = field(default_factory=dict)
    holder_state: dict[tuple[int, Link | None], State] = field(default_factory=dict)
    members: list[Member] = field(default_factory=list)
    results: list[State] = field(default_factory=list)
    arguments: int = 0

    def related(self, holder: Holder, members: Sequence[Holder]) -> bool:
        """True when `holder` depends on one of the `members`, which come before it, or one of
        them depends on it. Of those only a body's own ops can."""
        state = self.holder_state[holder.key]
        for member in members:
            if depends(state, self.holder_item[member.key]):
                return True
            if member.link is None and depends(
                self.holder_state[member.key], self.holder_item[holder.key]
            ):
                return True
        return False

    def passes(self, result: int) -> int:
        """The arguments that result number `result` depends on."""
        return self._arguments(self.results[result])

    def trait(self, before: State, items: Iterable[int]) -> Trait:
        """The trait of something that depends on `before` and is the given items."""
        feeds = 0
        for number, result in enumerate(self.results):
            missing = lifted(result, self.items)
            if any(not missing >> item & 1 for item in items):
                feeds |= 1 << number
        return Trait(self._arguments(before), feeds)

    def _arguments(self, state: State) -> int:
        everything = (1 << self.arguments) - 1
        return everything & ~lifted(state, max(self.arguments, state.until))


class Marker(NamedTuple):
    """A set or collective of an inlined body, with its trait."""

    trait: Trait
    group: Group
    kind: str | None
    """The collective's kind; None for a set."""


@dataclass(eq=False, slots=True)
class Summary:
    """What a caller's sweep must know of a body."""

    markers: list[Marker]
    passes: list[int]
    """For each result, the arguments it depends on."""


class Dataflow:
    """Sweeps bodies when asked, each once."""

    def __init__(self) -> None:
        self._flows: dict[Body, Flow] = {}
        self._summaries: dict[Body, Summary] = {}

    def knows(self, body: Body) -> bool:
        """True where `flow(body)` costs nothing."""
        return body in self._flows

    def flow(self, body: Body) -> Flow:
        known = self._flows.get(body)
        if known is None:
            known = self._flows[body] = _Sweep(self, body).run()
        return known

    def summary(self, body: Body) -> Summary:
        known = self._summaries.get(body)
        if known is None:
            known = self._summaries[body] = _summarized(body, self.flow(body))
        return known


def _summarized(body: Body, flow: Flow) -> Summary:
    markers = []
    for formed_sets in body.sets.values():
        for formed in formed_sets:
            if formed.fate is Fate.PRIVATE:
                continue
            before, items = NOTHING, []
            for holder in formed.holders:
                before = joined(before, flow.holder_state[holder.key])
                items.append(flow.holder_item[holder.key])
            markers.append(Marker(flow.trait(before, items), formed, None))
    seen = set()
    for member in flow.members:
        marker = Marker(
            flow.trait(member.before, (member.item,)), group_of(body, member), member.kind
        )
        if marker not in seen:
            seen.add(marker)
            markers.append(marker)
    return Summary(markers, [flow.passes(number) for number in range(len(flow.results))])


def group_of(body: Body, member: Member) -> Group:
    """What a collective of `body`, or of a body linked there, belongs to."""
    if member.collective is not None:
        tag = member.collective.tag
        if tag is None or tag.group is None:
            return None if tag is None else tag.spanning
        return body.own[tag.group]
    inner = member.inner
    if not isinstance(inner, GroupSet) or inner.fate is Fate.PRIVATE:
        return inner
    assert member.link is not None
    return body.of_link[member.link, inner.group]


class _Sweep:
    def __init__(self, dataflow: Dataflow, body: Body) -> None:
        self._dataflow = dataflow
        self._body = body
        self._flow = Flow()
        self._states: dict[ir.Value, State] = {}
        self._links = {link.site.op: link for link in body.links}
        self._collectives = {member.op: member for member in body.scope.collectives}
        self._tags = {tag.op: tag.group for tag in body.scope.tags if tag.group is not None}
        self._regions = frozenset(body.scope.region_ops)

    def run(self) -> Flow:
        self._enter()
        states = self._states
        special = {*self._links, *self._collectives, *self._tags, *self._regions}
        returned: Sequence[ir.Value] = ()
        for block in self._body.scope.blocks:
            for view in block.operations:
                op = view.operation
                if op in special:
                    self._special(op)
                    continue
                state = NOTHING
                for operand in op.operands:
                    found = states.get(operand)
                    if found is not None and found is not state:
                        state = joined(state, found)
                if state is not NOTHING:
                    for result in op.results:
                        states[result] = state
            returned = op.operands
        self._flow.results = [states.get(value, NOTHING) for value in returned]
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

    def _special(self, op: ir.Operation) -> None:
        operands = [self._states.get(value, NOTHING) for value in op.operands]
        link = self._links.get(op)
        if link is not None:
            results = self._through(link, operands)
        else:
            state = _join(operands)
            if op in self._regions:
                state = self._captured(op, state)
            results = [state] * len(op.results)
        self._mark_own(op, link, operands, results)
        for value, state in zip(op.results, results, strict=True):
            self._states[value] = state

    def _mark_own(
        self, op: ir.Operation, link: Link | None, operands: list[State], results: list[State]
    ) -> None:
        """The op as a collective, and as one of the body's own ops."""
        before = _join(operands)
        collective = self._collectives.get(op)
        if collective is not None:
            item = self._item()
            self._flow.members.append(
                Member(collective.kind, collective, item=item, batch=item, before=before)
            )
            results[:] = [reached(state, item) for state in results]
        group = self._tags.get(op)
        if group is None or (link is not None and link.body.handed_up(group) is not None):
            return
        item = self._holder(group, link if op in self._body.bare else None, before)
        results[:] = [reached(state, item) for state in results]

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
            return [_join(operands)] * len(site.op.results)
        summary = self._dataflow.summary(link.body)
        results = [_join(_chosen(operands, passed)) for passed in summary.passes]
        batch = self._flow.items
        fed = [0] * len(results)
        own: list[tuple[int, int]] = []
        for marker in summary.markers:
            before = _join(_chosen(operands, marker.trait.fed_by))
            group = marker.group
            if marker.kind is None and isinstance(group, GroupSet) and group.fate is Fate.INHERITED:
                own.append((marker.trait.feeds, self._holder(group.group, None, before)))
                continue
            item = self._item()
            if marker.kind is not None:
                member = Member(marker.kind, None, link, group, item, batch, before)
                self._flow.members.append(member)
            elif isinstance(group, GroupSet):
                key = (group.group, link)
                self._flow.holder_item[key], self._flow.holder_state[key] = item, before
            for number in _bits(marker.trait.feeds):
                fed[number] |= 1 << item - batch
        count = self._flow.items - batch
        results = [appended(state, batch, count, fed[n]) for n, state in enumerate(results)]
        for feeds, item in own:
            for number in _bits(feeds):
                results[number] = reached(results[number], item)
        return results

    def _captured(self, op: ir.Operation, state: State) -> State:
        """`state` joined with everything from outside that the regions of `op` use."""
        found = [state]

        def visit(nested: ir.Operation) -> ir.WalkResult:
            for value in nested.operands:
                outer = self._states.get(value)
                if outer is not None:
                    found.append(outer)
            return ADVANCE

        op.walk(visit, PRE_ORDER)
        return _join(found)


def _join(states: Iterable[State]) -> State:
    result = NOTHING
    for state in states:
        if state is not result:
            result = joined(result, state)
    return result


def _chosen(states: Sequence[State], mask: int) -> Iterable[State]:
    return (states[number] for number in _bits(mask))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def entering_values(scope: Scope) -> list[ir.Value]:
    """The values that come into a scope: its block arguments, then what it uses from outside."""
    arguments = list(scope.blocks[0].arguments) if scope.blocks else []
    return arguments if scope.isolated else [*arguments, *_captures(scope)]


def passed_values(op: ir.Operation, scope: Scope) -> list[ir.Value]:
    """What the op that owns a spliced region passes for each of its entering values."""
    passed = [] if op.name in BRANCHES else list(op.operands)
    return passed if scope.isolated else [*passed, *_captures(scope)]


def _captures(scope: Scope) -> list[ir.Value]:
    inside: set[ir.Value] = set()
    outside: dict[ir.Value, None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        for value in op.operands:
            if value not in inside:
                outside.setdefault(value)
        inside.update(op.results)
        for region in op.regions:
            for block in region.blocks:
                inside.update(block.arguments)
        return ADVANCE

    for block in scope.blocks:
        inside.update(block.arguments)
        for view in block.operations:
            view.operation.walk(visit, PRE_ORDER)
    return list(outside)
