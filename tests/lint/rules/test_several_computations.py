"""SG203, several-computations."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import found
from tests.lint_model.modules import dot, function, loop, permute


def looped(inner: int, turns: int = 2) -> str:
    return function(
        permute("y", "x", 0), loop("r", "y", dot("v", "c", "w", inner), result="v", turns=turns)
    )


def test_a_loop_body_and_what_is_around_it() -> None:
    [finding] = found("SG203", looped(0))
    assert finding.severity is Severity.WARNING
    assert finding.message == "group 0 lies in 2 computations, which XLA schedules apart"
    assert finding.spot.op == "stablehlo.collective_permute"
    assert [related.spot.op for related in finding.related] == ["stablehlo.dot_general"]
    assert finding.groups == (0,)


def test_silent_where_each_has_its_own() -> None:
    assert found("SG203", looped(1)) == []


def test_silent_where_the_loop_runs_once() -> None:
    """XLA makes it part of what is around it."""
    assert found("SG203", looped(0, turns=1)) == []
