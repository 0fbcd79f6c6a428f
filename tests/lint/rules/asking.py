"""Asks one rule about a small module."""

from __future__ import annotations

from schedscope._mlir import ir, make_context
from schedscope.lint.checker import TargetName, lint_module
from schedscope.lint.diagnostic import Diagnostic

from tests.lint_model.modules import module_of


def asked(*functions: str, target: TargetName = "gpu") -> list[Diagnostic]:
    """What every rule finds."""
    with make_context():
        return lint_module(ir.Module.parse(module_of(*functions)), target)


def found(code: str, *functions: str, target: TargetName = "gpu") -> list[Diagnostic]:
    """What the one rule finds."""
    return [each for each in asked(*functions, target=target) if each.code == code]


def path(finding: Diagnostic) -> list[str]:
    """The ops of the path that a finding shows, its own last."""
    spots = [*(related.spot for related in finding.related), finding.spot]
    return [spot.op.removeprefix("stablehlo.") for spot in spots]


def attributed(op: str, entries: str) -> str:
    """An op with a group, with more frontend attributes."""
    assert op.count("_scheduling_group_id = ") == 1
    return op.replace("_scheduling_group_id = ", f"{entries}, _scheduling_group_id = ")
