"""Calls made inside a group, which belong to the caller's group."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tests.cases.kit import Function, Kit, group, on_stream
from tests.cases.registry import case


@case
def library_calls(kit: Kit) -> Function:
    """`where`, `relu` and `cumsum` are calls; jax tags the first two and not the third."""

    @jax.jit
    def step(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(1):
            y = kit.move(x)
            z = jnp.where(x > 0, x, 0.0) @ w
            z = jax.nn.relu(z) + jax.lax.cumsum(x, axis=1)
        return y + z

    return lambda x, w: step(jnp.tanh(step(x, w)), w)


@case
def under_group(kit: Kit) -> Function:
    @jax.jit
    def both(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        return kit.move(x), x @ w

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(7):
            a, b = both(x, w)
            c = w[: x.shape[0]] @ w
        return a + b + c

    return program


@case
def two_streams(kit: Kit) -> Function:
    """One group over two GPU streams; `compute_on` makes calls that carry no id."""
    first = on_stream(1, lambda a, b: a @ b)
    second = on_stream(2, lambda a, b: jnp.sin(a) @ b)

    @jax.jit
    def block(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(1):
            u = first(x, w)
            v = second(x, w)
        return u + v

    return lambda x, w: block(block(x, w), w)
