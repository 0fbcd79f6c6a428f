"""S3: the calls that this jax makes, told as they are.

A jitted function that picks group 0 is called within group 0 and without: told right, it makes a
group of its own in the first place only where it is jitted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.xla_metadata import set_xla_metadata

from tests.guarantees.programs import scope_text

Unary = Callable[[Any], Any]


def group(number: int) -> Any:
    return set_xla_metadata(_scheduling_group_id=number)


def groups(program: Unary) -> int:
    """How many groups there are after the pass."""
    module: Any = jax.jit(program).lower(jnp.ones((4, 4))).compiler_ir("stablehlo")
    text = module.operation.get_asm(enable_debug_info=True)
    return len(set(scope_text(text).ids.values()))


def layer(x: Any) -> Any:
    with group(0):
        return jnp.sin(x)


def in_scope(name: str, function: Unary) -> Unary:
    def scoped(x: Any) -> Any:
        with jax.named_scope(name):
            return function(x)

    return scoped


jitted = jax.jit(layer)
FROM_JIT: dict[str, Unary] = {
    "plain": jitted,
    "lambda": jax.jit(lambda x: layer(x)),
    "partial": jax.jit(partial(lambda y, x: layer(x) + y, 1.0)),
    "nested": jax.jit(lambda x: jitted(x) * 2.0),
    "slash": in_scope("a/b", jitted),
    "parentheses": in_scope("a(b)/c", jitted),
    "jit_of_the_scope": in_scope("jit(other)", jitted),
    "vmap": jax.vmap(jitted),
    "checkpoint": jax.checkpoint(jitted),
}
LIBRARY: dict[str, Unary] = {
    "cumsum": lambda x: jax.lax.cumsum(x, axis=0),
    "cumsum_in_a_scope_called_jit": in_scope("jit(layer)", lambda x: jax.lax.cumsum(x, axis=0)),
    "cumprod": lambda x: jax.lax.cumprod(x, axis=0),
    "cumlogsumexp": lambda x: jax.lax.cumlogsumexp(x, axis=0),
    "cummax": lambda x: jax.lax.cummax(x, axis=0),
    "jnp_cumsum": lambda x: jnp.cumsum(x, axis=0),
    "random": lambda x: x * jax.random.normal(jax.random.key(1), x.shape),
    "where": lambda x: jnp.where(x > 0, x, 0.5),
    "relu": jax.nn.relu,
    "sort": lambda x: jnp.sort(x, axis=0),
    "remainder": lambda x: x % 3.0,
    "clip": lambda x: jnp.clip(x, 0.0, 1.0),
    "softmax": jax.nn.softmax,
    "logsumexp": jax.nn.logsumexp,
    "fft": lambda x: jnp.fft.fft(x).real,
    "triangular": jnp.tril,
    "median": lambda x: jnp.median(x, axis=0),
    "scan": lambda x: jax.lax.scan(lambda c, _: (jnp.cumsum(c), None), x[0], None, length=2)[0],
    "cond": lambda x: jax.lax.cond(x[0, 0] > 0, lambda v: jnp.cumsum(v, axis=0), jnp.cos, x),
    "gradient_of_cumsum": jax.grad(lambda x: jnp.sum(jax.lax.cumsum(x, axis=0) ** 2)),
    "batched_random": jax.vmap(lambda x: x * jax.random.uniform(jax.random.key(1), x.shape)),
}


@pytest.mark.parametrize("name", FROM_JIT)
def test_a_jitted_function_is_a_group_of_its_own(name: str) -> None:
    """Its op waits for the caller's."""

    def program(x: Any) -> Any:
        with group(0):
            y = jnp.tanh(x)
        return FROM_JIT[name](y)

    assert groups(program) == 2


@pytest.mark.parametrize("name", LIBRARY)
def test_what_the_library_calls_within_a_group_is_the_groups(name: str) -> None:
    def program(x: Any) -> Any:
        with group(0):
            y = LIBRARY[name](jnp.tanh(x))
            return jnp.sin(y)

    assert groups(program) == 1


@pytest.mark.parametrize("name", LIBRARY)
def test_also_within_a_jitted_function_called_twice(name: str) -> None:
    @jax.jit
    def step(x: Any) -> Any:
        with group(0):
            y = LIBRARY[name](jnp.tanh(x))
            return jnp.sin(y) + jnp.zeros((4, 4))

    assert groups(lambda x: step(step(x))) == 2


def test_a_jitted_function_called_cumsum_that_calls_cumsum() -> None:
    def cumsum(x: Any) -> Any:
        with group(0):
            return jnp.sin(jax.lax.cumsum(jnp.tanh(x), axis=0))

    assert groups(cumsum) == 1
    assert groups(lambda x: jax.jit(cumsum)(jax.jit(cumsum)(x))) == 2


def test_gradients_of_a_jitted_function_are_two_groups() -> None:
    """Forward and backward are two functions, and the backward waits for the forward."""

    @jax.jit
    def step(x: Any) -> Any:
        with group(0):
            return jnp.sin(jax.lax.cumsum(jnp.tanh(x), axis=0))

    assert groups(jax.grad(lambda x: jnp.sum(step(x)))) == 2
    assert groups(jax.grad(lambda x: jnp.sum(jax.vmap(step)(x[None])))) == 2
    assert groups(lambda x: jax.linearize(step, x)[1](x)) == 2
