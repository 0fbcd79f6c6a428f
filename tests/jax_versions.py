"""What the tests use of jax that is not the same in every version they run on.

What an old jax cannot say is skipped, with the version that brought it; a jax that should have it
and does not is an error.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import jax
import numpy as np
import pytest
from jax._src import compiler
from jax._src.lib import xla_client

VERSION = jax.__version_info__

SHARDY = VERSION >= (0, 7)
"""shard_map makes a manual computation; before, GSPMD's custom calls around a function."""
VHLO_PARSES = VERSION >= (0, 8)
"""What jaxlib registers with StableHLO parses a portable artifact's ops outside of one too."""
CPU_SURVIVES_REFUSAL = not (0, 7) <= VERSION < (0, 8)
"""XLA:CPU of jax 0.7.2 corrupts its heap when it refuses a custom call, hook or no hook."""
CLOSED_CALLS = VERSION < (0, 11)
"""jax makes functions called `closed_call` of loop bodies."""

FORWARD_KEEPS_RESIDUALS = VERSION >= (0, 10)
"""Of an xla_metadata_call under grad; before, its backward pass runs the forward once more."""
OTHER_DIALECTS = (0, 7), "portable artifacts with other dialects in them"
"""For `needs`."""


def needs(version: tuple[int, int], what: str) -> None:
    if version > VERSION:
        since = ".".join(map(str, version))
        pytest.skip(f"jax {jax.__version__} has no {what}, which came with {since}")


def shard_map(function: Any, *, mesh: Any, in_specs: Any, out_specs: Any) -> Any:
    """Without the check of what is replicated."""
    if hasattr(jax, "shard_map"):
        make: Any = jax.shard_map
        unchecked = "check_vma"
    else:
        make = import_module("jax.experimental.shard_map").shard_map
        unchecked = "check_rep"
    return make(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **{unchecked: False})


def compiled(module: Any, devices: list[Any], flags: dict[str, Any]) -> Any:
    """An executable that splits the module over the devices."""
    client, shape = devices[0].client, (1, len(devices))
    options = compiler.get_compile_options(
        *shape,
        np.array(devices).reshape(shape),
        env_options_overrides=flags,
        backend=client,
    )
    if VERSION < (0, 7):
        before: Any = compiler
        return before.backend_compile(client, module, options, [])
    on: Any = xla_client.DeviceList(tuple(devices))
    return compiler.backend_compile_and_load(client, module, on, options, [])


def xla_metadata_call(function: Any, **metadata: str) -> Any:
    needs((0, 8), "xla_metadata_call")
    from jax.experimental.scheduling_groups import xla_metadata_call

    return xla_metadata_call(**metadata)(function)


def compute_on(compute_type: str, function: Any) -> Any:
    """The kind that makes calls; it took over the name with jax 0.11."""
    needs((0, 10), "compute_on that makes calls")
    from jax.experimental import compute_on as module

    make: Any = module.compute_on2 if VERSION < (0, 11) else module.compute_on
    return make(function, compute_type=compute_type, out_memory_spaces=jax.memory.Space.Device)
