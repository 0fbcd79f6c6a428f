"""Collectives of different groups that XLA's combiner makes one."""

from __future__ import annotations

from typing import NamedTuple

from schedscope.xla.xla_view import Computation, Node, View


class Merge(NamedTuple):
    """Collectives of several groups that XLA makes one op, whose id it then cannot read."""

    groups: tuple[int, ...]
    """A single one where the other op has an annotation without a number, as "noop"."""
    nodes: tuple[Node, ...]
    """All that become the one op, those of no group too."""
    computation: Computation


def merges(view: View) -> list[Merge]:
    """One for each op that would carry several ids."""
    found = []
    for computation in view.computations:
        for node, parts in computation.graph.merged.items():
            groups = tuple(dict.fromkeys(part.group for part in parts if part.group is not None))
            others = {_words(view, part.op) for part in parts if part.group is None} - {None}
            if groups and len(groups) + len(others) > 1:
                found.append(Merge(groups, tuple(computation.parts(node)), computation))
    return found


def _words(view: View, op: int) -> str | None:
    mark = view.flat.marks.get(op)
    return None if mark is None else mark.text
