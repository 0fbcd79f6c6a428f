"""How the ops of some groups reach each other in one computation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

from schedscope.callgraph import COLLECTIVES
from schedscope.states import bits
from schedscope.xla.xla_view import Computation

COMPUTE = frozenset(
    f"stablehlo.{name}"
    for name in ("case", "convolution", "custom_call", "dot", "dot_general", "if")
)
"""What a collective is overlapped with: the kinds that some XLA keeps in a group."""
KINDS = COLLECTIVES | COMPUTE


@dataclass(eq=False)
class Links:
    """Atoms are ops that carry an id, in program order; an op that is inlined several times is one
    atom, for it can carry only one id. Masks have a bit for each atom."""

    ops: list[int]
    """Of each atom the op's number in the flat module."""
    groups: list[int]
    moves: list[bool]
    """Whether it is a collective."""
    members: int = 0
    """Those whose annotation the compiler still has at the check; the rest are outside to it."""
    direct: list[int] = field(default_factory=list)
    """The atoms that use its result at once, or through ops that XLA adds to the group."""
    reach: list[int] = field(default_factory=list)
    """All that depend on it."""
    leaving: list[int] = field(default_factory=list)
    """Those that depend on it through an op that is no atom."""

    @cached_property
    def before(self) -> list[int]:
        """All that each depends on."""
        return turned(self.reach)

    def partners(self, atom: int) -> int:
        """The atoms of its group that it could overlap with: of the other kind, independent."""
        kind = self.moves[atom]
        others = sum(
            1 << other
            for other, group in enumerate(self.groups)
            if group == self.groups[atom] and self.moves[other] != kind
        )
        return others & ~self.reach[atom] & ~self.before[atom]

    def has_gap(self, part: int) -> bool:
        """Whether a path leaves the members of the part, a mask, and comes back."""
        inside = part & self.members
        for atom in bits(inside):
            after = self.leaving[atom]
            for user in bits(self.direct[atom] & ~inside):
                after |= self.reach[user]
            if after & inside:
                return True
        return False

    def after(self, part: int) -> int:
        """All that depend on the part, itself left out."""
        found = 0
        for atom in bits(part):
            found |= self.reach[atom]
        return found & ~part


def links(computation: Computation, groups: Collection[int]) -> Links:
    """Of the ops of `groups` that some XLA keeps."""
    graph, membership = computation.graph, computation.membership
    atoms: dict[int, int] = {}
    at: dict[int, int] = {}
    made = Links([], [], [])
    tagged = sorted(node for group in groups for node in computation.tagged.get(group, ()))
    for node in tagged:
        name = computation.name(node)
        if name not in KINDS and node not in membership.group_of:
            continue
        op = graph.ops[node]
        if op not in atoms:
            atoms[op] = len(made.ops)
            made.ops.append(op)
            made.groups.append(graph.groups[node])
            made.moves.append(name in COLLECTIVES)
        at[node] = atoms[op]
        if node in membership.group_of:
            made.members |= 1 << atoms[op]
    _sweep(computation, at, made, frozenset(groups))
    return made


def _sweep(
    computation: Computation, at: dict[int, int], made: Links, groups: frozenset[int]
) -> None:
    graph, membership = computation.graph, computation.membership
    count = len(made.ops)
    into, through = [0] * count, [0] * count
    near: dict[int, int] = {node: 1 << atom for node, atom in at.items()}
    """For a node the atoms that it is, or that reach it through what XLA adds to the group."""
    far: dict[int, int] = {}
    """Those that reach it through something else."""
    for node in range(min(at, default=0), max(at, default=-1) + 1):
        if not graph.used[node]:
            continue
        close = distant = 0
        for each in graph.operands[node]:
            if each in near:
                close |= near[each]
                if each in graph.merged:
                    distant |= near[each]
            if each in far:
                distant |= far[each]
        if not close and not distant:
            continue
        atom = at.get(node)
        if atom is not None:
            into[atom] |= close
            through[atom] |= distant | (close if node in membership.copied else 0)
        elif membership.group_of.get(node) in groups:
            near[node], far[node] = close, distant
        else:
            far[node] = close | distant
    made.direct = turned(into)
    outside = turned(through)
    made.reach = _closed([a | b for a, b in zip(made.direct, outside, strict=True)])
    made.leaving = []
    for atom in range(count):
        after = outside[atom]
        for user in bits(outside[atom]):
            after |= made.reach[user]
        made.leaving.append(after)


def turned(incoming: list[int]) -> list[int]:
    """Masks of what goes out, from masks of what comes in."""
    outgoing = [0] * len(incoming)
    for atom, mask in enumerate(incoming):
        for source in bits(mask):
            outgoing[source] |= 1 << atom
    return outgoing


def _closed(outgoing: list[int]) -> list[int]:
    """Everything that is reached; edges go forward, save where an op is inlined several times."""
    reach = list(outgoing)
    changed = True
    while changed:
        changed = False
        for atom in range(len(reach) - 1, -1, -1):
            found = reach[atom]
            for user in bits(outgoing[atom]):
                found |= reach[user]
            if found != reach[atom]:
                reach[atom] = found
                changed = True
    return reach
