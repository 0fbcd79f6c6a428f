"""`fix_exported`, and exports under the hook."""

from __future__ import annotations

import logging
from typing import Any

import jax
import numpy as np
import pytest
from jax import export
from schedscope import ScopeOptions, ScopeReport, hook, modules

from tests.cases.kit import group
from tests.hook.logged import Logged
from tests.hook.programs import X, bits, dependent, groups, independent, plain
from tests.hook.sharded import make_moving_layer, mapped, on_mesh
from tests.hook.transformed import twice

NOT_VJP = [
    "fun_name",
    "in_tree",
    "in_avals",
    "out_tree",
    "out_avals",
    "in_shardings_hlo",
    "out_shardings_hlo",
    "nr_devices",
    "platforms",
    "ordered_effects",
    "unordered_effects",
    "disabled_safety_checks",
    "calling_convention_version",
    "module_kept_var_idx",
    "uses_global_constants",
]


def exported(jitted: Any, *arguments: Any, **options: Any) -> Any:
    return export.export(jitted, **options)(*(arguments or (X,)))


def again(made: Any, vjp_order: int = 0) -> Any:
    """Through bytes."""
    return export.deserialize(made.serialize(vjp_order=vjp_order))


def stablehlo_version(made: Any) -> str | None:
    return modules.read(made.mlir_module_serialized, "exported").version


def test_it_is_scoped_in_a_copy() -> None:
    made = exported(dependent())
    fixed = hook.fix_exported(made)
    assert groups(made) == ["0"]
    assert groups(fixed) == ["0", "1"]


def test_all_else_is_kept() -> None:
    made = exported(dependent(), platforms=("cpu", "cuda"))
    fixed = hook.fix_exported(made)
    names = [name for name in NOT_VJP if hasattr(made, name)]
    assert len(names) >= 14
    assert [getattr(fixed, name) for name in names] == [getattr(made, name) for name in names]


def test_it_computes_the_same() -> None:
    before = bits(dependent()(X))
    assert bits(hook.fix_exported(exported(dependent())).call(X)) == before


def test_it_can_be_serialized() -> None:
    fixed = again(hook.fix_exported(exported(dependent())))
    assert groups(fixed) == ["0", "1"]
    assert bits(fixed.call(X)) == bits(dependent()(X))


def test_the_stablehlo_version_is_kept() -> None:
    made = exported(dependent())
    assert stablehlo_version(made) is not None
    assert stablehlo_version(hook.fix_exported(made)) == stablehlo_version(made)


def test_several_platforms() -> None:
    """Of ops that are the same on all, for jax 0.6 puts others into a branch for each platform."""

    @jax.jit
    def layer(x: jax.Array) -> jax.Array:
        with group(0):
            y, z = x * 3.0, x + 1.0
        return y - z

    made = exported(jax.jit(twice(layer)), platforms=("cpu", "tpu", "cuda"))
    fixed = hook.fix_exported(made)
    assert fixed.platforms == ("cpu", "tpu", "cuda")
    assert groups(fixed) == ["0", "1"]
    assert bits(fixed.call(X)) == bits(made.call(X))


def test_symbolic_shapes() -> None:
    rows = export.symbolic_shape("n, 8")
    made = exported(dependent(), jax.ShapeDtypeStruct(rows, np.float32))
    fixed = again(hook.fix_exported(made))
    assert groups(fixed) == ["0", "1"]
    assert fixed.in_avals[0].shape[1] == 8
    for part in X, X[:2]:
        assert bits(fixed.call(part)) == bits(dependent()(part))


def test_shardings() -> None:
    made = exported(jax.jit(mapped(twice(make_moving_layer()))), on_mesh())
    fixed = again(hook.fix_exported(made))
    assert fixed.nr_devices == 4
    assert groups(fixed) == ["0", "1"]
    expected = bits(jax.jit(mapped(twice(make_moving_layer())))(X))
    assert bits(jax.jit(fixed.call)(on_mesh())) == expected


def test_the_vjp_is_scoped_too() -> None:
    made = exported(dependent())
    fixed = hook.fix_exported(made)
    assert groups(made.vjp()) == ["0"]
    assert groups(fixed.vjp()) == ["0", "1", "2", "3"]


