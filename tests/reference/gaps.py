"""Whether XLA, on some target, sees a gap in a group: a path that leaves it and comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from tests.reference.inlined import Computation, Op

MEMBERS = (
    "all_gather",
    "all_reduce",
    "all_to_all",
    "case",
    "collective_broadcast",
    "collective_permute",
    "convolution",
    "custom_call",
    "dot",
    "dot_general",
    "if",
    "reduce_scatter",
)
"""Ops whose annotation one target or another keeps."""


def has_gap(computation: Computation, group: Collection[Op]) -> bool:
    """Members are the group's ops of these kinds, and ops between them that read one value which
    no other op reads: XLA fills such chains in."""
    readers = Counter(producer for op in computation.ops for producer in op.operands)
    readers.update(computation.results)
    members: set[int] = set()
    outside: set[int] = set()
    for op in computation.ops:
        from_members = op.operands & members
        from_outside = op.operands & outside
        if op in group and op.kind in MEMBERS:
            if from_outside:
                return True
            members.add(op.number)
        elif from_members and not from_outside and op.arity == 1 and readers[min(op.operands)] == 1:
            members.add(op.number)
        elif from_members or from_outside:
            outside.add(op.number)
    return False
