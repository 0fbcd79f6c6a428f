"""Group ids: which the pass tells apart, which span calls, and which numbers are free."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from schedscope.annotation import GROUP_LIMIT
from schedscope.callgraph import Index
from schedscope.errors import InputError


@dataclass(slots=True)
class Numbering:
    """Hands out ids that no group of the module has."""

    taken: set[int]
    renumbered: dict[int, int] = field(default_factory=dict)
    """Ids of the module that XLA:GPU cannot read, and what takes their place."""
    _next: int = 0

    def __post_init__(self) -> None:
        self._next = max(self.taken, default=-1) + 1

    def fresh(self) -> int:
        """The next id above the largest; the lowest unused one once 32 bits are spent."""
        if self._next >= GROUP_LIMIT:
            self._next = 0
        while self._next in self.taken:
            self._next += 1
        if self._next >= GROUP_LIMIT:
            raise InputError(f"the module needs more than {GROUP_LIMIT} scheduling group ids")
        self.taken.add(self._next)
        self._next += 1
        return self._next - 1


def number(index: Index, keep_global: Collection[int]) -> Numbering:
    """Gives every tag its group, and finds the ids that are taken.

    An id spans calls where one of its tags says so, or where it is in `keep_global`.
    """
    spanning = set(keep_global)
    large: dict[int, None] = {}
    taken = {group for group in keep_global if group < GROUP_LIMIT}
    frontends = [tag.frontend for tag in index.tags()]
    for frontend in (*frontends, *(frontend for _, frontend in index.stray)):
        annotation = frontend.annotation
        if annotation is None or annotation.group is None:
            continue
        if frontend.is_global:
            spanning.add(annotation.group)
        if annotation.group < GROUP_LIMIT:
            taken.add(annotation.group)
        else:
            large.setdefault(annotation.group)
    numbering = Numbering(taken)
    for group in large:
        numbering.renumbered[group] = numbering.fresh()
    for tag in index.tags():
        annotation = tag.frontend.annotation
        if annotation is not None and annotation.group is not None:
            group = numbering.renumbered.get(annotation.group, annotation.group)
            if annotation.group in spanning:
                tag.spanning = group
            else:
                tag.group = group
    return numbering
