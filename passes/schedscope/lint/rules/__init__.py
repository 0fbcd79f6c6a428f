"""The rules of lint, one a file."""

from schedscope.lint.rule import Rule
from schedscope.lint.rules import (
    calls_as_one,
    collision,
    dropped_annotation,
    dropped_group,
    gap,
    id_on_call,
    large_id,
    malformed,
    merged_collectives,
    mixed_order,
    several_computations,
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
    dropped_group.RULE,
    id_on_call.RULE,
    several_computations.RULE,
    calls_as_one.RULE,
    dropped_annotation.RULE,
)
"""By code."""
