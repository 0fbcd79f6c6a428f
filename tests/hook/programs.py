"""A program with a helper that holds a group and is called twice, and what jax makes of it."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.cases.kit import Function, group

X = np.linspace(-1.0, 1.0, 32, dtype=np.float32).reshape(4, 8)
W = np.cos(np.arange(64, dtype=np.float32)).reshape(8, 8) / 8


def make_layer(annotation: int | str = 0) -> Function:
    """Jitted; a new one each time, so that jax has nothing of it in store."""

    @jax.jit
    def layer(x: jax.Array) -> jax.Array:
        with group(annotation):
            y = jnp.sin(x)
            z = x @ W
        return jnp.tanh(y + z)

    return layer


def dependent(annotation: int | str = 0) -> Any:
    """Jitted; two calls that need a group each: 0 is 0 and 1 when scoped."""
    layer = make_layer(annotation)

    @jax.jit
    def dependent(x: jax.Array) -> jax.Array:
        return layer(layer(x) * 2.0)

    return dependent


def independent() -> Any:
    """Jitted; two calls that stay one group."""
    layer = make_layer()

    @jax.jit
    def independent(x: jax.Array) -> jax.Array:
        return layer(x) + layer(x * 2.0)

    return independent


def plain() -> Any:
    """Jitted; no group in it."""

    @jax.jit
    def plain(x: jax.Array) -> jax.Array:
        return jnp.sin(x)

    return plain


def groups(module: Any) -> list[str]:
    """The ids in a module, of a `Lowered` or an `Exported`, or in its text."""
    if hasattr(module, "as_text"):
        module = module.as_text()
    elif hasattr(module, "mlir_module"):
        module = module.mlir_module()
    return sorted(set(re.findall(r'_scheduling_group_id = "(.*?)"', module)))


def bits(tree: Any) -> list[tuple[tuple[int, ...], str, bytes]]:
    """Every array in it, to the bit."""
    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    return [(each.shape, str(each.dtype), each.tobytes()) for each in arrays]
