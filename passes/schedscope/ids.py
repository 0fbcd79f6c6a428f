"""Annotations that XLA cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedscope.xla_view import MarkedOp, View


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
    kept = {group for each in view.computations for group in each.membership.members}
    for marked in view.marked:
        mark = marked.mark
        is_read = marked.op.name in target.members
        if mark.malformed is not None:
            yield Problem(marked, mark.malformed, is_read)
        elif mark.group is not None and mark.group >= target.id_limit:
            what = f'"{mark.text}" has a group id beyond {target.id_limit - 1}'
            if target.family == "tpu":  # libtpu parses it, and dies of it at scheduling
                yield Problem(marked, what, mark.group in kept, aborts=True)
            else:
                yield Problem(marked, what, is_read)
