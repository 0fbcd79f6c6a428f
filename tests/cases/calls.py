"""Functions that hold a group, called more than once."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

from tests.cases.kit import Function, Kit, group, metadata_call
from tests.cases.lowering import mapped
from tests.cases.registry import case, global_case


@case
def seed(kit: Kit) -> Function:
    """The program of the public bug report: a jitted method with four groups, used twice."""

    @jax.jit
    def shuffle_add(x: jax.Array) -> jax.Array:
        total = jnp.zeros_like(x)
        for step in range(4):
            with group(step):
                total += x
                x = jax.lax.pshuffle(x, "i", [3, 0, 1, 2])
        return total

    return lambda x, w: shuffle_add(jnp.sin(shuffle_add(x)))


@case
def once(kit: Kit) -> Function:
    return lambda x, w: kit.layer(x, w)


@case
def twice(kit: Kit) -> Function:
    return lambda x, w: kit.layer(kit.layer(x, w), w)


@case
def two_methods(kit: Kit) -> Function:
    return lambda x, w: kit.other_layer(kit.layer(x, w), w)


@case
def nested(kit: Kit) -> Function:
    @jax.jit
    def block(x: jax.Array, w: jax.Array) -> jax.Array:
        return kit.layer(kit.layer(x, w), w)

    return lambda x, w: block(block(x, w), w)


@case
def independent(kit: Kit) -> Function:
    """Two microbatches: XLA makes one group of both, and accepts it."""
    return lambda x, w: kit.layer(x, w) + kit.layer(jnp.sin(x), w)


@case
def independent_sum(kit: Kit) -> Function:
    @jax.jit
    def halves(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        with group(0):
            return kit.move(x), x @ w

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        a, b = halves(x, w)
        c, d = halves(jnp.sin(x), w)
        return a + b + c + d

    return program


@case
def iteration_suffix(kit: Kit) -> Function:
    @jax.jit
    def step(x: jax.Array, w: jax.Array) -> jax.Array:
        with group("4:-1"):
            y = kit.move(x)
        with group("4"):
            z = x @ w
        return y + z

    return lambda x, w: step(jnp.tanh(step(x, w)), w)


@case
def user_key(kit: Kit) -> Function:
    """A combiner_key of the user's own, on groups that depend and groups that do not."""

    @jax.jit
    def step(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0, combiner_key="mine"):
            y = kit.move(x)
        with group(0):
            z = x @ w
        return jnp.tanh(y + z)

    return lambda x, w: step(step(x, w), w) + step(jnp.cos(x), w)


@case
def mixed_order(kit: Kit) -> Function:
    """XLA:GPU aborts the process when only some ops of a group keep their order."""
    from tests.cases.kit import BACKWARD, FORWARD

    @jax.jit
    def step(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(1, keep_original_sequence_order_in_group=True):
            y = jax.lax.ppermute(x, "i", FORWARD)
        with group(1):
            z = jax.lax.ppermute(x, "i", BACKWARD)
        return y + z @ w

    return lambda x, w: step(x, w)


@case
def composite_twice(kit: Kit) -> Function:
    @partial(jax.lax.composite, name="my.layer")
    def layer(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0):
            y = kit.move(x)
            z = x @ w
        return jnp.tanh(y + z)

    return lambda x, w: layer(layer(x, w), w)


@global_case
def shard_map_twice_global(kit: Kit) -> Function:
    """Two manual computations with one body."""

    def layer(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0):
            y = kit.move(x)
            z = x @ w
        return jnp.tanh(y + z)

    mapped_layer = mapped(layer)
    return lambda x, w: mapped_layer(mapped_layer(x, w), w)


@case
def call_level(kit: Kit) -> Function:
    """The id sits on the calls only; XLA puts it on each body's root."""

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        both = metadata_call("3", lambda x, w: (kit.move(x), x @ w))
        a, b = both(x, w)
        c, d = both(jnp.tanh(a + b), w)
        return c + d

    return program


@case
def call_level_grad(kit: Kit) -> Function:
    """jax puts one id on the forward and the backward call."""

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        layer = metadata_call("3", lambda x, w: jnp.tanh(kit.move(x) + x @ w))
        return jax.grad(lambda v: jnp.sum(layer(v, w) ** 2))(x)

    return program


@case
def unannotated(kit: Kit) -> Function:
    return lambda x, w: jax.lax.psum(x @ w, "i")
