"""One group made of several helpers' calls."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tests.cases.kit import Function, Kit, group
from tests.cases.registry import case


def _helpers(kit: Kit) -> tuple[Function, Function]:
    @jax.jit
    def prefetch(v: jax.Array) -> jax.Array:
        with group(1):
            return kit.move(v)

    @jax.jit
    def attend(x: jax.Array, v: jax.Array) -> jax.Array:
        with group(1):
            return x @ v

    return prefetch, attend


@case
def shared_helpers(kit: Kit) -> Function:
    prefetch, attend = _helpers(kit)

    @jax.jit
    def block(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
        return jnp.tanh(attend(x, w) + prefetch(v[: x.shape[0]]))

    return lambda x, w: block(block(x, w, w), w, w * 2.0)


@case
def pipelined(kit: Kit) -> Function:
    """Each step's compute runs beside the prefetch for the next."""
    prefetch, attend = _helpers(kit)

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        v = w[: x.shape[0]]
        for step in range(3):
            following = prefetch(v * (step + 2.0))
            x = jnp.tanh(attend(x, v @ w))
            v = following
        return x + v

    return program


@case
def gather_helper(kit: Kit) -> Function:
    @jax.jit
    def fetch(v: jax.Array) -> jax.Array:
        with group(1):
            return kit.move(v)

    return lambda x, w: fetch(x) + fetch(x * 2.0) + fetch(jnp.sin(x))


@case
def equal_gathers(kit: Kit) -> Function:
    """Each call moves the same operand, and XLA makes one of the three."""

    @jax.jit
    def project(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        with group(1):
            return kit.move(x), x @ w

    def summed(x: jax.Array, w: jax.Array) -> jax.Array:
        y, z = project(x, w)
        return y + z

    return lambda x, w: summed(x, w) + summed(x, w * 2.0) + summed(x, w * 3.0)
