"""What a gap's path says: whose fault the gap is, and the path in words."""

from __future__ import annotations

from schedscope.lint.diagnostic import Related, spot_of
from schedscope.lint.rule import Module
from schedscope.xla.gap_search import Gap
from schedscope.xla.xla_view import Node, Step


def is_collision(gap: Gap, module: Module) -> bool:
    """Whether scoping gives the two ends ids of their own; an end that was filled in has none."""
    ends = [module.scoped.id_of(node) for node in (gap.path[0], gap.path[-1])]
    return None not in ends and ends[0] != ends[1]


def steps(gap: Gap) -> list[Related]:
    """The path, from the first member to the last but one. Of collectives outside the group that
    XLA makes one, all: the path enters by one and leaves by another."""
    found: list[Related] = []
    for node in gap.path[:-1]:
        parts = gap.computation.parts(node.number) if _is_passed(node, gap) else []
        role = _role(node, gap) + (", one of several that XLA combines" if parts else "")
        found += [Related(role, spot_of(each)) for each in parts or [node]]
    return found


def _is_passed(node: Node, gap: Gap) -> bool:
    return node.group != gap.group and node.number != gap.path[0].number


def path_in_words(gap: Gap) -> str:
    outside = gap.path[1:-1]
    first, last = short(gap.path[0]), short(gap.path[-1])
    if len(outside) == 1:
        return f"{last} needs {first} through {short(outside[0])}, which is not in the group"
    return f"{last} needs {first} through {len(outside)} ops, not all of them in the group"


def short(node: Node) -> str:
    return node.name.removeprefix("stablehlo.")


def _role(node: Node, gap: Gap) -> str:
    if node.number == gap.path[0].number:
        return f"from here, in group {gap.group}"
    if node.name == "copy":
        return "through the copy that XLA makes of the operand, for the op works in place"
    return "through this, outside the group" if node.group is None else f"in group {node.group}"


def tearing_call(gap: Gap, module: Module) -> Step | None:
    """The one call, made by the group's own body, that everything outside the group lies in."""
    first, *outside, last = gap.path
    if first.path != last.path or is_collision(gap, module):
        return None
    callees, ops = module.flat.callees, gap.computation.graph.ops
    depth = len(first.path)
    calls: set[Step] = set()
    for node in outside:
        callee = callees.get(ops[node.number])
        if callee is not None and node.path == first.path:
            calls.add(Step(node.op, callee))
        elif len(node.path) > depth:
            calls.add(node.path[depth])
        else:
            return None
    if len(calls) != 1:
        return None
    [call] = calls
    return call if call.callee is not None else None
