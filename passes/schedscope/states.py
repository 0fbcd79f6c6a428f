"""What a value depends on, as the sweep keeps it.

Items are numbered as the sweep meets them. A state is the set of items a value does NOT depend
on, of those that came before it; in a chain that set stays small however long the chain is, so a
sweep is linear where programs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


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


def depends_on_any(state: State, items: int) -> bool:
    """True when a value depends on one of `items`, a bit mask."""
    if items.bit_length() > state.until:
        items &= (1 << state.until) - 1
    return items & state.missing != items


def lifted(state: State, until: int) -> int:
    """`missing` of `state` over the first `until` items."""
    return state.missing | ((1 << until) - (1 << state.until))


def join(states: Iterable[State]) -> State:
    """The state of a value made of many."""
    result = NOTHING
    for state in states:
        if state is not result:
            result = joined(result, state)
    return result


def chosen(states: Sequence[State], mask: int) -> Iterable[State]:
    """The states whose numbers are in `mask`."""
    return (states[number] for number in bits(mask))


def bits(mask: int) -> Iterator[int]:
    """The numbers in `mask`, lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
