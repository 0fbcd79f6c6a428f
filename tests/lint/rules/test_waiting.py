"""SG106, waiting-groups."""

from __future__ import annotations

from dataclasses import replace

import pytest
from schedscope._mlir import ir, make_context
from schedscope.lint.diagnostic import Severity
from schedscope.lint.rule import Module
from schedscope.lint.rules.waiting import RULE
from schedscope.xla.flattening import flatten
from schedscope.xla.targets import V5E

from tests.lint.rules.asking import found
from tests.lint_model.modules import add, dot, function, gather, module_of, sine

CROSSED = function(
    gather("a", "x", 1),
    dot("e", "x", "w", 1),
    gather("b", "w", 2),
    dot("f", "w", "w", 2),
    sine("i", "a"),
    dot("g", "i", "w", 2),
    sine("j", "b"),
    dot("h", "j", "x", 1),
    add("s", "e", "f"),
    add("t", "s", "g"),
    add("r", "t", "h"),
)
"""Group 2's matmul needs group 1's gather, and group 1's needs group 2's."""


def test_two_groups_in_a_circle() -> None:
    [finding] = found("SG106", CROSSED, target="tpu")
    assert finding.severity is Severity.ERROR
    assert finding.message == "groups 1 and 2 wait for each other"
    assert sorted(finding.groups) == [1, 2]
    spots = [*(related.spot for related in finding.related), finding.spot]
    assert {spot.op for spot in spots} == {
        "stablehlo.all_gather",
        "stablehlo.sine",
        "stablehlo.dot_general",
    }, "the additions wait too, fused to the matmuls, and are not what the user grouped"
    assert {related.message for related in finding.related} == {
        "around the circle, in group 1",
        "around the circle, in group 2",
        "around the circle, outside the groups",
    }
    assert finding.help is not None
    assert finding.help.startswith("give the part of one group that needs the other an id of its ")


@pytest.mark.parametrize("minds", [True, False])
def test_silent_where_the_compiler_does_not_mind(minds: bool) -> None:
    target = replace(V5E, stuck_on_cycles=minds)
    with make_context():
        module = ir.Module.parse(module_of(CROSSED))
        asked = Module(module, flatten(module), target)
        assert len(list(RULE.check(RULE, asked))) == minds


def test_silent_beside_a_gap_of_one_of_them() -> None:
    """They may wait no more once the gap is gone."""
    gap = add("k", "t", "h"), gather("r", "k", 1)
    body = CROSSED.replace(add("r", "t", "h"), "\n".join(gap))
    assert body != CROSSED
    assert found("SG101", body, target="tpu") != []
    assert found("SG106", body, target="tpu") == []


def test_silent_where_one_waits_only() -> None:
    straight = CROSSED.replace('%h = "stablehlo.dot_general"(%j', '%h = "stablehlo.dot_general"(%i')
    assert straight != CROSSED
    assert found("SG106", straight, target="tpu") == []
