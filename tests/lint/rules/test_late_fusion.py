"""SG205, fusion-across-group."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, found
from tests.lint.rules.test_waiting import CROSSED
from tests.lint_model.modules import add, dot, function, gather, permute
from tests.lint_model.test_siblings import FUSED

PARTS = gather("y", "x", 0), permute("p", "y"), dot("z", "x", "w", 0)


def test_a_matmul_fused_with_what_waits_for_its_group() -> None:
    [finding] = asked(function(*PARTS, add("r", "p", "z")), target="tpu")
    assert (finding.code, finding.severity) == ("SG205", Severity.WARNING)
    assert finding.message.startswith("group 0 may wait on itself: this op is likely to be fused ")
    assert (finding.spot.op, finding.groups) == ("stablehlo.add", (0,))
    assert "optimization_barrier" in (finding.help or "")


def test_silent_where_the_other_operand_is_fused_as_well() -> None:
    body = function(
        gather("y", "x", 0), add("p", "y", "w"), dot("z", "x", "w", 0), add("r", "p", "z")
    )
    assert asked(body, target="tpu") == []


def test_silent_where_the_matmul_has_a_user_of_its_own() -> None:
    body = function(
        *PARTS, add("s", "z", "w"), permute("t", "z"), add("r", "s", "p"), add("q", "r", "t")
    )
    assert found("SG205", body.replace("return %r", "return %q"), target="tpu") == []


def test_silent_where_the_groups_wait_already() -> None:
    assert found("SG205", CROSSED, target="tpu") == []


def test_silent_where_the_matmul_was_filled_in() -> None:
    """XLA:GPU of jax 0.12 takes it (measured): the matmul is in the group."""
    body = function(permute("y", "x", 0), dot("z", "y", "y", 0), permute("r", "z", 0))
    assert asked(body, target="gpu") == []


def test_two_ops_made_one_across_a_group_on_gpu() -> None:
    [finding] = asked(FUSED)
    assert (finding.code, finding.severity) == ("SG205", Severity.WARNING)
    assert finding.message.startswith("group 0 may get a gap: this op waits for the group, ")
    assert finding.spot.op == "stablehlo.add"
    assert [each.spot.op for each in finding.related] == ["stablehlo.sine"]
    assert found("SG205", FUSED, target="tpu") == []
