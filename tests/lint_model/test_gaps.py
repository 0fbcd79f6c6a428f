"""Which groups have a gap, and the shortest path through it."""

from __future__ import annotations

import pytest
from schedscope.xla.gap_search import gaps

from tests.lint_model.modules import (
    UNARY,
    T,
    add,
    call,
    dot,
    function,
    gather,
    loop,
    permute,
    reduce,
    seen,
    sine,
)

LAYER = function(
    gather("y", "x", 0), dot("z", "x", "w", 0), add("s", "y", "z"), result="s", name="layer"
)


def gapped(target: str, *functions: str) -> list[tuple[int, list[str]]]:
    with seen(target, *functions) as view:
        return [
            (gap.group, [node.name.removeprefix("stablehlo.") for node in gap.path])
            for gap in gaps(view)
        ]


def test_a_path_through_an_op_outside() -> None:
    body = function(gather("y", "x", 0), add("s", "y", "w"), dot("r", "s", "w", 0))
    assert gapped("v5e", body) == [(0, ["all_gather", "add", "dot_general"])]


def test_no_path_no_gap() -> None:
    body = function(gather("y", "x", 0), dot("z", "x", "w", 0), add("r", "y", "z"))
    assert gapped("v5e", body) == []


def test_a_member_may_feed_a_member() -> None:
    assert gapped("v5e", function(gather("y", "x", 0), dot("r", "y", "w", 0))) == []


def test_the_shortest_of_two_paths() -> None:
    body = function(
        gather("y", "x", 0),
        add("a", "y", "w"),
        add("b", "a", "w"),
        add("c", "y", "x"),
        dot("r", "b", "c", 0),
    )
    assert gapped("v5e", body) == [(0, ["all_gather", "add", "dot_general"])]


def test_a_member_of_another_group_is_outside() -> None:
    body = function(
        gather("y", "x", 0), dot("s", "y", "w", 1), gather("t", "x", 1), dot("r", "s", "t", 0)
    )
    assert gapped("v5e", body) == [(0, ["all_gather", "dot_general", "dot_general"])]


def test_what_the_target_drops_is_outside() -> None:
    body = function(permute("y", "x", 0), dot("s", "y", "w", 0), permute("r", "s", 0))
    assert gapped("gpu", body) == [(0, ["collective_permute", "dot_general", "collective_permute"])]
    assert gapped("v5e", body) == []


def test_a_chain_of_one_operand_is_filled() -> None:
    body = function(gather("y", "x", 0), sine("s", "y"), dot("r", "s", "w", 0))
    assert gapped("v5e", body) == []


@pytest.mark.parametrize("target", ["v5e", "gpu"])
def test_a_chain_with_another_user_is_not(target: str) -> None:
    body = function(gather("y", "x", 0), sine("s", "y"), gather("z", "s", 0), add("r", "s", "z"))
    assert gapped(target, body) == [(0, ["all_gather", "sine", "all_gather"])]


def test_gpu_fuses_before_it_looks() -> None:
    """There an op that uses one value twice has one operand."""
    body = function(gather("y", "x", 0), add("s", "y", "y"), gather("r", "s", 0))
    assert gapped("gpu", body) == []
    assert gapped("v5e", body) == [(0, ["all_gather", "add", "all_gather"])]


@pytest.mark.parametrize(
    ("between", "filled"),
    [
        ([sine("s", "y")], True),
        ([sine("v", "y"), add("s", "v", "y")], True),
        ([f"%k = stablehlo.constant dense<3.0> : {T}", add("s", "y", "k")], True),
        ([dot("s", "y", "y")], True),
        ([sine("v", "y"), add("s", "v", "x")], False),
        ([add("s", "y", "w")], False),
        ([sine("v", "x"), add("s", "y", "v")], False),
    ],
)
def test_a_fusion_that_reads_more_than_the_member_is_not_filled(
    between: list[str], filled: bool
) -> None:
    """An argument of the function is an operand like any other; a constant is none."""
    body = function(permute("y", "x", 5), *between, permute("r", "s", 5))
    assert [group for group, _ in gapped("gpu", body)] == ([] if filled else [5])
    assert [group for group, _ in gapped("gpu-0.10", body)] == [5]


def test_equal_constants_are_one_op_of_a_small_function() -> None:
    """libtpu inlines a function of 19 ops before it looks, and one of 20 after."""
    for different, found in ((False, [0]), (True, [])):
        values = [
            f"%k{n} = stablehlo.constant dense<{n if different else 7}.0> : {T}" for n in (1, 2)
        ]
        ops = [gather("y", "x", 0), dot("z", "x", "w", 0), add("a0", "y", "z")]
        ops += [add(f"a{n + 1}", f"a{n}", "k2" if n else "k1") for n in range(13)]
        layer = function(*values, *ops, result="a13", name="layer")
        body = function(call("a", "layer", "x", "w"), call("r", "layer", "a", "w"))
        assert [group for group, _ in gapped("tpu7x", layer, body)] == found


def test_the_branch_of_a_constant_is_part_of_what_is_around_it() -> None:
    """From the start, even in a function that is there more than once."""
    branches = (
        '%p = stablehlo.constant dense<1> : tensor<i32>\n%r = "stablehlo.case"(%p) ({',
        f"stablehlo.return %x : {T}",
        "}, {",
        gather("y", "x", 0),
        dot("z", "x", "w", 0),
        add("s", "y", "z"),
        f"stablehlo.return %s : {T}",
        f"}}) : (tensor<i32>) -> {T}",
    )
    layer = function(*branches, name="layer")
    body = function(call("a", "layer", "x", "w"), call("r", "layer", "a", "w"))
    assert gapped("tpu7x", layer, body) == [(0, ["all_gather", "add", "all_gather"])]


