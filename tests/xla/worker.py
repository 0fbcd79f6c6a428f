"""One compiler in a process of its own: reads modules on stdin, writes verdicts on stdout.

    python worker.py TARGET

A message is a line of JSON, followed by as many bytes as its "size" says. XLA may abort the whole
process, and libtpu prints to stdout; so the answers travel on a copy of stdout and everything else
goes to stderr. Nothing is imported from this repository: the process starts anywhere.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, BinaryIO

H100 = """
gpu_device_info {
  name: "NVIDIA H100 80GB HBM3"  device_vendor: "NVIDIA Corporation"
  cuda_compute_capability { major: 9 feature_extension: ACCELERATED_FEATURES }
  platform_version: "Compute Capability 9.0a"
  driver_version: "13.0.0"  runtime_version: "12.8.0"
  compile_time_toolkit_version: "12.8.0"  dnn_version: "9.10.0"
  core_count: 132  fpus_per_core: 128  clock_rate_ghz: 1.98
  threads_per_warp: 32  threads_per_block_limit: 1024  threads_per_core_limit: 2048
  registers_per_block_limit: 65536  registers_per_core_limit: 65536
  shared_memory_per_block: 49152  shared_memory_per_block_optin: 232448
  shared_memory_per_core: 233472
  block_dim_limit_x: 2147483647  block_dim_limit_y: 65535  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024  thread_dim_limit_y: 1024  thread_dim_limit_z: 64
  l2_cache_size: 52428800  memory_bandwidth: 3352320000000  device_memory_size: 84942979072
  device_address_bits: 64
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 10 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
"""What XLA:GPU needs to know of a device in order to compile for it without one."""

TPU_TOPOLOGIES = {"v5e": "v5e:2x2", "v6e": "v6e:2x2", "tpu7x": "tpu7x:2x2x1"}


def _devices(target: str) -> list[Any]:
    from jax.experimental import topologies

    if target != "gpu":
        name = TPU_TOPOLOGIES[target]
        return list(topologies.get_topology_desc(platform="tpu", topology_name=name).devices)
    from jax._src import xla_bridge

    xla_bridge.discover_pjrt_plugins()
    topology = topologies.get_topology_desc(
        platform="cuda", topology_name="", target_config=H100, topology="1x1x4"
    )
    return list(topology.devices)


def _integer(module: Any, name: str) -> int:
    from jaxlib.mlir import ir

    attributes = module.operation.attributes
    return int(ir.IntegerAttr(attributes[name]).value) if name in attributes else 1


def _compile(devices: list[Any], source: bytes, options: dict[str, Any]) -> str:
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir

    client = devices[0].client
    with mlir.make_ir_context():
        module = ir.Module.parse(source)
        partitions = _integer(module, "mhlo.num_partitions")
        replicas = _integer(module, "mhlo.num_replicas")
        used = np.array(devices[: partitions * replicas]).reshape(replicas, partitions)
        compile_options = compiler.get_compile_options(
            replicas, partitions, used, options or None, backend=client
        )
        device_list = xla_client.DeviceList(tuple(used.flatten()))
        executable = compiler.backend_compile_and_load(
            client, module, device_list, compile_options, []
        )
    return str(executable.hlo_modules()[0].to_string())


def _write(stream: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    stream.write(json.dumps({**header, "size": len(body)}).encode() + b"\n" + body)
    stream.flush()


def main(target: str) -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    devices = _devices(target)
    _write(answers, {"ready": target})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        source = sys.stdin.buffer.read(request["size"])
        try:
            hlo = _compile(devices, source, request["options"])
        except Exception as error:  # noqa: BLE001 - whatever XLA raises is its verdict
            _write(answers, {"ok": False}, str(error).encode())
        else:
            _write(answers, {"ok": True}, hlo.encode())


if __name__ == "__main__":
    main(sys.argv[1])
