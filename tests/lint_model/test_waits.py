"""Groups that wait for each other."""

from __future__ import annotations

from schedscope.xla.gap_search import gaps
from schedscope.xla.group_cycles import waits

from tests.lint_model.modules import add, dot, function, gather, permute, reduce, seen

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


def test_what_is_not_awaited_waits_for_nothing() -> None:
    """The gathers of tpu7x are one op each, and in no group when groups are scheduled; matmuls
    are, where there is something else to await."""
    with seen("tpu7x", CROSSED) as view:
        assert waits(view) == []
    matmuls = (
        dot("a", "x", "w", 0), gather("k", "x", 0), dot("b", "w", "x", 1), gather("l", "w", 1),
        dot("c", "b", "w", 0), dot("d", "a", "w", 1),
        add("e", "c", "d"), add("f", "k", "l"), add("g", "a", "b"), add("h", "e", "f"),
        add("i", "h", "g"),
    )  # fmt: skip
    with seen("tpu7x", function(*matmuls, result="i")) as view:
        assert waits(view) == []
    with seen("tpu7x", function(*matmuls, permute("r", "i"))) as view:
        assert [sorted(wait.groups) for wait in waits(view)] == [[0, 1]]


def test_collectives_of_gpu_that_wait_for_each_other() -> None:
    body = function(
        permute("u", "x", 0), gather("v", "w", 1), reduce("y", "v", 0), permute("z", "u", 1, "key"),
        add("r", "y", "z"),
    )  # fmt: skip
    with seen("gpu", body) as view:
        assert [sorted(wait.groups) for wait in waits(view)] == [[0, 1]]
