"""From a case's name to a StableHLO module."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.cases.kit import Family, Function
from tests.jax_versions import shard_map

PLATFORMS = {"gpu": "cuda", "tpu": "tpu", "cpu": "cpu"}
SHAPES = ((1024, 256), (256, 256))
"""Of x, split over the devices, and of w, which every device holds whole."""


@dataclass(frozen=True)
class Lowered:
    stages: jax.stages.Lowered

    @cached_property
    def text(self) -> str:
        """With locations."""
        return str(self._operation.get_asm(enable_debug_info=True))

    @cached_property
    def bytecode(self) -> bytes:
        buffer = io.BytesIO()
        self._operation.write_bytecode(buffer)
        return buffer.getvalue()

    @property
    def _operation(self) -> Any:
        module: Any = self.stages.compiler_ir("stablehlo")
        return module.operation


@cache
def mesh() -> Mesh:
    devices = jax.devices("cpu")
    if len(devices) < 4:
        raise RuntimeError("jax was initialized before tests/conftest.py asked for 4 CPU devices")
    return Mesh(np.array(devices[:4]), ("i",))


def mapped(function: Function) -> Function:
    """Sees the shard of x that one device holds."""
    result: Function = shard_map(function, mesh=mesh(), in_specs=(P("i"), P()), out_specs=P("i"))
    return result


def lower(function: Function, platform: Family | str) -> Lowered:
    """Lowers a function of the whole x and w. The module is the same as for real devices. An
    argument that goes unused is left out."""
    arguments = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh(), spec))
        for shape, spec in zip(SHAPES, (P("i"), P()), strict=True)
    ]
    traced = jax.jit(function).trace(*arguments)
    return Lowered(traced.lower(lowering_platforms=(PLATFORMS[platform],)))
