"""One process that has XLA:GPU refuse a program, ahead of time and under the hook.

    python refused_process.py

Writes as JSON the error's text and notes, and the lines where `torn` and `step` begin.
"""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import xla_bridge
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from schedscope import hook

from tests.cases.kit import exchange, group
from tests.jax_versions import shard_map
from tests.xla.worker import H100


def torn(x: jax.Array) -> jax.Array:
    """One body's own gap, which scoping leaves alone."""
    with group(3):
        y = exchange(x)
    z = y + jnp.sin(x)
    with group(3):
        return exchange(z)


def step(x: jax.Array) -> jax.Array:
    layer = jax.jit(torn)
    return layer(layer(x) + 1.0)


def main() -> None:
    xla_bridge.discover_pjrt_plugins()
    topology: Any = topologies.get_topology_desc(
        platform="cuda", topology_name="", target_config=H100, topology="1x1x4"
    )
    mesh = Mesh(np.array(topology.devices), ("i",))
    mapped = shard_map(step, mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    x = jax.ShapeDtypeStruct((1024, 256), jnp.float32, sharding=NamedSharding(mesh, P("i")))
    hook.install()
    lowered = jax.jit(mapped).lower(x)
    try:
        lowered.compile()
    except jax.errors.JaxRuntimeError as error:
        print(
            json.dumps(
                {
                    "text": str(error),
                    "notes": getattr(error, "__notes__", []),
                    "torn": torn.__code__.co_firstlineno,
                    "step": step.__code__.co_firstlineno,
                }
            )
        )


if __name__ == "__main__":
    main()