def test_the_vjp_of_a_stored_one_is_scoped_too() -> None:
    stored = again(exported(dependent()), vjp_order=1)
    assert groups(hook.fix_exported(stored).vjp()) == ["0", "1", "2", "3"]


def test_the_vjp_is_stored_scoped() -> None:
    fixed = again(hook.fix_exported(exported(dependent())), vjp_order=1)
    assert groups(fixed.vjp()) == ["0", "1", "2", "3"]


def test_the_vjp_computes_the_same() -> None:
    made = exported(dependent())
    cotangent = np.ones_like(X)
    before = bits(jax.jit(made.vjp().call)(X, cotangent))
    assert bits(jax.jit(hook.fix_exported(made).vjp().call)(X, cotangent)) == before


def test_without_a_vjp_there_is_none() -> None:
    stored = again(exported(dependent()))
    assert not hook.fix_exported(stored).has_vjp()


def test_with_nothing_to_change_it_is_the_same_object() -> None:
    for made in again(exported(plain())), again(exported(independent())):
        assert hook.fix_exported(made) is made


def test_with_nothing_to_change_the_bytes_are_the_same() -> None:
    made = exported(independent())
    assert hook.fix_exported(made).mlir_module_serialized == made.mlir_module_serialized


def test_twice_is_once() -> None:
    once = again(hook.fix_exported(exported(dependent())))
    assert hook.fix_exported(once) is once


def test_options_and_callback() -> None:
    reports: list[ScopeReport] = []
    each = ScopeOptions(every_call_site=True)
    fixed = hook.fix_exported(exported(independent()), each, on_report=reports.append)
    assert groups(fixed) == ["0", "1"]
    assert [report.changed for report in reports] == [True]


def test_what_cannot_be_understood_is_left_with_a_warning(logged: Logged) -> None:
    made = again(exported(dependent("no number")))
    assert hook.fix_exported(made) is made
    [line] = logged.at(logging.WARNING)
    assert "is left to XLA as it is" in line


def test_what_cannot_be_read_is_left_with_a_warning(
    logged: Logged, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = again(exported(dependent()))
    object.__setattr__(made, "mlir_module_serialized", b"something else")
    assert hook.fix_exported(made) is made
    [line] = logged.at(logging.WARNING)
    assert line.startswith("schedscope: an exported function is left as it is: dependent:")


@pytest.mark.parametrize("something", [None, b"bytes", dependent()])
def test_something_else_is_a_type_error(something: Any) -> None:
    with pytest.raises(TypeError, match=f"got a {type(something).__name__}"):
        hook.fix_exported(something)


def test_under_the_hook_exports_are_scoped() -> None:
    hook.install()
    made = exported(dependent())
    assert groups(made) == ["0", "1"]
    assert groups(made.vjp()) == ["0", "1", "2", "3"]
    hook.uninstall()
    assert bits(again(made).call(X)) == bits(dependent()(X))


def test_under_the_hook_a_stored_export_is_scoped_in_its_caller() -> None:
    stored = again(exported(dependent()))
    call = jax.jit(stored.call)
    before = bits(call(X))
    assert groups(call.lower(X)) == ["0"]
    hook.install()
    assert groups(call.lower(X)) == ["0", "1"]
    assert bits(jax.jit(lambda x: stored.call(x))(X)) == before


def test_under_the_hook_two_calls_of_a_stored_export_are_told_apart() -> None:
    stored = again(exported(dependent()))
    hook.install()
    lowered = jax.jit(twice(stored.call)).lower(X)
    assert groups(lowered) == ["0", "1", "2", "3"]
    lowered.compile()


def test_under_the_hook_a_stored_export_with_symbolic_shapes_runs() -> None:
    rows = export.symbolic_shape("n, 8")
    stored = again(exported(dependent(), jax.ShapeDtypeStruct(rows, np.float32)))
    before = bits(jax.jit(stored.call)(X))
    hook.install()
    call = jax.jit(lambda x: stored.call(x))
    assert groups(call.lower(X)) == ["0", "1"]
    assert bits(call(X)) == before
