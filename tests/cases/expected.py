"""What must come of each case, by hand: verdicts of the real compilers, and the groups.

A group is written as the bodies it reaches, each with the ops in there:
`"layer.0: MOVE dot_general"`. MOVE stands for the family's collective, BACK for its transpose,
`main` for the body of the program itself. Bodies of one name are numbered in program order. The
one manual computation around everything, and the closed calls that jax before 0.11 makes of loop
bodies, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.cases.kit import Family
from tests.jax_versions import CLOSED_CALLS, FORWARD_KEEPS_RESIDUALS
from tests.xla.compilers import Kind, Target

RESIDUAL = "subtract" if CLOSED_CALLS else "multiply"
OPS = {
    "MOVE": {"gpu": "collective_permute", "tpu": "all_gather slice"},
    "BACK": {"gpu": "collective_permute", "tpu": "pad reduce_scatter"},
    "ROOT": {"gpu": "collective_permute", "tpu": "slice"},
    "RESIDUAL": dict.fromkeys(("gpu", "tpu"), RESIDUAL if FORWARD_KEEPS_RESIDUALS else ""),
}
"""ROOT makes the collective's result, RESIDUAL what the backward pass of tanh wants."""


@dataclass(frozen=True)
class Outcome:
    raw: Kind
    fixed: Kind


CURED = Outcome("gap", "ok")
FINE = Outcome("ok", "ok")
UNCURED = Outcome("gap", "gap")
STUCK = Outcome("stuck", "stuck")
ABORTS = Outcome("abort", "abort")


@dataclass(frozen=True)
class Row:
    gpu: Outcome
    v5e: Outcome
    tpu7x: Outcome
    groups: tuple[str, ...]
    each: tuple[str, ...]
    """The groups with every_call_site."""
    unchanged: bool = False
    """The module comes back byte for byte."""

    def outcome(self, target: Target) -> Outcome:
        return {"gpu": self.gpu, "v5e": self.v5e, "tpu7x": self.tpu7x}[target]


def row(
    gpu: Outcome,
    tpu: Outcome,
    *groups: str,
    tpu7x: Outcome | None = None,
    each: tuple[str, ...] | None = None,
    unchanged: bool = False,
) -> Row:
    return Row(gpu, tpu, tpu7x or tpu, groups, each or groups, unchanged)


def spelled(group: str, family: Family) -> str:
    """`group` with the family's ops in place of MOVE and the like, sorted."""
    bodies = []
    for part in group.split("; "):
        path, names = part.split(": ")
        ops: list[str] = []
        for name in names.split():
            ops += OPS[name][family].split() if name in OPS else [name]
        bodies.append(f"{path}: {' '.join(sorted(ops))}")
    return "; ".join(sorted(bodies))


LAYERS = ("layer.0: MOVE dot_general", "layer.1: MOVE dot_general")
STEP = (
    "step.{0}: MOVE compare dot_general add; step.{0}/_where: convert broadcast_in_dim select; "
    "step.{0}/relu: maximum; step.{0}/cumsum: reduce_window"
)
STREAMS = (
    "block.{0}: custom_call custom_call; block.{0}/compute_on.0/<lambda>: dot_general; "
    "block.{0}/compute_on.1/<lambda>: sine dot_general"
)
REUSED = "main: MOVE MOVE MOVE dot_general dot_general dot_general"

