"""The program computes the same before and after the pass, to the bit, on four CPU devices."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
from jax._src.interpreters import mlir
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from jaxlib.mlir import ir

from tests.cases import registry
from tests.cases.expected import ROWS
from tests.cases.kit import Family
from tests.cases.lowering import SHAPES, mesh
from tests.jax_versions import compiled
from tests.scoping import scope

RUNNABLE = [name for name in ROWS if name != "two_streams"]  # its streams are a GPU's


@cache
def inputs() -> list[jax.Array]:
    """The sign of x is the same everywhere: all devices have to take the same branch."""
    random = np.random.default_rng(7)
    x, w = (random.standard_normal(shape, np.float32) / 16 for shape in SHAPES)
    return [
        jax.device_put(abs(x), NamedSharding(mesh(), P("i"))),
        jax.device_put(w, NamedSharding(mesh(), P())),
    ]


@cache
def run(module: bytes, quick: bool = True) -> list[bytes]:
    """Each device's result; `quick` compiles without optimizing."""
    flags = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    with mlir.make_ir_context():
        parsed = ir.Module.parse(module)
        executable = compiled(parsed, list(mesh().devices.flat), flags if quick else {})
        [main] = [op for op in parsed.body.operations if '"main"' in _symbol(op)]
        taken = len(main.operation.regions[0].blocks[0].arguments)
    [parts] = executable.execute_sharded(inputs()[:taken]).disassemble_into_single_device_arrays()
    return [np.asarray(part).tobytes() for part in parts]


def _symbol(op: Any) -> str:
    return str(op.attributes["sym_name"])


@pytest.mark.parametrize("every_call_site", [False, True], ids=["needed", "each"])
@pytest.mark.parametrize("family", ["gpu", "tpu"])
@pytest.mark.parametrize("name", RUNNABLE)
def test_results_are_the_same_to_the_bit(name: str, family: Family, every_call_site: bool) -> None:
    module = registry.lower_case(name, family, "cpu").bytecode
    before, after = run(module), run(scope(module, every_call_site).bytecode)
    assert len(before) == 4
    assert any(any(part) for part in before)
    assert before == after
