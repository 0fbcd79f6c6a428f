"""Which holders and collectives of a body depend on which; one forward sweep a body."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from schedscope.callgraph import Collective
from schedscope.scoping.bodies import Body, Fate, GroupSet, Holder, Link
from schedscope.states import NOTHING, State, depends_on_any, joined, lifted

Group: TypeAlias = GroupSet | int | None
"""What a collective belongs to: a set, an id that spans calls, or nothing."""


@dataclass(eq=False, slots=True)
class Member:
    """A collective as a body sees it: its own, or one within an inlined body."""

    kind: str
    collective: Collective | None
    """None for one in an inlined body, unless the op that inlines it hands its id on to it."""
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
    root: Member | None = None
    """The collective that makes the one result."""
    arguments: int = 0

    def mask(self, holders: Iterable[Holder]) -> int:
        """The items of `holders`, as a bit mask."""
        mask = 0
        for holder in holders:
            mask |= 1 << self.holder_item[holder.key]
        return mask

    def waits(self, holder: Holder, items: int) -> bool:
        """True when `holder` depends on one of `items`, a bit mask."""
        return depends_on_any(self.holder_state[holder.key], items)

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
    is_root: bool = False
    """Whether it is the collective that makes the body's one result."""


@dataclass(eq=False, slots=True)
class Summary:
    """What a caller's sweep must know of a body."""

    markers: list[Marker]
    passes: list[int]
    """For each result, the arguments it depends on."""


class Dataflow:
    """Sweeps bodies when asked, each once."""

    def __init__(self, sweep: Callable[[Dataflow, Body], Flow]) -> None:
        self._sweep = sweep
        self._flows: dict[Body, Flow] = {}
        self._summaries: dict[Body, Summary] = {}

    def knows(self, body: Body) -> bool:
        """True where `flow(body)` costs nothing."""
        return body in self._flows

    def flow(self, body: Body) -> Flow:
        known = self._flows.get(body)
        if known is None:
            # Now, not when the walk meets the call: walks would nest as deep as calls do.
            for link in body.links:
                self.summary(link.body)
            known = self._flows[body] = self._sweep(self, body)
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
        trait = flow.trait(member.before, (member.item,))
        marker = Marker(trait, group_of(body, member), member.kind, member is flow.root)
        if marker not in seen:
            seen.add(marker)
            markers.append(marker)
    return Summary(markers, [flow.passes(number) for number in range(len(flow.results))])


def group_of(body: Body, member: Member) -> Group:
    """What a collective of `body`, or of a body linked there, belongs to."""
    if member.link is not None and member.collective is not None:
        assert member.link.bare is not None
        return body.of_link[member.link, member.link.bare]
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