ROWS: dict[str, Row] = {
    # On TPU a permute is no member, so each of the program's groups is dropped as trivial.
    "seed": row(
        CURED,
        FINE,
        *["shuffle_add.0: add collective_permute"] * 3,
        "shuffle_add.0: add",
        *["shuffle_add.1: add collective_permute"] * 3,
        "shuffle_add.1: add",
    ),
    "once": row(FINE, FINE, "layer: MOVE dot_general", unchanged=True),
    "twice": row(CURED, CURED, *LAYERS),
    "two_methods": row(
        CURED,
        CURED,
        "layer: MOVE dot_general",
        "other_layer: MOVE multiply dot_general",
    ),
    "nested": row(
        CURED,
        CURED,
        "block.0/layer.0: MOVE dot_general",
        "block.0/layer.1: MOVE dot_general",
        "block.1/layer.0: MOVE dot_general",
        "block.1/layer.1: MOVE dot_general",
    ),
    "independent": row(FINE, FINE, "; ".join(LAYERS), each=LAYERS, unchanged=True),
    "independent_sum": row(
        FINE,
        FINE,
        "halves.0: MOVE dot_general; halves.1: MOVE dot_general",
        each=("halves.0: MOVE dot_general", "halves.1: MOVE dot_general"),
        unchanged=True,
    ),
    "pipelined": row(
        CURED,
        CURED,
        "prefetch.0: MOVE; attend.0: dot_general",
        "prefetch.1: MOVE; attend.1: dot_general",
        "prefetch.2: MOVE; attend.2: dot_general",
        each=(
            "prefetch.0: MOVE",
            "prefetch.1: MOVE",
            "prefetch.2: MOVE",
            "attend.0: dot_general",
            "attend.1: dot_general",
            "attend.2: dot_general",
        ),
    ),
    # XLA:GPU keeps no dot, sees two collectives without a gap, and makes one group of two layers.
    "shared_helpers": row(
        FINE,
        CURED,
        "block.0/prefetch: MOVE; block.0/attend: dot_general",
        "block.1/prefetch: MOVE; block.1/attend: dot_general",
        each=(
            "block.0/prefetch: MOVE",
            "block.0/attend: dot_general",
            "block.1/prefetch: MOVE",
            "block.1/attend: dot_general",
        ),
    ),
    "gather_helper": row(
        FINE,
        FINE,
        "fetch.0: MOVE; fetch.1: MOVE; fetch.2: MOVE",
        each=("fetch.0: MOVE", "fetch.1: MOVE", "fetch.2: MOVE"),
        unchanged=True,
    ),
    "equal_gathers": row(
        FINE,
        FINE,
        "project.0: MOVE dot_general; project.1: MOVE dot_general; project.2: MOVE dot_general",
        each=(
            "project.0: MOVE dot_general",
            "project.1: MOVE dot_general",
            "project.2: MOVE dot_general",
        ),
        unchanged=True,
    ),
    "library_calls": row(CURED, CURED, STEP.format(0), STEP.format(1)),
    "under_group": row(FINE, FINE, "main: dot_general; both: MOVE dot_general", unchanged=True),
    # XLA:GPU refuses later, for want of stream ids; no TPU has these streams.
    "two_streams": row(Outcome("other", "other"), FINE, STREAMS.format(0), STREAMS.format(1)),
    "iteration_suffix": row(CURED, CURED, "step.0: MOVE dot_general", "step.1: MOVE dot_general"),
    "scan_body": row(
        CURED,
        CURED,
        "while.body/layer.0: MOVE dot_general",
        "while.body/layer.1: MOVE dot_general",
    ),
    "cond_branches": row(
        CURED,
        CURED,
        "case.0/layer: MOVE dot_general",
        "case.1/layer.0: MOVE dot_general",
        "case.1/layer.1: MOVE dot_general",
    ),
    "grad_jitted": row(
        CURED,
        CURED,
        *LAYERS,
        "layer.2: BACK add dot_general",
        "layer.3: BACK add dot_general",
    ),
    # Forward twice, then each layer again with its backward.
    "grad_remat": row(
        CURED,
        CURED,
        *LAYERS,
        "layer.2: MOVE dot_general",
        "layer.3: BACK add dot_general",
        "layer.4: MOVE dot_general",
        "layer.5: BACK add dot_general",
    ),
    "user_key": row(
        CURED,
        CURED,
        "step.0: MOVE dot_general",
        "step.1: MOVE dot_general; step.2: MOVE dot_general",
        each=(
            "step.0: MOVE dot_general",
            "step.1: MOVE dot_general",
            "step.2: MOVE dot_general",
        ),
    ),
    "composite_twice": row(
        CURED, CURED, "my.layer.0: MOVE dot_general", "my.layer.1: MOVE dot_general"
    ),
    "shard_map_twice_global": row(
        CURED,
        CURED,
        "manual.0: MOVE dot_general",
        "manual.1: MOVE dot_general",
        tpu7x=FINE,
    ),
    # The calls' id falls on the ops that make the results: with all_gather that is the slice.
    "call_level": row(
        CURED,
        FINE,
        "xla_metadata_call.0: ROOT dot_general",
        "xla_metadata_call.1: ROOT dot_general",
    ),
    "call_level_grad": row(
        FINE,
        FINE,
        "xla_metadata_call.0: tanh RESIDUAL",
        "xla_metadata_call.1: add",
    ),
    "crossed": row(
        Outcome("two_ids", "ok"),
        STUCK,
        "main: MOVE dot_general dot_general",
        "main: MOVE dot_general dot_general",
        tpu7x=FINE,
    ),
    "grad_inline": row(
        UNCURED,
        UNCURED,
        "main: MOVE MOVE BACK BACK add add dot_general dot_general dot_general dot_general",
    ),
    "reused_in_one_function": row(UNCURED, UNCURED, REUSED),
    "unrolled_scan": row(
        CURED,
        CURED,
        "while.body/closed_call.0: MOVE dot_general",
        "while.body/closed_call.1: MOVE dot_general",
    )
    if CLOSED_CALLS
    else row(UNCURED, UNCURED, "while.body: MOVE MOVE dot_general dot_general"),
    "one_group_beside_dot": row(FINE, STUCK, "main: MOVE dot_general", tpu7x=FINE, unchanged=True),
    "mixed_order": row(ABORTS, FINE, "step: collective_permute collective_permute"),
    "unannotated": row(FINE, FINE, unchanged=True),
}
