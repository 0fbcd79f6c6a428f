"""What must hold of any module that comes out of the pass, whatever program went in.

Each check returns what is wrong, in words; nothing if all is well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from tests.jax_versions import SHARDY
from tests.reference.inlined import Body, Computation, Op, group_of
from tests.reference.modules import described, groups
from tests.reference.rule import AS_NEEDED, Rule, partition

COLLECTIVES = (
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_broadcast",
    "collective_permute",
    "reduce_scatter",
)
KEYED = COLLECTIVES if SHARDY else (*COLLECTIVES, "convolution", "dot", "dot_general", "reduce")
"""What may get a combiner_key. Without manual computations the pass cannot know that XLA's
partitioner will make no collectives of the others."""
OWNED = ("_scheduling_group_id", "combiner_key", "_scheduling_group_scope")
"""The frontend attributes that the pass may write."""


def wrong(
    before: Sequence[Computation], after: Sequence[Computation], rule: Rule = AS_NEEDED
) -> list[str]:
    """Everything below, of a module before and after the pass."""
    found = list(_changed_program(before, after))
    if not found:
        for old, new in zip(before, after, strict=True):
            found += _wrong_sets(old, new, rule)
            found += _dependent_groups(new, rule)
            found += _merged_ids(old, new)
            found += _shared_keys(new)
            found += _missing_keys(new)
            found += _lost_keys(old, new)
    return found


def _changed_program(before: Sequence[Computation], after: Sequence[Computation]) -> Iterator[str]:
    """The same ops in the same places, with the same dataflow; attributes aside."""
    if [c.root.where for c in before] != [c.root.where for c in after]:
        yield "the computations are not the same"
        return
    for old, new in zip(before, after, strict=True):
        if [(op.where, op.kind, op.operands) for op in old.ops] != [
            (op.where, op.kind, op.operands) for op in new.ops
        ]:
            yield f"{old.label or 'main'}: the ops are not the same"
            continue
        for was, now in zip(old.ops, new.ops, strict=True):
            if _others(was) != _others(now):
                yield f"{was.label}: {_others(was)} became {_others(now)}"
            if (was.group is None) != (now.group is None) or _suffix(was) != _suffix(now):
                yield f"{was.label}: annotation {was.frontend} became {now.frontend}"


def _others(op: Op) -> dict[str, str]:
    return {name: value for name, value in op.frontend.items() if name not in OWNED}


def _suffix(op: Op) -> str:
    return op.frontend.get("_scheduling_group_id", "").partition(":")[2]


def _wrong_sets(old: Computation, new: Computation, rule: Rule) -> Iterator[str]:
    """The groups are the sets that the rule makes of the module as it was."""
    wanted = {
        frozenset(op.number for op in ops) for sets in partition(old, rule).values() for ops in sets
    }
    found = {frozenset(op.number for op in ops) for ops in groups(new)}
    for numbers in sorted(wanted - found, key=sorted):
        yield f"no group for {described(old.ops[number] for number in numbers)}"
    for numbers in sorted(found - wanted, key=sorted):
        yield f"a group of {described(old.ops[number] for number in numbers)}"


def _dependent_groups(new: Computation, rule: Rule) -> Iterator[str]:
    """No id is left on two instances of which one waits for the other. Found from the pairs of
    bodies that hold the id, without the rule: what a body holds because its call does too is
    its caller's."""
    for ops in groups(new):
        if any(
            "_scheduling_group_scope" in op.frontend or op.group in rule.keep_global for op in ops
        ):
            continue
        held: dict[Body, list[Op]] = {}
        for op in sorted(ops, key=lambda op: op.number):
            held.setdefault(_holder(op), []).append(op)
        for (one, some), (other, others) in combinations(held.items(), 2):
            if one not in _around(other) and other not in _around(one) and new.meet(some, others):
                yield f"one id on {described(some)} and on {described(others)}, which depend"


def _holder(op: Op) -> Body:
    body = op.body
    while body.parent is not None and (body.group == op.group or body.out_of_line):
        body = body.parent
    return body


def _around(body: Body) -> list[Body]:
    return [] if body.parent is None else [body.parent, *_around(body.parent)]


def _merged_ids(old: Computation, new: Computation) -> Iterator[str]:
    """Ops that had different ids still do."""
    for was, other in combinations([op for op in old.ops if op.group is not None], 2):
        apart = was.group != other.group
        if apart and new.ops[was.number].group == new.ops[other.number].group:
            yield f"{was.label} and {other.label} had different ids and now share one"


def _collectives(computation: Computation) -> list[Op]:
    return [op for op in computation.ops if op.kind in COLLECTIVES]


def _shared_keys(new: Computation) -> Iterator[str]:
    for one, other in combinations(_collectives(new), 2):
        key = one.frontend.get("combiner_key")
        if key is None or key != other.frontend.get("combiner_key"):
            continue
        if (one.group is not None or other.group is not None) and one.group != other.group:
            yield f"{one.label} and {other.label} of two groups share the combiner_key {key}"


def _missing_keys(new: Computation) -> Iterator[str]:
    """No collective of a group could merge with one outside: same kind, neither waiting for
    the other. An op's key keeps it from all that have another or none."""
    for one, other in combinations(_collectives(new), 2):
        if one.kind != other.kind or one.group == other.group or new.meet([one], [other]):
            continue
        for op in (one, other):
            if op.group is not None and "combiner_key" not in op.frontend:
                against = other if op is one else one
                yield f"{op.label} has no combiner_key against {against.label}"


def _lost_keys(old: Computation, new: Computation) -> Iterator[str]:
    """A key of the user's stays, as a prefix; an op that had none gets one only in a group."""
    for was, now in zip(old.ops, new.ops, strict=True):
        key, kept = was.frontend.get("combiner_key"), now.frontend.get("combiner_key")
        if key is not None and not (kept or "").startswith(key):
            yield f"{was.label}: the combiner_key {key} became {kept}"
        if key is None and kept is not None and now.kind not in KEYED:
            yield f"{was.label} is no collective and got the combiner_key {kept}"
        if group_of(now.frontend) is None and key != kept:
            yield f"{was.label} is in no group and its combiner_key {key} became {kept}"
