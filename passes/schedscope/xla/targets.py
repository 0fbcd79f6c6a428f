"""What each XLA keeps, checks and merges, as tables.

Measured on XLA:GPU of jax 0.10.2 and 0.12.0.1 (for an H100) and on libtpu 0.0.52 (v5e, v6e, tpu7x).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Family = Literal["gpu", "tpu"]

_REDUCING = ("all_gather", "all_reduce", "reduce_scatter")
_MOVING = ("all_to_all", "collective_broadcast", "collective_permute")


@dataclass(frozen=True)
class Target:
    """One compiler."""

    name: str
    family: Family
    members: frozenset[str]
    """Ops whose annotation survives to the gap check."""
    asynchronous: frozenset[str]
    """The members that make a group worth keeping: a group without one is dropped."""
    id_limit: int
    """The first group id that is too large: XLA:GPU says "stoi", libtpu ends the process."""
    keeps_single: bool
    """Whether a group of one op stays: where a collective is two, its start and its done."""
    checks_functions: bool
    """Whether gaps are sought in functions: before calls are inlined, and again when those of small
    functions are, but not later."""
    small_function: int
    """The least number of HLO instructions of a function that is not inlined by then, where it is
    called more than once."""
    fills: bool
    """Whether a chain of ops of one operand and one user between two members is made part of the
    group."""
    fuses_before_check: bool
    """Whether elementwise ops are fused before gaps are sought: a fusion of one operand counts as
    one op of one operand."""
    combines: frozenset[str]
    """Collectives that are merged, across groups too, before the check."""
    combines_ungrouped: frozenset[str]
    """Collectives of which only those in no group are merged."""
    combined_bytes: int
    """How much may be merged into one."""
    copies: frozenset[str]
    """Collectives that work in place: an operand with other users is copied first."""
    stuck_on_cycles: bool
    """Whether groups that wait for each other stop the scheduler."""
    awaited: frozenset[str]
    """Collectives that become a start and a done. The scheduler that minds groups works on a
    computation only where there is one, in a group or not; any other collective has lost its
    annotation by then."""
    scheduled: frozenset[str]
    """The members that are still members when groups are scheduled, if something awaited is in the
    group; matmuls are in any case, for the fusions that they are then keep the annotation."""
    crashes: frozenset[str]
    """Ops that crash the compiler where they carry an annotation."""
    unchecked_beside: frozenset[str]
    """Ops of which one anywhere in a module means that no gaps are sought in it."""
    aborts_on_mixed_order: bool
    """Whether members that differ in keep_original_sequence_order_in_group abort the process."""


def _ops(*names: str) -> frozenset[str]:
    return frozenset(f"stablehlo.{name}" for name in names)


_COMPUTE = ("case", "convolution", "custom_call", "dot", "dot_general", "if")

GPU = Target(
    name="gpu",
    family="gpu",
    members=_ops(*_REDUCING, *_MOVING),
    asynchronous=_ops(*_REDUCING, *_MOVING),
    id_limit=2**31,
    keeps_single=True,
    checks_functions=False,
    small_function=0,
    fills=True,
    fuses_before_check=True,
    combines=_ops("all_gather", "collective_permute", "reduce_scatter"),
    combines_ungrouped=_ops("all_reduce"),
    combined_bytes=30 * 1024 * 1024 + 7,
    copies=_ops("all_reduce"),
    stuck_on_cycles=True,
    awaited=_ops(*_REDUCING, *_MOVING),
    scheduled=_ops(*_REDUCING, *_MOVING),
    crashes=frozenset(),
    unchecked_beside=_ops("collective_broadcast"),
    aborts_on_mixed_order=True,
)
GPU_0_10 = replace(GPU, name="gpu-0.10", fills=False, crashes=_ops("all_to_all"))
"""XLA:GPU of jax 0.10.2: fills nothing, and dies of a signal at an annotated all_to_all."""
V5E = Target(
    name="v5e",
    family="tpu",
    members=_ops(*_REDUCING, *_COMPUTE),
    asynchronous=_ops(*_REDUCING),
    id_limit=2**31,
    keeps_single=False,
    checks_functions=True,
    small_function=20,
    fills=True,
    fuses_before_check=False,
    combines=frozenset(),
    combines_ungrouped=frozenset(),
    combined_bytes=0,
    copies=frozenset(),
    stuck_on_cycles=True,
    awaited=_ops("all_gather", "collective_permute"),
    scheduled=_ops("all_gather", *_COMPUTE),
    crashes=frozenset(),
    unchecked_beside=frozenset(),
    aborts_on_mixed_order=False,
)
V6E = replace(V5E, name="v6e", awaited=_ops("collective_permute"), scheduled=_ops(*_COMPUTE))
TPU7X = replace(V6E, name="tpu7x")
TARGETS: dict[str, Target] = {each.name: each for each in (GPU, GPU_0_10, V5E, V6E, TPU7X)}
