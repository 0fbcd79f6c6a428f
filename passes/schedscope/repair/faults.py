"""The groups that XLA would refuse, computation by computation."""

from __future__ import annotations

from schedscope.xla.gap_search import gaps_of
from schedscope.xla.group_cycles import waits_of
from schedscope.xla.xla_view import Computation, View

Faults = list[tuple[Computation, tuple[int, ...]]]


def faults(view: View, waiting: bool) -> Faults:
    """Groups with a gap, each for itself, of the first check that finds any; or knots of groups
    that wait for each other."""
    if waiting:
        return [
            (computation, wait.groups)
            for computation in view.computations
            for wait in (waits_of(view, computation) if view.target.stuck_on_cycles else ())
        ]
    for computations in view.checked:
        found = [(each, tuple(gap.group for gap in gaps_of(each))) for each in computations]
        if any(groups for _, groups in found):
            return [(computation, groups) for computation, groups in found if groups]
    return []
