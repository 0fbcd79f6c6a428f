"""What is advised is asked of XLA: it refuses a program, and accepts it with the advice taken."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from schedscope import modules, scope_module

from tests.cases import registry
from tests.cases.kit import Function, gather, group
from tests.cases.lowering import lower, mapped
from tests.conftest import CompilerFor
from tests.xla.compilers import Kind


def reused_apart(x: jax.Array, w: jax.Array) -> jax.Array:
    """Ids of their own."""
    for step in range(3):
        with group(step):
            y = gather(x)
            z = x @ w
        x = jnp.tanh(y + z)
    return x


def reused_jitted(x: jax.Array, w: jax.Array) -> jax.Array:
    """The repeated part in a jitted function."""

    @jax.jit
    def part(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(5):
            y = gather(x)
            z = x @ w
        return jnp.tanh(y + z)

    for _ in range(3):
        x = part(x, w)
    return x


def grad_jitted(x: jax.Array, w: jax.Array) -> jax.Array:
    @jax.jit
    def layer(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0):
            y = gather(x)
            z = x @ w
        return jnp.tanh(y + z)

    return jax.grad(lambda v: jnp.sum(layer(layer(v, w), w) ** 2))(x)


def crossed_apart(x: jax.Array, w: jax.Array) -> jax.Array:
    """Other ids for the ops that wait."""
    top = w[: x.shape[0]]
    with group(1):
        a = gather(x)
        e = x @ w
    with group(2):
        b = gather(top)
        f = top @ w
    with group(3):
        g = a @ w
    with group(4):
        h = b @ w
    return e + f + g + h


def beside_dot_with_barrier(x: jax.Array, w: jax.Array) -> jax.Array:
    with group(0):
        a = gather(x)
        b = x @ w
    b = jax.lax.optimization_barrier(b)
    return jnp.sin(x) @ w + a + b


@pytest.mark.xla
@pytest.mark.parametrize(
    ("refused", "kind", "advised"),
    [
        ("reused_in_one_function", "gap", reused_apart),
        ("reused_in_one_function", "gap", reused_jitted),
        ("grad_inline", "gap", grad_jitted),
        ("crossed", "stuck", crossed_apart),
        ("one_group_beside_dot", "stuck", beside_dot_with_barrier),
    ],
)
def test_the_advice_helps(
    refused: str, kind: Kind, advised: Function, compiler_for: CompilerFor
) -> None:
    before = registry.lower_case(refused, "tpu").bytecode
    after = lower(mapped(advised), "tpu").bytecode
    for bytecode, wanted in ((before, kind), (after, "ok")):
        source = modules.read(bytecode, refused)
        scope_module(source.module)
        assert compiler_for("v5e").compile(modules.write(source)).kind == wanted
