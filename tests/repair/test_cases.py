"""Every case, repaired: XLA accepts it, lint has no error, and doing it again changes nothing."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest
from schedscope._mlir import bytecode_of, ir, make_context
from schedscope.lint.checker import lint_module
from schedscope.lint.diagnostic import Severity
from schedscope.repair.repair import repair_module

from tests.cases import registry
from tests.cases.expected import ROWS
from tests.cases.kit import Family
from tests.conftest import CompilerFor
from tests.xla.compilers import Target

FAMILIES: tuple[Family, ...] = ("gpu", "tpu")
TARGETS: tuple[Target, ...] = ("gpu", "v5e", "tpu7x")
CASES = [name for name in ROWS if name != "two_streams"]  # refused for want of stream ids


class Repaired(NamedTuple):
    bytecode: bytes
    again: bytes
    changed: bool
    errors: list[str]


@cache
def repaired(name: str, family: Family) -> Repaired:
    with make_context():
        module = ir.Module.parse(registry.lower_case(name, family).bytecode)
        report = repair_module(module, family)
        assert module.operation.verify()
        bytecode = bytecode_of(module)
        found = lint_module(module, family)
        errors = [each.code for each in found if each.severity == Severity.ERROR]
        assert not repair_module(module, family).changed
        return Repaired(bytecode, bytecode_of(module), report.changed, errors)


@pytest.mark.xla
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", TARGETS)
def test_xla_accepts_it(target: Target, name: str, compiler_for: CompilerFor) -> None:
    family: Family = "gpu" if target == "gpu" else "tpu"
    verdict = compiler_for(target).compile(repaired(name, family).bytecode)
    assert verdict.ok, verdict.message


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("family", FAMILIES)
def test_lint_has_no_error(family: Family, name: str) -> None:
    assert repaired(name, family).errors == []


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("family", FAMILIES)
def test_again_changes_nothing(family: Family, name: str) -> None:
    found = repaired(name, family)
    assert found.again == found.bytecode


@pytest.mark.parametrize("name", [name for name in CASES if ROWS[name].unchanged])
def test_what_needs_nothing_is_left_alone(name: str) -> None:
    assert not repaired(name, "gpu").changed
