"""One host of several, with the hook installed.

    python host_process.py COORDINATOR HOSTS HOST

Runs a program of collectives over the devices of all hosts, and writes as JSON what this host
compiled, what the pass did, and this host's rows of the result.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import jax
import numpy as np
from jax._src import compiler
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from schedscope import hook
from schedscope._mlir import bytecode_of

from tests.cases.kit import Function, group
from tests.jax_versions import shard_map

DEVICES = 2
"""Of each host."""
W = np.array([[0.0, 1.0], [1.0, 1.0]], np.float32)


def operand(devices: int) -> np.ndarray[Any, Any]:
    """Two rows for each device."""
    return np.arange(devices * 4, dtype=np.float32).reshape(-1, 2)


def make_program(devices: int) -> Function:
    """A jitted helper with a group of its own, called twice, the second time on what the first
    made; then a sum over all devices."""
    ring = [(source, (source + 1) % devices) for source in range(devices)]

    @jax.jit
    def helper(x: jax.Array) -> jax.Array:
        with group(0):
            moved = jax.lax.ppermute(x, "i", ring)
            product = x @ W
        return moved + product

    def program(x: jax.Array) -> jax.Array:
        return helper(helper(x)) + jax.lax.psum(x, "i")

    return program


@contextmanager
def compiled() -> Iterator[list[str]]:
    """A fingerprint of each module as XLA gets it, with its locations. Entered before the hook is
    installed it lies below."""
    fingerprints: list[str] = []
    compile = compiler.compile_or_get_cached

    @wraps(compile)
    def wrapper(backend: Any, computation: Any, *args: Any, **options: Any) -> Any:
        fingerprints.append(hashlib.sha256(bytecode_of(computation)).hexdigest())
        return compile(backend, computation, *args, **options)

    compiler.compile_or_get_cached = wrapper
    try:
        yield fingerprints
    finally:
        compiler.compile_or_get_cached = compile


def main(coordinator: str, hosts: int, host: int) -> None:
    jax.config.update("jax_num_cpu_devices", DEVICES)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(coordinator, hosts, host, initialization_timeout=120)
    mesh = Mesh(np.array(jax.devices()), ("i",))
    rows = operand(mesh.size)
    x = jax.make_array_from_callback(
        rows.shape, NamedSharding(mesh, P("i")), lambda index: rows[index]
    )
    program = shard_map(make_program(mesh.size), mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    reports: list[Any] = []
    with compiled() as fingerprints, hook.installed(on_report=reports.append):
        result = jax.jit(program)(x)
        shards = [
            (shard.index[0].start, shard.data.tolist()) for shard in result.addressable_shards
        ]
    jax.distributed.shutdown()
    found = {
        "seed": hash("seed"),
        "fingerprints": fingerprints,
        "ids": [[each.id for each in report.groups] for report in reports],
        "shards": shards,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    except Exception:  # noqa: BLE001  whatever it is: an ordinary exit waits for the other hosts
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
