"""One id used more than once in one function: nothing that scoping alone could cure."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tests.cases.kit import Function, Kit, group
from tests.cases.registry import case


@case
def grad_inline(kit: Kit) -> Function:
    def layer(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0):
            y = kit.move(x)
            z = x @ w
        return jnp.tanh(y + z)

    return lambda x, w: jax.grad(lambda v: jnp.sum(layer(layer(v, w), w) ** 2))(x)


@case
def reused_in_one_function(kit: Kit) -> Function:
    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        for _ in range(3):
            with group(5):
                y = kit.move(x)
                z = x @ w
            x = jnp.tanh(y + z)
        return x

    return program


@case
def crossed(kit: Kit) -> Function:
    """Two groups that wait for each other."""

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        top = w[: x.shape[0]]
        with group(1):
            a = kit.move(x)
            e = x @ w
        with group(2):
            b = kit.move(top)
            f = top @ w
        with group(2):
            g = a @ w
        with group(1):
            h = b @ w
        return e + f + g + h

    return program


@case
def one_group_beside_dot(kit: Kit) -> Function:
    """Nothing is reused, and yet XLA:TPU cannot schedule it."""

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0):
            a = kit.move(x)
            b = x @ w
        return jnp.sin(x) @ w + a + b

    return program
