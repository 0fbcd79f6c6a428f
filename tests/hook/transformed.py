"""Programs that use the parts of jax; a jitted helper holds a group, and is called twice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from tests.cases.kit import Function
from tests.hook.programs import X, make_layer


class Built(NamedTuple):
    """A program that jax has not met before."""

    jitted: Any
    arguments: tuple[Any, ...] = (X,)
    groups: int = 2
    """How many there are when scoped. jax lowers a helper once for all its calls in one module, so
    without the hook there is one."""


Build = Callable[[], Built]

BUILDS: dict[str, Build] = {}


def program(build: Build) -> Build:
    BUILDS[build.__name__] = build
    return build


def twice(layer: Function) -> Function:
    return lambda x: layer(layer(x) * 2.0)


def loss(layer: Function) -> Function:
    return lambda x: jnp.sum(twice(layer)(x) ** 2)


@program
def grad() -> Built:
    return Built(jax.jit(jax.grad(loss(make_layer()))), groups=4)


@program
def value_and_grad() -> Built:
    return Built(jax.jit(jax.value_and_grad(loss(make_layer()))), groups=4)


@program
def hessian_vector() -> Built:
    gradient = jax.grad(loss(make_layer()))
    return Built(jax.jit(lambda x: jax.jvp(gradient, (x,), (jnp.ones_like(x),))), groups=4)


@program
def vmap() -> Built:
    return Built(jax.jit(jax.vmap(twice(make_layer()))), (np.stack([X, X * 3]),))


@program
def scan() -> Built:
    step = twice(make_layer())

    def over(x: jax.Array) -> Any:
        return jax.lax.scan(lambda c, t: (step(c) + t, c), x, jnp.arange(3.0))

    return Built(jax.jit(over))


@program
def grad_of_scan() -> Built:
    step = twice(make_layer())

    def over(x: jax.Array) -> jax.Array:
        return jnp.sum(jax.lax.scan(lambda c, _: (step(c), None), x, None, length=3)[0])

    return Built(jax.jit(jax.grad(over)), groups=3)


@program
def cond() -> Built:
    layer = make_layer()

    def branch(x: jax.Array) -> Any:
        return jax.lax.cond(x[0, 0] > 0, layer, twice(layer), x)

    return Built(jax.jit(branch))


@program
def while_loop() -> Built:
    step = twice(make_layer())

    def loop(x: jax.Array) -> Any:
        return jax.lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, step(c[1])), (0, x))

    return Built(jax.jit(loop))


@program
def checkpoint() -> Built:
    layer = jax.checkpoint(make_layer())
    return Built(jax.jit(jax.grad(loss(layer))), groups=6)


@program
def custom_vjp() -> Built:
    layer = make_layer()

    @jax.custom_vjp
    def own(x: jax.Array) -> jax.Array:
        return layer(x)

    def forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return layer(x), x

    def backward(x: jax.Array, back: jax.Array) -> tuple[jax.Array]:
        return (layer(x) * back,)

    own.defvjp(forward, backward)
    return Built(jax.jit(jax.grad(loss(own))))


@program
def custom_jvp() -> Built:
    layer = make_layer()

    @jax.custom_jvp
    def own(x: jax.Array) -> jax.Array:
        return layer(x)

    own.defjvps(lambda t, _, x: t * layer(x))
    return Built(jax.jit(jax.value_and_grad(loss(own))))


@program
def map_over_rows() -> Built:
    layer = make_layer()
    return Built(jax.jit(lambda x: jax.lax.map(twice(layer), jnp.stack([x, x + 1.0]))))


@program
def donated() -> Built:
    return Built(jax.jit(twice(make_layer()), donate_argnums=0))


@program
def static() -> Built:
    layer = make_layer()

    @partial(jax.jit, static_argnames="count")
    def repeat(x: jax.Array, count: int) -> jax.Array:
        for _ in range(count):
            x = layer(x)
        return x

    return Built(repeat, (X, 3), groups=3)


@program
def inlined() -> Built:
    """jax inlines the helper by itself, and the outer one is called twice."""
    inner = make_layer()
    helper = jax.jit(jax.jit(lambda x: inner(x), inline=True))
    return Built(jax.jit(twice(helper)))


@program
def pure_callback() -> Built:
    def on_host(x: Any) -> Any:
        return np.asarray(x) + np.float32(1)

    def called(x: jax.Array) -> Any:
        return jax.pure_callback(on_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    layer = make_layer()
    return Built(jax.jit(lambda x: layer(called(layer(x)))))


@program
def ordered_callback() -> Built:
    layer = make_layer()

    def called(x: jax.Array) -> jax.Array:
        result = jax.ShapeDtypeStruct(x.shape, x.dtype)
        held: jax.Array = io_callback(lambda v: np.asarray(v) * 2, result, layer(x), ordered=True)
        return held

    return Built(jax.jit(twice(jax.jit(called))))


@program
def random_keys() -> Built:
    layer = make_layer()

    def noisy(x: jax.Array) -> jax.Array:
        first, second = jax.random.split(jax.random.key(7))
        y = layer(x + jax.random.normal(first, x.shape))
        return layer(y + jax.random.normal(second, x.shape))

    return Built(jax.jit(noisy))


@program
def containers() -> Built:
    layer = make_layer()
    return Built(
        jax.jit(lambda tree: {"y": layer(layer(tree["x"])), "n": tree["n"] + 1}),
        ({"x": X, "n": np.int32(3)},),
    )
