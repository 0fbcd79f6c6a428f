"""Groups in loops and branches, and under differentiation."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tests.cases.kit import Function, Kit, group
from tests.cases.registry import case


@case
def scan_body(kit: Kit) -> Function:
    def body(carry: jax.Array, w: jax.Array) -> jax.Array:
        return kit.layer(kit.layer(carry, w), w)

    return lambda x, w: jax.lax.scan(lambda c, _: (body(c, w), None), x, None, length=4)[0]


@case
def cond_branches(kit: Kit) -> Function:
    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        result: jax.Array = jax.lax.cond(
            x[0, 0] > 0, lambda: kit.layer(kit.layer(x, w), w), lambda: kit.layer(x, w)
        )
        return result

    return program


@case
def unrolled_scan(kit: Kit) -> Function:
    """Unrolling puts the plain body twice into one loop body; before jax 0.11 as two calls."""

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        def body(carry: jax.Array, _: None) -> tuple[jax.Array, None]:
            with group(2):
                y = kit.move(carry)
                z = carry @ w
            return jnp.tanh(y + z), None

        return jax.lax.scan(body, x, None, length=4, unroll=2)[0]

    return program


@case
def grad_jitted(kit: Kit) -> Function:
    return lambda x, w: jax.grad(lambda v: jnp.sum(kit.layer(kit.layer(v, w), w) ** 2))(x)


@case
def grad_remat(kit: Kit) -> Function:
    layer = jax.checkpoint(kit.layer)
    return lambda x, w: jax.grad(lambda v: jnp.sum(layer(layer(v, w), w) ** 2))(x)
