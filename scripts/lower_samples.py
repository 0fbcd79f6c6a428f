"""Lowers small programs with the jax that runs this, for the tests of other jax versions' output.

    python scripts/lower_samples.py DIRECTORY     writes DIRECTORY/jax-VERSION/NAME.mlir

Each program calls one function twice, the second call fed by the first. What the function does
in its group, jax puts into functions of its own; which of their calls carry the id, and what the
name stacks in the locations look like, differs from version to version.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

if hasattr(jax, "shard_map"):
    shard_map = jax.shard_map
else:
    from jax.experimental.shard_map import shard_map


@jax.jit
def library(x):
    """One group over functions of jax's own library."""
    with set_xla_metadata(_scheduling_group_id=1):
        x = jnp.where(x > 0, jnp.sort(x), jax.nn.relu(x))
        x = x + jax.random.normal(jax.random.key(0), x.shape)
        return jax.lax.cumsum(x, axis=1)


@jax.jit
def cumsum(x):
    """Named like the library's function that it calls."""
    with set_xla_metadata(_scheduling_group_id=1):
        return jnp.sin(jax.lax.cumsum(x, axis=1))


@jax.jit
def mapped(x):
    """A mapped function inside the group."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("i",))
    rows = jax.sharding.PartitionSpec("i")
    with set_xla_metadata(_scheduling_group_id=1):
        return shard_map(lambda part: part * 3.0, mesh=mesh, in_specs=rows, out_specs=rows)(x)


def twice(f):
    return lambda x: f(jnp.tanh(f(x)))


def backward(x):
    return jax.grad(lambda v: jnp.sum(twice(cumsum)(v)))(x)


PROGRAMS = {
    "library": twice(library),
    "cumsum": twice(cumsum),
    "mapped": twice(mapped),
    "backward": backward,
    "batched": lambda x: jax.vmap(twice(cumsum))(jnp.stack([x, x])),
}


def main(directory: Path) -> None:
    folder = directory / f"jax-{jax.__version__}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in PROGRAMS.items():
        module = jax.jit(program).lower(jnp.ones((8, 8))).compiler_ir("stablehlo")
        text = module.operation.get_asm(enable_debug_info=True)
        text = text.replace(str(Path(__file__).resolve()), "samples.py")
        (folder / f"{name}.mlir").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
