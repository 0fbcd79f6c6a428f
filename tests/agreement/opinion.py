"""What lint's picture of a module says XLA will say."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedscope._mlir import ir, make_context
from schedscope.xla import aborts, gap_search, group_cycles, ids, late_fusion, merging
from schedscope.xla.targets import Target
from schedscope.xla.xla_view import view

from tests.xla.compilers import Kind


@dataclass(frozen=True)
class Opinion:
    kind: Kind
    groups: tuple[int, ...] = ()
    """Every group that XLA could name."""
    others: tuple[Kind, ...] = field(default=())
    """Further kinds of refusal that the module is good for."""

    @property
    def ok(self) -> bool:
        return self.kind == "ok"


def opinion(source: str | bytes, target: Target) -> Opinion:
    with make_context():
        seen = view(ir.Module.parse(source), target)
        found: dict[Kind, tuple[int, ...]] = {}  # in the order in which the compilers come to it
        if any(aborts.crashes(seen)) or any(
            marked.op.name in target.crashes for marked in seen.marked
        ):
            found["abort"] = ()
        read = [problem for problem in ids.problems(seen) if problem.is_read]
        if any(problem.marked.mark.malformed is not None for problem in read):
            found["malformed"] = ()
        merges = list(merging.merges(seen))
        if merges:
            merged = {group for merge in merges for group in merge.groups}
            numbers = any(len(merge.groups) > 1 for merge in merges)
            found.setdefault("two_ids" if numbers else "malformed", tuple(sorted(merged)))
        gapped = {gap.group for gap in gap_search.gaps(seen)}
        if gapped:
            found["gap"] = tuple(sorted(gapped))
        if any(each.aborts for each in aborts.mixed_orders(seen)) or any(
            problem.aborts for problem in read
        ):
            found.setdefault("abort", ())
        if any(aborts.crowds(seen)):
            found["overlap"] = ()
        if read and not all(problem.aborts for problem in read):
            found.setdefault("malformed", ())
        waiting = {group for wait in group_cycles.waits(seen) for group in wait.groups}
        waiting |= {group for group, _ in late_fusion.torn(seen)}
        if waiting:
            found["stuck"] = tuple(sorted(waiting))
    if not found:
        return Opinion("ok")
    kind = next(iter(found))
    return Opinion(kind, found[kind], tuple(found)[1:])