def test_two_calls_collide() -> None:
    body = function(call("a", "layer", "x", "w"), call("r", "layer", "a", "w"))
    assert gapped("v5e", LAYER, body) == [(0, ["all_gather", "add", "all_gather"])]


def test_a_call_of_nothing_to_see_is_one_op() -> None:
    plain = function(sine("a", "x"), add("r", "a", "w"), name="plain")
    body = function(gather("y", "x", 0), call("s", "plain", "y", "w"), dot("r", "s", "w", 0))
    assert gapped("v5e", plain, body) == [(0, ["all_gather", "func.call", "dot_general"])]


def test_a_call_hands_on_only_what_reaches_its_result() -> None:
    """Once inlined; before that libtpu takes a call for an op like any other."""
    first = function(sine("r", "x"), name="first")
    body = function(permute("y", "x", 0), call("s", "first", "w", "y"), permute("r", "s", 0))
    assert gapped("gpu", first, body) == []
    body = function(gather("y", "x", 0), call("s", "first", "w", "y"), dot("r", "s", "w", 0))
    assert gapped("v5e", first, body) == [(0, ["all_gather", "func.call", "dot_general"])]


def test_dead_ops_make_no_gap() -> None:
    body = function(
        permute("y", "x", 0), add("s", "y", "w"), permute("dead", "s", 0), add("r", "y", "x")
    )
    assert gapped("gpu", body) == []


def test_a_loop_body_is_a_computation_of_its_own() -> None:
    inner = [gather("u", "c", 0), dot("v", "c", "w", 0), add("s", "u", "v")]
    body = function(*inner_of_main(), loop("l", "t", *inner, result="s", turns=2), result="l")
    assert gapped("v5e", body) == []


def test_a_loop_of_one_turn_is_not() -> None:
    inner = [gather("u", "c", 0), dot("v", "c", "w", 0), add("s", "u", "v")]
    body = function(*inner_of_main(), loop("l", "t", *inner, result="s", turns=1), result="l")
    assert gapped("v5e", body) == [(0, ["all_gather", "add", "all_gather"])]


def test_a_loop_below_a_call_of_nothing_else_to_see() -> None:
    inner = [
        gather("y", "c", 0),
        dot("z", "c", "w", 0),
        add("s", "y", "z"),
        gather("t", "s", 0),
    ]
    below = function(loop("r", "x", *inner, result="t", turns=2), name="below")
    body = function(*inner_of_main(), call("r", "below", "t", "w"))
    with seen("gpu", below, body) as view:
        [gap] = gaps(view)
        assert [node.name for node in gap.path][1:] == ["stablehlo.add", "stablehlo.all_gather"]
        assert [step.callee for step in gap.path[0].path] == ["below", None]


def inner_of_main() -> list[str]:
    return [gather("y", "x", 0), dot("z", "x", "w", 0), add("t", "y", "z")]


def test_a_copy_before_what_works_in_place() -> None:
    body = function(reduce("y", "x", 0), reduce("z", "y", 0), add("r", "y", "z"))
    assert gapped("gpu", body) == [(0, ["all_reduce", "copy", "all_reduce"])]
    assert gapped("gpu", function(reduce("y", "x", 0), reduce("r", "y", 0))) == []


def test_just_before_scheduling_what_is_awaited_is_the_only_member() -> None:
    """A matmul is a fusion by then, which has no part in the last check."""
    body = function(gather("y", "x", 0), dot("s", "y", "w", 0), gather("r", "s", 0))
    assert gapped("v5e", body) == [(0, ["all_gather", "dot_general", "all_gather"])]
    assert gapped("tpu7x", body) == []
    chain = function(gather("y", "x", 0), sine("s", "y"), add("t", "s", "y"), gather("r", "t", 0))
    assert gapped("v5e", chain) == [(0, ["all_gather", "add", "all_gather"])]
    fused = function(gather("y", "x", 0), sine("s", "y"), gather("r", "s", 0))
    assert gapped("v5e", fused) == []


def test_a_single_collective_elsewhere_keeps_the_group() -> None:
    ops = [dot("y", "x", "w", 0), add("s", "y", "w"), dot("t", "s", "w", 0)]
    assert gapped("v5e", function(*ops, result="t")) == []
    inner = loop("l", "t", gather("u", "c", 0), result="u", turns=2)
    assert [group for group, _ in gapped("v5e", function(*ops, inner, result="l"))] == [0]


def test_two_groups_with_gaps() -> None:
    body = function(
        gather("a", "x", 0),
        gather("b", "w", 1),
        add("s", "a", "b"),
        dot("c", "s", "w", 0),
        dot("d", "s", "x", 1),
        add("r", "c", "d"),
    )
    assert [group for group, _ in gapped("v5e", body)] == [0, 1]


def test_gpu_seeks_none_beside_a_broadcast() -> None:
    """Measured on XLA:GPU of jax 0.10.2 and 0.12.0.1, wherever the op is."""
    gap = permute("y", "x", 0), add("s", "y", "w"), permute("t", "s", 0)
    group = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
    broadcast = f'%b = "stablehlo.collective_broadcast"(%w) {{{group}}} : {UNARY}'
    assert gapped("gpu", function(*gap, broadcast, add("r", "t", "b"))) == []
    assert gapped("gpu", function(*gap, add("r", "t", "w"))) != []
