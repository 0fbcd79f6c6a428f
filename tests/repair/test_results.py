"""The program computes the same before and after repair, to the bit, on four CPU devices."""

from __future__ import annotations

from functools import cache

import pytest
from schedscope._mlir import ADVANCE, PRE_ORDER, bytecode_of, ir, make_context
from schedscope.repair.repair import repair_module
from schedscope.xla.splicing import BARRIER

from tests.cases import registry
from tests.cases.kit import Family
from tests.cases.lowering import lower
from tests.random_programs.generator import random_program
from tests.test_results import RUNNABLE, run

FAMILIES: tuple[Family, ...] = ("gpu", "tpu")
SEEDS = range(6)
MANY_SEEDS = range(6, 100)
UNBOUNDED = "dense<1.000000e+02>"
"""The bound of a loop whose turns depend on the data, which differ from device to device: they
would wait for each other for ever."""


@cache
def repaired(module: bytes, family: Family, seal: bool | None) -> tuple[bytes, bool]:
    with make_context():
        parsed = ir.Module.parse(module)
        report = repair_module(parsed, family, seal=seal)
        return bytecode_of(parsed), report.changed


def random_module(seed: int, family: Family) -> bytes | None:
    """None for a program that some devices would not finish, and for one at which XLA:CPU itself
    ends or errs now and then: it takes the all_to_alls of two loops for one."""
    lowered = lower(random_program(seed, family), "cpu")
    text = lowered.text
    mixes = "stablehlo.while" in text and "stablehlo.all_to_all" in text
    return None if UNBOUNDED in text or mixes else lowered.bytecode


def check(module: bytes, family: Family, seal: bool | None) -> bool:
    """Whether there was anything to compare."""
    after, changed = repaired(module, family, seal)
    if not changed:
        return False
    before = run(bare(module), quick=False)  # unoptimized, tanh rounds as its fusion has it
    assert len(before) == 4
    assert any(any(part) for part in before)
    assert before == run(bare(after), quick=False)
    return True


@cache
def bare(module: bytes) -> bytes:
    """Without its barriers, which change nothing but what XLA:CPU fuses, and so where it rounds."""
    with make_context():
        parsed = ir.Module.parse(module)
        barriers: list[ir.Operation] = []

        def visit(op: ir.Operation) -> ir.WalkResult:
            if op.name == BARRIER:
                barriers.append(op)
            return ADVANCE

        parsed.operation.walk(visit, PRE_ORDER)
        for op in barriers:
            for result, operand in zip(op.results, op.operands, strict=True):
                result.replace_all_uses_with(operand)
        return bytecode_of(parsed)


@pytest.mark.parametrize("seal", [None, True], ids=["needed", "sealed"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", RUNNABLE)
def test_cases(name: str, family: Family, seal: bool | None) -> None:
    check(registry.lower_case(name, family, "cpu").bytecode, family, seal)


@pytest.mark.parametrize("family", FAMILIES)
def test_random_programs(family: Family) -> None:
    modules = filter(None, (random_module(seed, family) for seed in SEEDS))
    assert sum(check(module, family, None) for module in modules) > 0


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_many_random_programs(family: Family) -> None:
    modules = filter(None, (random_module(seed, family) for seed in MANY_SEEDS))
    compared = [check(module, family, True) for module in modules]
    assert sum(compared) > len(MANY_SEEDS) // 2
