"""Annotations that XLA cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedscope.xla.late_fusion import DOTS
from schedscope.xla.xla_view import MarkedOp, View


class Problem(NamedTuple):
    """An annotation that XLA cannot read."""

    marked: MarkedOp
    what: str
    is_read: bool
    """Whether XLA reads it, and refuses the module: the annotations of ops that are members for
    no group on the target are dropped unread (measured)."""
    aborts: bool = False
    """Whether it ends the process instead."""


def problems(view: View) -> Iterator[Problem]:
    """Malformed annotations, and ids too large for the target."""
    target = view.target
    names = view.flat.names
    scheduled: set[int] | None = None
    for marked in view.marked:
        mark = marked.mark
        is_read = names[marked.number] in target.members
        if mark.malformed is not None:
            yield Problem(marked, mark.malformed, is_read)
        elif mark.group is not None and mark.group >= target.id_limit:
            what = f'"{mark.text}" has a group id beyond {target.id_limit - 1}'
            if target.family == "gpu":
                yield Problem(marked, what, is_read)
                continue
            if scheduled is None:
                scheduled = _scheduled(view)
            yield Problem(marked, what, is_read and mark.group in scheduled, aborts=True)


def _scheduled(view: View) -> set[int]:
    """The groups that libtpu's scheduler meets, in whichever computation: it runs where a
    collective is awaited anywhere in the module, and what it cannot hold ends it."""
    target = view.target
    if target.awaited.isdisjoint(view.flat.names):
        return set()
    busy: set[int] = set()
    left: set[int] = set()
    for computation in view.computations:
        for group, nodes in computation.tagged.items():
            kinds = {computation.name(node) for node in nodes}
            if not target.asynchronous.isdisjoint(kinds):
                busy.add(group)
            if not DOTS.isdisjoint(kinds) or not target.awaited.isdisjoint(kinds & target.members):
                left.add(group)
    return busy & left
