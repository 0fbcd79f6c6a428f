"""`schedscope.testing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import export
from jax.experimental.xla_metadata import set_xla_metadata
from schedscope import modules
from schedscope.testing import assert_schedulable

from tests.jax_versions import shard_map
from tests.lint.samples import BARE, CLEAN, LOCATED

PERMUTATION = [(0, 1), (1, 2), (2, 3), (3, 0)]


def exchange(x: jax.Array) -> jax.Array:
    with set_xla_metadata(_scheduling_group_id=5):
        return jax.lax.ppermute(x, "i", PERMUTATION)


def gapped(x: jax.Array) -> jax.Array:
    return exchange(exchange(x) + x)


def whole(x: jax.Array) -> jax.Array:
    return exchange(x) + x


def mapped(function: Callable[[jax.Array], jax.Array]) -> Any:
    mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    return jax.jit(shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec))


@pytest.mark.parametrize("how", ["lowered", "exported", "module"])
def test_what_xla_would_refuse_is_an_assertion(how: str) -> None:
    def form(function: Callable[[jax.Array], jax.Array]) -> Any:
        if how == "exported":
            return export.export(mapped(function))(jnp.ones((16, 16)))
        lowered = mapped(function).lower(jnp.ones((16, 16)))
        return lowered if how == "lowered" else lowered.compiler_ir("stablehlo")

    assert_schedulable(form(whole))
    with pytest.raises(AssertionError) as caught:
        assert_schedulable(form(gapped))
    lines = str(caught.value).splitlines()
    assert lines[0] == f"XLA would refuse {'gapped' if how == 'exported' else 'jit_gapped'}"
    assert "error[SG101]: group 5 has a gap" in lines[1]
    line = gapped.__code__.co_firstlineno + 1
    assert f"tests/lint/test_testing.py:{line}" in str(caught.value)
    assert "| return exchange(exchange(x) + x)" in str(caught.value)


def test_warnings_and_notes_are_none() -> None:
    module = modules.read(CLEAN.encode(), "clean").module
    assert_schedulable(module, "all")  # XLA:TPU drops the group, says a warning


def test_the_target_decides() -> None:
    module = modules.read(BARE.encode(), "bare").module
    assert_schedulable(module, "tpu")
    for target in ("gpu", "all"):
        with pytest.raises(AssertionError, match="true for: gpu"):
            assert_schedulable(module, target)


def test_it_leaves_the_module_alone() -> None:
    source = modules.read(LOCATED.encode(), "located")
    before = modules.text_of(source)
    with pytest.raises(AssertionError):
        assert_schedulable(source.module)
    assert modules.text_of(source) == before


def test_something_else() -> None:
    wrong: Any = "module {}"
    with pytest.raises(TypeError, match=r"wants a jax\.stages\.Lowered.* and got a str"):
        assert_schedulable(wrong)
