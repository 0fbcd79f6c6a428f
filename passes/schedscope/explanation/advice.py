"""What to do about an error of XLA about scheduling groups: only what is known to be true."""

from __future__ import annotations

from schedscope.explanation.recorded import Member, Path, Record
from schedscope.explanation.refusal import Kind, Refusal
from schedscope.report import ranges

_WAITS = "Ops of each group wait for ops of the other: give the ops that wait ids of their own."
_BARRIER = (
    "Put jax.lax.optimization_barrier on the result of the group's matmul, so that nothing is "
    "fused with it."
)
_TEXTS: dict[Kind, str] = {
    "two_ids": (
        "XLA:GPU merged collectives of these groups into one and joined their ids. `schedscope "
        "fix` and its hook give such collectives combiner keys, which keep them apart."
    ),
    "malformed": (
        'An annotation is "G" or "G:I", a group id from 0 to 2147483647 and an iteration id; '
        "XLA:GPU says `stoi` of a larger id and of none. `schedscope fix` names the op that has "
        "another, and its Python line."
    ),
    "stuck": (
        "XLA:TPU's scheduler says so where groups wait for each other, and where a group's matmul "
        "is fused with an op that waits for something outside the group. Against the second, put "
        "jax.lax.optimization_barrier on the matmul's result."
    ),
    "fusion": (
        "XLA fused ops of both groups into one op, and an op is in one group only. It was seen on "
        "TPU where an elementwise op takes results of both."
    ),
    "cycle": _WAITS,
    "overlap": (
        "The group needs more of something at a time than XLA's scheduler lets overlap, as its "
        "message says; with fewer collectives in the group it needs less."
    ),
    "order": (
        "A group has keep_original_sequence_order_in_group on some ops and not on others: set it "
        "on all of them or on none."
    ),
    "propagation": (
        "With propagation on, XLA puts every op between two ops of a group into it, and one of "
        "them is in another group already."
    ),
}
_FIXED = "Give XLA the module that `schedscope fix` wrote, or compile under its hook."
_CONVEX = (
    "Ops of one group must not wait for each other through ops outside it: give what comes before "
    "and what comes after ids of their own."
)
_WHOLE = (
    "Its ops must not wait for each other through ops outside the group. Without the marker, calls "
    "that wait for each other get ids of their own."
)
_ALONE = (
    "These are one body's own ops, which scoping leaves one group. Give what comes before and what "
    "comes after ids of their own, or put the repeated part into a jitted function: scoping then "
    "tells its calls apart."
)
_BACKWARD = (
    "jax.grad gives the backward ops the id of the forward ones. Put the tagged part into a jitted "
    "function: forward and backward are calls then, and scoping tells them apart."
)
_COPY = (
    "XLA:GPU's all_reduce works in place, so XLA copies an operand that has other users, and the "
    "copy is not in the group: take the op that makes the operand out of the group."
)
_SHARED = (
    "Calls that could be groups of their own are one group here; --every-call-site "
    "(every_call_site=True) gives each of them an id of its own."
)
_MADE = "XLA made the gap, by a copy or a fusion perhaps: the module itself has none in this group."


def advice(refusal: Refusal, record: Record, paths: list[Path]) -> list[str]:
    """A paragraph or more. `paths` are those of the report that belong to the refusal."""
    if refusal.kind == "stuck" and paths:
        apart = any(len(path.ids) > 1 for path in paths)
        return [_WAITS] if apart else [_BARRIER]
    if refusal.kind != "gap":
        return [_TEXTS[refusal.kind]]
    if any(id in record.kept_whole for id in refusal.groups):
        return [_WHOLE]
    for group in map(record.group, refusal.groups):
        if group is not None:
            return [_cure(paths[0])] if paths else _unseen(group, record)
    return [_FIXED] if any(map(record.made_of, refusal.groups)) else []


def _cure(gap: Path) -> str:
    first, *between, last = gap.steps
    if any(step.op == "copy" for step in between):
        return _COPY
    if last.is_backward and not first.is_backward:
        return _BACKWARD
    return _ALONE if first.calls == last.calls else _CONVEX


def _unseen(group: Member, record: Record) -> list[str]:
    """What to say of a gap that the report does not show."""
    texts = []
    same = record.made_of(group.original)
    if record.changed and len(same) > 1 and group.id == group.original:
        became = ranges(each.id for each in same)
        texts.append(
            f"In the module before scoping, groups {became} all have the id {group.original}. If "
            f"XLA got that module: {_FIXED[0].lower()}{_FIXED[1:]}"
        )
    if record.gaps is None:
        texts.append(_CONVEX)
    else:
        texts.append(f"Otherwise {_MADE}" if texts else _MADE)
    return [*texts, _SHARED] if group.shared else texts
