"""SG301, dropped-annotation."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, found
from tests.lint_model.modules import add, dot, function, gather, permute

BOTH = function(permute("y", "x", 0), dot("z", "x", "w", 0), add("r", "y", "z", 0))


def test_a_matmul_on_a_gpu() -> None:
    [finding] = asked(BOTH)
    assert (finding.code, finding.severity) == ("SG301", Severity.NOTE)
    assert finding.message == "XLA:GPU drops the annotation of 1 op of group 0: dot_general"
    assert (finding.spot.op, finding.groups) == ("stablehlo.dot_general", (0,))


def test_a_permute_on_a_tpu() -> None:
    body = function(
        gather("g", "x", 0),
        dot("z", "x", "w", 0),
        permute("a", "x", 0),
        permute("b", "w", 0),
        add("s", "g", "z"),
        add("t", "a", "b"),
        add("r", "s", "t"),
    )
    [finding] = asked(body, target="tpu")
    assert finding.message == (
        "XLA:TPU drops the annotation of 2 ops of group 0: collective_permute"
    )


def test_silent_about_elementwise_ops() -> None:
    assert asked(function(permute("y", "x", 0), add("r", "y", "w", 0))) == []


def test_silent_where_the_whole_group_goes() -> None:
    """Which is a warning."""
    assert found("SG301", BOTH, target="tpu") == []


def test_silent_about_what_is_filled_in() -> None:
    """A matmul that uses one value twice is an op of one operand, between two ops of the group."""
    body = function(permute("y", "x", 0), dot("z", "y", "y", 0), permute("r", "z", 0))
    assert asked(body) == []
