"""Programs on four devices."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from tests.cases.kit import Function, exchange, group
from tests.cases.lowering import mesh
from tests.hook.programs import W, X
from tests.hook.transformed import Build, Built, twice
from tests.jax_versions import shard_map

SHARDED: dict[str, Build] = {}


def program(build: Build) -> Build:
    SHARDED[build.__name__] = build
    return build


def make_moving_layer() -> Function:
    """Jitted; a group of a permute beside a matmul."""

    @jax.jit
    def layer(x: jax.Array) -> jax.Array:
        with group(0):
            y = exchange(x)
            z = x @ W
        return jnp.tanh(y + z)

    return layer


def mapped(function: Function) -> Function:
    result: Function = shard_map(function, mesh=mesh(), in_specs=P("i"), out_specs=P("i"))
    return result


def on_mesh(x: Any = X) -> jax.Array:
    return jax.device_put(x, NamedSharding(mesh(), P("i")))


@program
def jit_inside_shard_map() -> Built:
    return Built(jax.jit(mapped(twice(make_moving_layer()))))


@program
def shard_map_inside_jit() -> Built:
    """The helper is the jitted map itself."""
    return Built(jax.jit(twice(jax.jit(mapped(make_moving_layer())))))


@program
def shard_map_twice() -> Built:
    return Built(jax.jit(twice(mapped(make_moving_layer()))))


@program
def grad_of_shard_map() -> Built:
    body = mapped(twice(make_moving_layer()))
    return Built(jax.jit(jax.grad(lambda x: jnp.sum(body(x) ** 2))), groups=4)


@program
def shardings() -> Built:
    split, whole = NamedSharding(mesh(), P("i")), NamedSharding(mesh(), P())
    jitted = jax.jit(
        twice(jax.jit(mapped(make_moving_layer()))), in_shardings=split, out_shardings=whole
    )
    return Built(jitted)


@program
def donated_shards() -> Built:
    jitted = jax.jit(twice(jax.jit(mapped(make_moving_layer()))), donate_argnums=0)
    return Built(jitted, (on_mesh(),))


@program
def sharding_constraint() -> Built:
    layer = jax.jit(mapped(make_moving_layer()))
    split = NamedSharding(mesh(), P("i"))

    def constrained(x: jax.Array) -> jax.Array:
        return layer(jax.lax.with_sharding_constraint(layer(x), split))

    return Built(jax.jit(constrained), (on_mesh(),))


@program
def pmap() -> Built:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        jitted = jax.pmap(twice(make_moving_layer()), axis_name="i")
    return Built(jitted, (X[:, None],))
