"""Which collectives XLA:GPU's combiner makes one."""

from __future__ import annotations

from schedscope.xla.gap_search import gaps
from schedscope.xla.merging import merges

from tests.lint_model.modules import add, function, gather, permute, seen


def merged(*functions: str, target: str = "gpu") -> list[tuple[int, ...]]:
    with seen(target, *functions) as view:
        return [merge.groups for merge in merges(view)]


def test_independent_collectives_of_two_groups() -> None:
    body = function(gather("a", "x", 0), gather("b", "w", 1), add("r", "a", "b"))
    assert merged(body) == [(0, 1)]
    assert merged(body, target="v5e") == []


def test_a_group_and_an_op_that_names_none() -> None:
    """XLA reads "0,noop" no better than "0,1"."""
    body = function(gather("a", "x", 0), gather("b", "w", "noop"), add("r", "a", "b"))
    assert merged(body) == [(0,)]
    assert merged(body.replace('"noop"', '"0"')) == []


def test_not_where_one_depends_on_the_other() -> None:
    assert merged(function(gather("a", "x", 0), gather("r", "a", 1))) == []


def test_not_where_keys_differ() -> None:
    body = function(gather("a", "x", 0, key="a"), gather("b", "w", 1, key="b"), add("r", "a", "b"))
    assert merged(body) == []


def test_not_of_two_kinds() -> None:
    body = function(gather("a", "x", 0), permute("b", "w", 1), add("r", "a", "b"))
    assert merged(body) == []


def test_a_merge_within_a_group_can_make_a_gap() -> None:
    """The result of a member that was merged is taken out by an op outside the group."""
    body = function(
        permute("a", "x", 0), permute("b", "w", 0), gather("c", "a", 0), add("r", "b", "c")
    )
    with seen("gpu", body) as view:
        assert merges(view) == []
        [gap] = gaps(view)
        names = [node.name for node in gap.path]
        assert names == [
            "stablehlo.collective_permute",
            "get_tuple_element",
            "stablehlo.all_gather",
        ]
