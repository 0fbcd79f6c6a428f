"""Groups made of groups: none has a gap, none waits for another that waits for it.

Both are one thing, a circle in the graph in which each part is one node. The parts grow in program
order, so that they are runs as the user wrote them; of several ways to do it, the one is taken that
leaves the most ops with a partner to overlap with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

from schedscope.repair.links import Links
from schedscope.states import bits

_SMALL = 8
"""Of a group of up to so many ops, all partitions are tried: 4140 at the most."""
_LARGE = 64
"""Of a group of more, one way is tried."""


class Score(NamedTuple):
    """The larger the better."""

    partnered: int
    """How many ops are beside one that they can overlap with."""
    parts: int
    """How many parts, negative."""
    order: int
    """How often a part is interrupted, negative."""


def partition(links: Links, groups: Collection[int]) -> list[int]:
    """The parts of `groups`, as masks; an op that reaches itself is in none."""
    atoms = [
        each
        for each, group in enumerate(links.groups)
        if group in groups and not links.reach[each] >> each & 1
    ]
    if len(atoms) > _LARGE:
        return _runs(links, atoms)
    partners = {each: links.partners(each) for each in atoms}
    candidates = [_runs(links, atoms), _grown(links, atoms, partners), _levels(links, atoms)]
    if len(atoms) <= _SMALL:
        candidates += _all(links, atoms)
    best, worth = candidates[0], _score(candidates[0], partners, atoms)
    for parts in candidates[1:]:
        score = _score(parts, partners, atoms)
        if score > worth and is_free(links, parts):
            best, worth = parts, score
    return best


def is_free(links: Links, parts: list[int]) -> bool:
    """Whether the parts make no circle."""
    if any(links.has_gap(part) for part in parts):
        return False
    after = [links.after(part) for part in parts]
    waiting = [
        {other for other, mask in enumerate(parts) if other != number and after[number] & mask}
        for number in range(len(parts))
    ]
    # A part is taken once nothing is left that depends on it.
    left = set(range(len(parts)))
    while left:
        ready = [each for each in left if not waiting[each] & left]
        if not ready:
            return False
        left.difference_update(ready)
    return True


def _score(parts: list[int], partners: dict[int, int], atoms: list[int]) -> Score:
    partnered = sum(1 for part in parts for atom in bits(part) if partners[atom] & part)
    home = {atom: number for number, part in enumerate(parts) for atom in bits(part)}
    order = [home[atom] for atom in atoms]
    breaks = sum(1 for one, other in pairwise(order) if one != other)
    return Score(partnered, -len(parts), -breaks)


def _runs(links: Links, atoms: list[int]) -> list[int]:
    """Each op joins the last part of its group, or begins one; where it cannot join, the parts of
    the other groups end, too, so that none of them waits for what comes."""
    done: list[int] = []
    parts: dict[int, int] = {}
    for atom in atoms:
        group, bit = links.groups[atom], 1 << atom
        grown = {**parts, group: parts.get(group, 0) | bit}
        alone = len(grown) == 1
        if not (links.has_gap(grown[group]) if alone else not is_free(links, [*grown.values()])):
            parts = grown
        else:
            done += parts.values()
            parts = {group: bit}
    return [*done, *parts.values()]


def _grown(links: Links, atoms: list[int], partners: dict[int, int]) -> list[int]:
    """Each op joins a part of its group: one that has a partner for it, else the last."""
    parts: list[int] = []
    of_group: dict[int, list[int]] = {}
    for atom in atoms:
        mine = of_group.setdefault(links.groups[atom], [])
        wanted = sorted(mine, key=lambda each: (not partners[atom] & parts[each], -each))
        for number in wanted:
            grown = [*parts[:number], parts[number] | 1 << atom, *parts[number + 1 :]]
            if is_free(links, grown):
                parts = grown
                break
        else:
            mine.append(len(parts))
            parts.append(1 << atom)
    return parts


def _levels(links: Links, atoms: list[int]) -> list[int]:
    """By how often the group was left on the way to an op."""
    level: dict[int, int] = {}
    for atom in atoms:
        found = 0
        for before in atoms:
            if before == atom:
                break
            if links.groups[before] != links.groups[atom]:
                continue
            if links.leaving[before] >> atom & 1:
                found = max(found, level[before] + 1)
            elif links.reach[before] >> atom & 1:
                found = max(found, level[before])
        level[atom] = found
    parts: dict[tuple[int, int], int] = {}
    for atom in atoms:
        key = links.groups[atom], level[atom]
        parts[key] = parts.get(key, 0) | 1 << atom
    return list(parts.values())


def _all(links: Links, atoms: list[int]) -> Iterator[list[int]]:
    """Every way to part them, the groups kept apart."""

    def extended(number: int, parts: list[int]) -> Iterator[list[int]]:
        if number == len(atoms):
            yield parts
            return
        atom = atoms[number]
        bit = 1 << atom
        for place, part in enumerate(parts):
            if links.groups[(part & -part).bit_length() - 1] == links.groups[atom]:
                yield from extended(number + 1, [*parts[:place], part | bit, *parts[place + 1 :]])
        yield from extended(number + 1, [*parts, bit])

    return extended(0, [])
