"""The rules of lint, one a file."""

from schedscope.lint.rule import Rule
from schedscope.lint.rules import (
    calls_as_one,
    collision,
    crashing_op,
    dropped_annotation,
    dropped_group,
    gap,
    id_on_call,
    large_id,
    late_fusion,
    malformed,
    merged_collectives,
    mixed_order,
    overlap_limit,
    several_computations,
    torn_by_call,
    waiting,
)

RULES: tuple[Rule, ...] = (
    gap.RULE,
    collision.RULE,
    malformed.RULE,
    large_id.RULE,
    merged_collectives.RULE,
    waiting.RULE,
    mixed_order.RULE,
    torn_by_call.RULE,
    overlap_limit.RULE,
    dropped_group.RULE,
    id_on_call.RULE,
    several_computations.RULE,
    calls_as_one.RULE,
    late_fusion.RULE,
    crashing_op.RULE,
    dropped_annotation.RULE,
)
"""By code."""
