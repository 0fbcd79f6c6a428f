"""Asserts for tests: what XLA would refuse fails the test that lowered it. Needs jax.

    lowered = jax.jit(step).lower(state, batch)
    schedscope.testing.assert_schedulable(lowered)

Under pytest the fixture `schedscope_lint` does it for everything a test lowers.
"""

from __future__ import annotations

from jax.export import Exported
from jax.stages import Lowered

from schedscope import modules
from schedscope._mlir import ir
from schedscope.lint.checker import TargetName, lint_module
from schedscope.lint.diagnostic import Severity
from schedscope.lint.render import Linted, text
from schedscope.scoping.scope import name_of


def assert_schedulable(lowered: Lowered | Exported | ir.Module, target: TargetName = "gpu") -> None:
    """Asserts that XLA will not refuse the scheduling groups of a lowered function.

    Args:
      lowered: what `jax.jit(f).lower(...)` or `jax.export.export(jax.jit(f))(...)` returns, or a
        StableHLO module; it is not changed.
      target: "gpu", "tpu", or "all" for both.

    Raises:
      AssertionError: XLA would refuse it; the message is that of `schedscope lint`.
      InputError: the module cannot be understood.
      TypeError: `lowered` is something else.
    """
    __tracebackhide__ = True  # pytest shows the caller's line, and not this
    module, name = _module(lowered)
    findings = lint_module(module, target)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise AssertionError(f"XLA would refuse {name}\n{text.render([Linted(name, errors)])}")


def _module(lowered: Lowered | Exported | ir.Module) -> tuple[ir.Module, str]:
    if isinstance(lowered, Exported):
        name = lowered.fun_name
        return modules.read(lowered.mlir_module_serialized, name).module, name
    module = lowered.compiler_ir("stablehlo") if isinstance(lowered, Lowered) else lowered
    if not isinstance(module, ir.Module):
        raise TypeError(
            "assert_schedulable wants a jax.stages.Lowered, a jax.export.Exported or a StableHLO "
            f"module, and got a {type(lowered).__name__}"
        )
    return module, name_of(module) or "the module"
