"""Programs compute the same to the bit with the hook and without, and their groups are scoped."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
from schedscope import ScopeReport, hook

from tests.hook.programs import X, bits, groups, make_layer
from tests.hook.sharded import SHARDED
from tests.hook.transformed import BUILDS, twice

ALL = BUILDS | SHARDED


@pytest.fixture(autouse=True)
def _quick() -> Iterator[None]:
    """Compiles in half the time."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.parametrize("name", ALL)
def test_results_are_the_same_to_the_bit(name: str) -> None:
    reports: list[ScopeReport] = []
    build = ALL[name]
    unhooked, _, _ = build()
    before = bits(unhooked(*build().arguments))
    hook.install(on_report=reports.append)
    hooked, _, _ = build()
    after = bits(hooked(*build().arguments))
    again = bits(hooked(*build().arguments))
    assert any(any(data) for _, _, data in before)
    assert after == again == before
    assert any(each.changed for each in reports)


@pytest.mark.parametrize("name", ALL)
def test_the_groups_are_scoped(name: str) -> None:
    jitted, arguments, count = ALL[name]()
    assert groups(jitted.lower(*arguments)) == ["0"]
    hook.install()
    assert groups(jitted.lower(*arguments)) == [str(id) for id in range(count)]


def test_what_lowers_nothing_is_untouched() -> None:
    program = twice(make_layer())
    jaxpr, shape = str(jax.make_jaxpr(program)(X)), jax.eval_shape(program, X)
    hook.install()
    assert str(jax.make_jaxpr(program)(X)) == jaxpr
    assert jax.eval_shape(program, X) == shape


def test_op_by_op_jitted_helpers_work() -> None:
    layer = make_layer()
    before = bits(layer(layer(X)))
    hook.install()
    layer = make_layer()
    assert bits(layer(layer(X))) == before


def test_a_debug_callback_prints_for_every_call(capfd: pytest.CaptureFixture[str]) -> None:
    inner = make_layer()

    @jax.jit
    def layer(x: jax.Array) -> jax.Array:
        jax.debug.print("first {}", x[0, 0], ordered=True)
        return inner(x)

    hook.install()
    jax.block_until_ready(jax.jit(twice(layer))(X))
    jax.effects_barrier()
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "first -1.0"
    assert len(lines) == 2
    assert lines[0] != lines[1]


def test_ahead_of_time_is_what_the_call_computes() -> None:
    before = bits(jax.jit(twice(make_layer()))(X))
    hook.install()
    compiled = jax.jit(twice(make_layer())).lower(X).compile()
    assert bits(compiled(X)) == before


def test_both_of_several_platforms_are_scoped() -> None:
    hook.install()
    traced = jax.jit(twice(make_layer())).trace(X)
    assert groups(traced.lower(lowering_platforms=("cuda",))) == ["0", "1"]
