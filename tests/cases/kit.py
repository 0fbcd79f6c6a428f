"""What the case programs are made of: four devices on one axis, a collective, a layer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata

from tests.jax_versions import compute_on, xla_metadata_call

Family = Literal["gpu", "tpu"]
"""GPU keeps collective-permutes in a group, TPU does not; so each gets a collective of its own."""

Function = Callable[..., Any]

FORWARD = [(0, 1), (1, 2), (2, 3), (3, 0)]
BACKWARD = [(target, source) for source, target in FORWARD]


def group(annotation: int | str, **others: Any) -> AbstractContextManager[Any]:
    """Tags the ops made in its context."""
    context: AbstractContextManager[Any] = set_xla_metadata(
        _scheduling_group_id=annotation, **others
    )
    return context


def metadata_call(annotation: str, function: Function) -> Function:
    """Tags the call only."""
    tagged: Function = xla_metadata_call(function, _scheduling_group_id=annotation)
    return tagged


def on_stream(stream: int, function: Function) -> Function:
    """Runs on a GPU stream of its own."""
    placed: Function = compute_on(f"gpu_stream:{stream}", jax.jit(function))
    return placed


def exchange(x: jax.Array) -> jax.Array:
    return jax.lax.ppermute(x, "i", FORWARD)


def gather(x: jax.Array) -> jax.Array:
    return jax.lax.all_gather(x, "i", tiled=True)[: x.shape[0]]


@dataclass(frozen=True)
class Kit:
    """Built once for each lowering, so that no jitted function is shared between programs."""

    move: Function
    """The family's collective; the result has the operand's shape."""
    layer: Function
    """Jitted; holds group 0: `move` beside a matmul."""
    other_layer: Function
    """Jitted; another function that picked group 0 too."""


def make_kit(family: Family) -> Kit:
    move = exchange if family == "gpu" else gather

    @jax.jit
    def layer(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0):
            y = move(x)
            z = x @ w
        return jnp.tanh(y + z)

    @jax.jit
    def other_layer(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0):
            y = move(x * 3.0)
            z = x @ w
        return jnp.sin(y + z)

    return Kit(move, layer, other_layer)
