"""Which ops XLA keeps as members, and which groups it drops in silence."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from tests.cases.kit import Family, exchange, group
from tests.cases.kit import gather as gathered
from tests.cases.lowering import lower, mapped
from tests.conftest import CompilerFor
from tests.lint_model.modules import T, add, call, dot, function, gather, permute, seen, sine
from tests.xla.compilers import Target
from tests.xla.hlo import members


def groups(target: str, *functions: str) -> dict[int, list[str]]:
    with seen(target, *functions) as view:
        [computation] = view.computations
        return {
            group: [node.name.removeprefix("stablehlo.") for node in computation.members(group)]
            for group in computation.membership.members
        }


def test_kinds() -> None:
    body = function(
        permute("a", "x", 0), gather("b", "a", 0), dot("c", "b", "w", 0), add("r", "c", "x", 0)
    )
    assert groups("gpu", body) == {0: ["collective_permute", "all_gather"]}
    assert groups("v5e", body) == {0: ["all_gather", "dot_general"]}


def test_results_of_a_barrier_are_not_equal() -> None:
    barrier = f'%b:2 = "stablehlo.optimization_barrier"(%x, %w) : ({T}, {T}) -> ({T}, {T})'
    body = function(
        barrier, gather("a", "b#0", 0), gather("c", "b#1", 0), dot("d", "b#0", "b#1", 0),
        add("e", "a", "c"), add("r", "d", "e"),
    )  # fmt: skip
    assert groups("v5e", body) == {0: ["all_gather", "all_gather", "dot_general"]}


def test_a_group_of_one_is_dropped_on_tpu() -> None:
    body = function(gather("y", "x", 0), add("r", "y", "x"))
    assert groups("v5e", body) == {}
    assert groups("gpu", body) == {0: ["all_gather"]}  # a start and a done


def test_a_group_without_a_collective_is_dropped() -> None:
    assert groups("v5e", function(dot("y", "x", "w", 0), dot("r", "y", "w", 0))) == {}


def test_equal_ops_are_one() -> None:
    body = function(gather("a", "x", 0), gather("b", "x", 1), add("r", "a", "b"))
    assert groups("gpu", body) == {0: ["all_gather"]}


def test_of_equal_ops_that_stays_which_the_result_needs_first() -> None:
    gathers = gather("a", "x", 0), gather("b", "x", 1), dot("c", "a", "w"), sine("d", "b")
    assert groups("gpu", function(*gathers, add("r", "c", "d"))) == {0: ["all_gather"]}
    assert groups("gpu", function(*gathers, add("r", "d", "c"))) == {1: ["all_gather"]}


def test_of_equal_ops_the_one_without_an_id_may_stay() -> None:
    gathers = gather("a", "x", 0), gather("b", "x"), dot("c", "a", "w"), sine("d", "b")
    assert groups("gpu", function(*gathers, add("r", "d", "c"))) == {}


@pytest.mark.xla
@pytest.mark.parametrize("target", ["gpu", "v5e", "tpu7x"])
@pytest.mark.parametrize("first", [0, 1])
def test_xla_keeps_that_one(first: int, target: Target, compiler_for: CompilerFor) -> None:
    family: Family = "gpu" if target == "gpu" else "tpu"

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        move = exchange if family == "gpu" else gathered
        with group(0):
            a, b = move(x), x @ w
        with group(1):
            c, d = move(x), jnp.sin(x) @ w
        one, other = jnp.tanh(a + b), jnp.cos(c) + d
        return other * one if first else one * other

    verdict = compiler_for(target).compile(lower(mapped(program), family).bytecode)
    assert {member.group for member in members(verdict.hlo)} == {str(first)}


def test_equal_ops_of_other_operands_are_two() -> None:
    body = function(gather("a", "x", 0), gather("b", "w", 0), add("r", "a", "b"))
    assert groups("v5e", body) == {0: ["all_gather", "all_gather"]}


def test_a_tagged_call_hands_its_id_to_the_root() -> None:
    move = function(sine("s", "x"), permute("r", "s"), name="move")
    body = function(call("r", "move", "x", "w", group=3))
    assert groups("gpu", move, body) == {3: ["collective_permute"]}


def test_a_node_knows_its_call_path() -> None:
    inner = function(gather("y", "x", 0), dot("r", "y", "w", 0), name="inner")
    outer = function(call("r", "inner", "x", "w"), name="outer")
    body = function(call("r", "outer", "x", "w"))
    with seen("v5e", inner, outer, body) as view:
        [first, _] = view.computations[0].members(0)
        assert [step.callee for step in first.path] == ["outer", "inner"]
        assert [step.op.name for step in first.path] == ["func.call", "func.call"]
        assert (first.group, first.is_member) == (0, True)


def test_what_holds_no_group_is_left_out() -> None:
    with seen("v5e", function(gather("y", "x"), dot("r", "y", "w"))) as view:
        assert view.computations == []
        assert view.earlier == []
