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


def problems(view: View) -> Iterator[Problem]:
    """Malformed annotations, and ids too large for the target."""
    target = view.target
    for marked in view.marked:
        mark = marked.mark
        is_read = marked.op.name in target.members
        if mark.malformed is not None:
            yield Problem(marked, mark.malformed, is_read)
        elif mark.group is not None and mark.group >= target.id_limit:
            what = f'"{mark.text}" has a group id beyond {target.id_limit - 1}'
            yield Problem(marked, what, is_read)
