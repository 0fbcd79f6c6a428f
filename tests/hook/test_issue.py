"""The program of openxla/xla issue 25747 under the hook."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from schedscope import hook

from tests.cases import registry
from tests.cases.lowering import SHAPES, mesh
from tests.conftest import CompilerFor
from tests.hook.programs import bits, groups


def test_it_computes_the_same_on_four_devices() -> None:
    x, w = (np.random.default_rng(3).standard_normal(shape, np.float32) for shape in SHAPES)
    split = jax.device_put(x, NamedSharding(mesh(), P("i")))
    unhooked = jax.jit(registry.function("seed", "gpu"))
    before = bits(unhooked(split, w))
    with hook.installed():
        hooked = jax.jit(registry.function("seed", "gpu"))
        assert groups(unhooked.lower(split, w)) == ["0", "1", "2", "3", "4", "5", "6", "7"]
        assert bits(hooked(split, w)) == before


@pytest.mark.xla
def test_xla_for_gpu_takes_it_only_under_the_hook(compiler_for: CompilerFor) -> None:
    compiler = compiler_for("gpu")
    assert compiler.compile(registry.lower_case("seed", "gpu").bytecode).kind == "gap"
    with hook.installed():
        lowered = registry.lower_case("seed", "gpu")
    assert compiler.compile(lowered.bytecode).ok
