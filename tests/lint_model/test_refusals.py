"""What XLA refuses, or dies of, beside gaps."""

from __future__ import annotations

import pytest
from schedscope.xla import aborts, ids
from schedscope.xla.gap_search import gaps
from schedscope.xla.late_fusion import torn

from tests.lint_model.modules import add, call, dot, function, gather, permute, seen, sine


def problems(target: str, *functions: str) -> list[bool]:
    with seen(target, *functions) as view:
        return [problem.is_read for problem in ids.problems(view)]


@pytest.mark.parametrize("text", ["abc", "-1", "1:2:3", "0:x", ""])
def test_a_member_that_cannot_be_read(text: str) -> None:
    assert problems("v5e", function(gather("r", "x", text))) == [True]


def test_what_is_dropped_is_not_read() -> None:
    assert problems("v5e", function(permute("r", "x", "abc"))) == [False]
    assert problems("gpu", function(permute("r", "x", "abc"))) == [True]


def test_an_id_too_large() -> None:
    body = function(gather("r", "x", 2**31))
    assert problems("gpu", body) == [True]
    assert problems("gpu", function(gather("r", "x", 2**31 - 1))) == []


def test_an_id_too_large_for_the_scheduler_of_libtpu() -> None:
    """It runs where a collective is awaited, and reads what is left of each group."""
    pair = gather("y", "x", 2**31), dot("z", "x", "w", 2**31), add("r", "y", "z")
    assert problems("v5e", function(*pair)) == [True, True]
    assert problems("tpu7x", function(*pair)) == [False, False]
    later = *pair, permute("p", "r")
    assert problems("tpu7x", function(*later, result="p")) == [True, True]
    assert problems("tpu7x", function(gather("y", "x", 2**31), permute("r", "y"))) == [False]
    assert problems("v5e", function(dot("y", "x", "w", 2**31), gather("r", "y"))) == [False]


def test_an_all_to_all_kills_an_older_xla() -> None:
    move = permute("r", "x", 0).replace("collective_permute", "all_to_all")
    splits = "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64"
    pairs = "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"
    groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
    body = function(move.replace(pairs, f"{splits}, {groups}"))
    for target, count in (("gpu", 0), ("gpu-0.10", 1)):
        with seen(target, body) as view:
            assert len(list(aborts.crashes(view))) == count


def ordered(op: str) -> str:
    kept = "keep_original_sequence_order_in_group = true, "
    return op.replace("_scheduling", kept + "_scheduling")


def aborting(*body: str) -> list[bool]:
    """Of groups whose members differ in their order, whether XLA is said to end."""
    with seen("gpu", function(*body)) as view:
        return [each.aborts for each in aborts.mixed_orders(view)]


def test_members_that_differ_in_their_order() -> None:
    first, second = permute("y", "x", 0), permute("r", "y", 0)
    assert aborting(ordered(first), second) == [True]
    assert aborting(first, ordered(second)) == [False]
    assert aborting(ordered(first), ordered(second)) == aborting(first, second) == []
    between = ordered(permute("s", "y", 0))
    assert aborting(first, between, permute("r", "s", 0)) == [True]


def test_collectives_made_one_are_one_in_their_order() -> None:
    first, alike = permute("y", "x", 0), permute("z", "w", 0)
    assert aborting(ordered(first), alike, add("r", "y", "z")) == []
    other = gather("g", "x", 0)
    assert aborting(ordered(first), alike, other, add("s", "y", "z"), add("r", "s", "g")) == [True]


def test_a_dot_fused_with_what_waits_for_its_group() -> None:
    """The permute is outside the group, and the dot is one op with the add after it."""
    parts = gather("y", "x", 0), permute("p", "y"), dot("z", "x", "w", 0)
    with seen("v5e", function(*parts, add("r", "p", "z"))) as view:
        assert [group for group, _ in torn(view)] == [0]
    with seen("v5e", function(*parts, sine("s", "z"), add("r", "p", "x"))) as view:
        assert list(torn(view)) == []


def test_a_group_that_waits_on_itself_across_calls() -> None:
    """libtpu looks for gaps before such calls are inlined, and is stuck afterwards: where something
    in the computation is awaited, else its scheduler leaves the groups alone."""
    long = [add(f"a{n + 1}", f"a{n}", f"a{n}") for n in range(18)]
    layer = function(
        dot("y", "x", "w", 0), gather("z", "x", 0), add("a0", "y", "z"), *long,
        gather("t", "a18"), result="t", name="layer",
    )  # fmt: skip
    calls = call("a", "layer", "x", "w"), call("b", "layer", "a", "w")
    for ops, result, found in (
        (calls, "b", []),
        ((*calls, permute("p", "x"), add("r", "b", "p")), "r", [0]),
    ):
        with seen("tpu7x", layer, function(*ops, result=result)) as view:
            assert gaps(view) == []
            assert [group for group, _ in torn(view)] == found
