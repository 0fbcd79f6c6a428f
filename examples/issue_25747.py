"""The program of openxla/xla issue 25747, before and after `schedscope fix`, asked of real XLA.

No GPU and no TPU is needed: jax lowers the program on four CPU devices, and XLA:GPU compiles it
ahead of time for a description of an H100.
"""

from __future__ import annotations

import difflib
import logging
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import compiler, xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax.experimental import topologies
from jax.experimental.xla_metadata import set_xla_metadata
from jaxlib.mlir import ir

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # issue_25747.py:31, no path

MESH = jax.sharding.Mesh(np.array(jax.devices()), ("i",))
SPEC = jax.sharding.PartitionSpec("i")


@jax.jit
def shuffle_add(x: jax.Array) -> jax.Array:
    """Adds the blocks of all four devices; each step's add overlaps with the next block's way."""
    total: jax.Array = jnp.zeros_like(x)
    for step in range(4):
        with set_xla_metadata(_scheduling_group_id=step):
            total += x
            x = jax.lax.pshuffle(x, "i", [3, 0, 1, 2])
    return total


def program(x: jax.Array) -> jax.Array:
    """Calls `shuffle_add` twice: two instances of groups 0 to 3, and the second needs the first."""
    y = shuffle_add(x)
    return shuffle_add(jnp.sin(y))


def lower() -> str:
    """The StableHLO that jax hands to XLA:GPU, with Python locations."""
    mapped = jax.jit(jax.shard_map(program, mesh=MESH, in_specs=SPEC, out_specs=SPEC))
    traced = mapped.trace(jax.ShapeDtypeStruct((1024, 256), jnp.float32))
    return str(traced.lower(lowering_platforms=("cuda",)).as_text(debug_info=True))


H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 threads_per_core_limit: 2048 core_count: 132
  shared_memory_per_block: 49152 shared_memory_per_block_optin: 232448
  shared_memory_per_core: 233472 registers_per_core_limit: 65536 registers_per_block_limit: 65536
  fpus_per_core: 128 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535
  block_dim_limit_z: 65535 thread_dim_limit_x: 1024 thread_dim_limit_y: 1024 thread_dim_limit_z: 64
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84942979072 device_address_bits: 64 device_vendor: "NVIDIA Corporation"
  cuda_compute_capability { major: 9 feature_extension: ACCELERATED_FEATURES }
  platform_version: "Compute Capability 9.0a" name: "NVIDIA H100 80GB HBM3"
  driver_version: "13.0.0" runtime_version: "12.8.0" compile_time_toolkit_version: "12.8.0"
  dnn_version: "9.10.0"
}
platform_name: "CUDA" device_description_str: "NVIDIA H100 80GB HBM3"
dnn_version_info { major: 9 minor: 10 patch: 0 }
"""


class GpuCompiler:
    """XLA:GPU for four H100s that are not there; raises where jax's CUDA plugin is not installed.

    jax compiles what it lowered itself; to compile a file takes its internals.
    """

    def __init__(self) -> None:
        logging.disable(logging.ERROR)  # the plugin reports the GPU that it does not find
        xla_bridge.discover_pjrt_plugins()
        topology = topologies.get_topology_desc(
            platform="cuda", topology_name="", target_config=H100, topology="1x1x4"
        )
        self.devices: list[Any] = list(topology.devices)

    def verdict(self, module_text: str) -> str:
        """What XLA says of the module: the groups in the schedule it made, or its error."""
        client = self.devices[0].client
        options = compiler.get_compile_options(1, 4, np.array([self.devices]), backend=client)
        devices = xla_client.DeviceList(tuple(self.devices))
        with mlir.make_ir_context():
            module = ir.Module.parse(module_text)
            try:
                loaded = compiler.backend_compile_and_load(client, module, devices, options, [])
            except jax.errors.JaxRuntimeError as error:
                return f"refused:\n{textwrap.indent(textwrap.fill(str(error), 92), '    ')}"
        scheduled = loaded.hlo_modules()[0].to_string()
        groups = sorted(set(re.findall(r'_scheduling_group_id="?(\d+)', scheduled)), key=int)
        return f"compiled, and scheduled the groups {', '.join(groups)}"


def gpu_compiler() -> GpuCompiler | None:
    try:
        return GpuCompiler()
    except (ImportError, RuntimeError) as error:
        print(f"  (XLA:GPU is not asked, it takes jax-cuda13-plugin: {error})")
        return None


def show_groups(module_text: str) -> None:
    """Each function of the module: what it calls, and which of its ops are in which group."""
    calls: list[str] = []
    for line in module_text.splitlines():
        if function := re.search(r"func\.func \w+ (@\w+)", line):
            print(f"  {function[1]}")
        elif callee := re.search(r"call (@\w+)", line):
            calls.append(callee[1])
            print(f"      call {callee[1]}")
        elif group := re.search(r'_scheduling_group_id = "([^"]*)"', line):
            operation = re.search(r"stablehlo\.(\w+)", line)
            print(f"      {operation[1] if operation else '?':20} group {group[1]}")


def schedscope(*arguments: str, cwd: Path) -> str:
    """Runs the command as a user would; its summary goes to the terminal by itself."""
    print(f"  $ schedscope {' '.join(arguments)}", flush=True)
    command = Path(sys.executable).with_name("schedscope")
    ran = subprocess.run([command, *arguments], cwd=cwd, stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        sys.exit(ran.returncode)
    return ran.stdout


def show_diff(before: str, after: str) -> None:
    """The lines that changed, without types, locations and what else makes them long."""
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""):
        if line.startswith(("---", "+++", "@@")):
            continue
        short = re.sub(r" <\{.*\}>| loc\([^()]*\)", "", line)
        print(f"  {short.split(' : ')[0]}")


def main() -> None:
    print(f"1. jax {jax.__version__} lowers the program: one function, called twice\n")
    before = lower()
    show_groups(before)

    print("\n2. XLA:GPU, for an H100, inlines both calls\n")
    xla = gpu_compiler()
    if xla is not None:
        print(f"  {xla.verdict(before)}")

    print("\n3. schedscope gives the second call groups of its own\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.mlir").write_text(before)
        schedscope("fix", "program.mlir", "-o", "fixed.mlir", cwd=folder)
        after = (folder / "fixed.mlir").read_text()
    show_diff(before, after)

    print("\n4. XLA:GPU again\n")
    if xla is not None:
        print(f"  {xla.verdict(after)}")


if __name__ == "__main__":
    main()
