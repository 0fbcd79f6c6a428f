"""Groups that wait for each other."""

from __future__ import annotations

from schedscope.gap_search import gaps
from schedscope.group_cycles import waits

from tests.lint_model.modules import add, dot, function, gather, seen

CROSSED = function(
    gather("a", "x", 0),
    gather("b", "w", 1),
    dot("c", "b", "w", 0),
    dot("d", "a", "w", 1),
    add("r", "c", "d"),
)
"""Each group's dot needs the other's gather; neither has a gap."""


def test_a_cycle_of_two() -> None:
    with seen("v5e", CROSSED) as view:
        [wait] = waits(view)
        assert sorted(wait.groups) == [0, 1]
        assert {node.group for node in wait.path} == {0, 1}
        assert gaps(view) == []


def test_one_after_the_other_is_no_cycle() -> None:
    body = function(
        gather("a", "x", 0), dot("b", "x", "w", 0), gather("c", "a", 1), dot("d", "b", "w", 1),
        add("r", "c", "d"),
    )  # fmt: skip
    with seen("v5e", body) as view:
        assert waits(view) == []
