"""Loops that run once, and branches that a constant takes: XLA melts them into what is around
them before it looks for gaps, so their groups meet those outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from tests.cases.kit import Family, Function, exchange, gather, group
from tests.cases.lowering import Lowered, lower, mapped
from tests.conftest import CompilerFor
from tests.reference.checks import wrong
from tests.reference.modules import read
from tests.scoping import scope
from tests.xla.compilers import Target

TARGETS: tuple[Target, ...] = ("gpu", "v5e", "tpu7x")
Around = Callable[[Function, jax.Array, jax.Array], jax.Array]


def scanned(length: int) -> Around:
    def around(inner: Function, x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda c, _: (inner(c, w), None), x, None, length=length)[0]

    return around


def counted(start: int, test: Callable[[jax.Array], jax.Array], step: int) -> Around:
    def around(inner: Function, x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.while_loop(
            lambda state: test(state[0]),
            lambda state: (state[0] + step, inner(state[1], w)),
            (jnp.int32(start), x),
        )[1]

    return around


def bound_passed_in(inner: Function, x: jax.Array, w: jax.Array) -> jax.Array:
    @jax.jit
    def repeat(x: jax.Array, w: jax.Array, count: int) -> jax.Array:
        return jax.lax.fori_loop(0, count, lambda _, c: inner(c, w), x)

    return repeat(x, w, 1)


def branch(predicate: Callable[[jax.Array], jax.Array]) -> Around:
    def around(inner: Function, x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.cond(predicate(x), lambda c: inner(c, w), jnp.cos, x)

    return around


def predicate_passed_in(inner: Function, x: jax.Array, w: jax.Array) -> jax.Array:
    @jax.jit
    def choose(x: jax.Array, w: jax.Array, test: jax.Array) -> jax.Array:
        return jax.lax.cond(test, lambda c: inner(c, w), jnp.cos, x)

    return choose(x, w, jnp.array(True))


MELTED: dict[str, Around] = {
    "scan_of_one": scanned(1),
    "below": counted(5, lambda i: i < 6, 1),
    "below_by_twos": counted(0, lambda i: i < 2, 2),
    "up_to": counted(0, lambda i: i <= 0, 1),
    "until": counted(0, lambda i: i != 1, 1),
    "down": counted(1, lambda i: i > 0, -1),
    "bound_passed_in": bound_passed_in,
    "constant_branch": branch(lambda x: jnp.array(True)),
    "folded_branch": branch(lambda x: jnp.zeros(()) + 1 > 0),
    "decided_branch": branch(lambda x: (x[0, 0] > 0) | True),
}
KEPT: dict[str, Around] = {
    "scan_of_two": scanned(2),
    "branch_on_data": branch(lambda x: x[0, 0] > 0),
    "branch_on_device": branch(lambda x: jax.lax.axis_index("i") >= 0),
    "branch_on_reduction": branch(lambda x: jnp.sum(jnp.ones((4,))) > 3),
    "predicate_passed_in": predicate_passed_in,
}


OFTEN = ("scan_of_one", "bound_passed_in", "constant_branch", "scan_of_two", "predicate_passed_in")
"""What the ordinary run asks the compilers; the rest is slow."""
UNSEEN = ("bound_passed_in",)
"""What XLA melts and the pass takes for a region of its own."""


def asked(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=() if name in OFTEN else pytest.mark.slow) for name in names]


def seen(names: Iterable[str]) -> list[Any]:
    unseen = pytest.mark.xfail(strict=True, reason="the pass does not see that XLA melts it")
    return [pytest.param(name, marks=unseen if name in UNSEEN else ()) for name in names]


def program(around: Around, family: Family, inner_id: int) -> Lowered:
    """One group before the region, and one in it."""
    move = exchange if family == "gpu" else gather

    def layer(number: int) -> Function:
        @jax.jit
        def layer(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(number):
                y = move(x)
                z = x @ w
            return jnp.tanh(y + z)

        return layer

    first, inner = layer(0), layer(inner_id)
    return lower(mapped(lambda x, w: around(inner, first(x, w), w)), family)


def family_of(target: Target) -> Family:
    return "gpu" if target == "gpu" else "tpu"


@pytest.mark.xla
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", asked(MELTED))
def test_xla_melts_the_region(name: str, target: Target, compiler_for: CompilerFor) -> None:
    compiler, family = compiler_for(target), family_of(target)
    assert compiler.compile(program(MELTED[name], family, 0).bytecode).kind == "gap"
    assert compiler.compile(program(MELTED[name], family, 1).bytecode).kind == "ok"


@pytest.mark.xla
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", asked(KEPT))
def test_xla_keeps_the_region(name: str, target: Target, compiler_for: CompilerFor) -> None:
    module = program(KEPT[name], family_of(target), 0).bytecode
    assert compiler_for(target).compile(module).kind == "ok"


@pytest.mark.parametrize("name", KEPT)
def test_a_region_of_its_own_is_left_alone(name: str) -> None:
    assert not scope(program(KEPT[name], "tpu", 0).bytecode).changed


@pytest.mark.parametrize("family", ["gpu", "tpu"])
@pytest.mark.parametrize("name", seen(MELTED))
def test_groups_in_a_melted_region_are_told_apart(name: str, family: Family) -> None:
    module = program(MELTED[name], family, 0).bytecode
    assert wrong(read(module), read(scope(module).bytecode)) == []
