"""Did the pass harm what XLA accepted?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.reference.inlined import Computation
from tests.reference.rule import partition
from tests.xla.compilers import Verdict
from tests.xla.hlo import members

MOVES = ("collective", "permute", "all-gather", "all-reduce", "reduce-scatter", "all-to-all")


def harm(before: Sequence[Computation], raw: Verdict, fixed: Verdict) -> list[str]:
    """What XLA made of a module before and after the pass, and what is worse after it."""
    if not raw.ok:
        return []
    if not fixed.ok:
        return [f"XLA accepted the program, and now says: {fixed.message[:300]}"]
    return list(_lost_members(before, raw.hlo, fixed.hlo))


def _lost_members(before: Sequence[Computation], raw: str, fixed: str) -> Iterator[str]:
    """Of groups that had to stay whole. An id that stands for several sets in some computation
    is left out: XLA had made one group of instances that wait for each other, and drops what is
    alone in its group afterwards."""
    split = {
        group
        for computation in before
        for group, sets in partition(computation).items()
        if len(sets) > 1
    }
    had, has = _counts(raw), _counts(fixed)
    for (group, kind), count in sorted(had.items()):
        if int(group) not in split and has[group, kind] < count:
            yield f"group {group} had {count} of {kind} and has {has[group, kind]}"


def _counts(hlo: str) -> Counter[tuple[str, str]]:
    return Counter(
        (member.group, "collective" if member.opcode.startswith(MOVES) else "compute")
        for member in members(hlo)
    )
