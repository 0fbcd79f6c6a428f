"""Asks every rule about a module."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from schedscope._mlir import ir
from schedscope.annotation import GROUP_ID
from schedscope.lint.diagnostic import Diagnostic
from schedscope.lint.rule import Module, Rule
from schedscope.lint.rules import RULES
from schedscope.runtime import collector_paused
from schedscope.xla import bytecode
from schedscope.xla.flattening import flatten
from schedscope.xla.targets import TARGETS

TargetName = Literal["gpu", "tpu", "all", "gpu-0.10", "v5e", "v6e", "tpu7x"]
"""A family, both families, or one compiler."""

COMPILERS = {"gpu": "gpu", "tpu": "v5e"}
"""The compiler that stands for each family: the newest XLA:GPU, and the TPU whose compiler refuses
the most."""


def lint_module(
    module: ir.Module, target: TargetName = "gpu", rules: Collection[Rule] = RULES
) -> list[Diagnostic]:
    """What XLA for `target` will say of the scheduling groups of `module`, and what it will
    ignore in silence.

    Args:
      module: a StableHLO module; it is not changed.
      target: "gpu", "tpu", "all" for both, or one compiler: "gpu-0.10" is the XLA:GPU of jax 0.10,
        "v5e", "v6e" and "tpu7x" are libtpu's.
      rules: those to ask.

    Returns:
      The findings, the worst first, then in program order. One that is true of both targets is
      there once.

    Raises:
      InputError: the module cannot be understood: recursive calls, a callee that is not there.
    """
    with module.context, collector_paused():
        data = bytecode.write(module)
        if GROUP_ID.encode() not in data:
            return []
        flat = flatten(module, data)
        found: dict[Diagnostic, list[str]] = {}
        for family in COMPILERS if target == "all" else (target,):
            asked = Module(module, flat, TARGETS[COMPILERS.get(family, family)])
            for diagnostic in _ask(asked, rules):
                found.setdefault(diagnostic, []).append(family)
    told = [each._replace(targets=tuple(targets)) for each, targets in found.items()]
    return sorted(told, key=lambda each: (each.severity, each.code))


def _ask(module: Module, rules: Iterable[Rule]) -> Iterable[Diagnostic]:
    for rule in rules:
        yield from rule.check(rule, module)
