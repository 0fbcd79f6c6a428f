"""Random programs: what XLA accepted it still accepts, whole, and the groups are the rule's."""

from __future__ import annotations

from collections import Counter

import jax
import pytest

from tests.cases.kit import Family, group
from tests.cases.lowering import lower, mapped
from tests.conftest import CompilerFor
from tests.random_programs.generator import lower_random
from tests.random_programs.harm import harm
from tests.reference.checks import wrong
from tests.reference.modules import read
from tests.reference.rule import Rule
from tests.scoping import scope
from tests.xla.compilers import Compiler, Target

TARGETS: tuple[Target, ...] = ("gpu", "v5e", "tpu7x")
FAMILIES: tuple[Family, ...] = ("gpu", "tpu")
SEEDS = range(20)
MANY_SEEDS = range(20, 240)


def family_of(target: Target) -> Family:
    return "gpu" if target == "gpu" else "tpu"


def faults(seed: int, family: Family, every_call_site: bool) -> list[str]:
    """What is wrong with the pass's output, found without a compiler."""
    program = lower_random(seed, family).bytecode
    once = scope(program, every_call_site)
    again = scope(once.bytecode, every_call_site)
    found = wrong(read(program), read(once.bytecode), Rule(every_call_site))
    if again.changed or again.text != once.text:
        found.append("a second run changes it again")
    return found


def harms(seed: int, target: Target, compiler: Compiler) -> tuple[str, list[str]]:
    """What XLA said of the program as it was, and what is worse after the pass."""
    program = lower_random(seed, family_of(target)).bytecode
    raw, fixed = compiler.compile(program), compiler.compile(scope(program).bytecode)
    return raw.kind, harm(read(program), raw, fixed)


@pytest.mark.parametrize("every_call_site", [False, True], ids=["needed", "each"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_groups_are_the_rules(seed: int, family: Family, every_call_site: bool) -> None:
    assert faults(seed, family, every_call_site) == []


@pytest.mark.xla
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_harmed(seed: int, target: Target, compiler_for: CompilerFor) -> None:
    assert harms(seed, target, compiler_for(target))[1] == []


def around_a_call() -> bytes:
    """The program's own ops of a group before and after a call that holds the same id."""

    @jax.jit
    def collect(x: jax.Array) -> jax.Array:
        with group(0):
            return jax.lax.all_gather(x, "i", tiled=True)

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(0):
            y = x @ w
        z = collect(y)
        with group(0):
            last = z @ w
        return last[: x.shape[0]]

    return lower(mapped(program), "tpu").bytecode


@pytest.mark.xla
def test_own_ops_around_a_call_stay_one_group(compiler_for: CompilerFor) -> None:
    """They depend on each other; torn apart the own ops would have a gap."""
    program, compiler = around_a_call(), compiler_for("v5e")
    once = scope(program)
    assert compiler.compile(program).ok
    assert compiler.compile(once.bytecode).ok
    assert wrong(read(program), read(once.bytecode)) == []
    assert not once.changed


@pytest.mark.slow
@pytest.mark.parametrize("every_call_site", [False, True], ids=["needed", "each"])
@pytest.mark.parametrize("family", FAMILIES)
def test_groups_are_the_rules_for_many(family: Family, every_call_site: bool) -> None:
    found = {seed: faults(seed, family, every_call_site) for seed in MANY_SEEDS}
    assert {seed: what for seed, what in found.items() if what} == {}


@pytest.mark.slow
@pytest.mark.xla
@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_harmed_for_many(target: Target, compiler_for: CompilerFor) -> None:
    """And XLA has to refuse many programs and accept many, or this would show nothing."""
    compiler = compiler_for(target)
    kinds: Counter[str] = Counter()
    found: dict[int, list[str]] = {}
    for seed in MANY_SEEDS:
        kind, what = harms(seed, target, compiler)
        kinds[kind] += 1
        if what:
            found[seed] = what
    assert found == {}
    share = kinds["ok"] / len(MANY_SEEDS)
    assert 0.3 <= share <= 0.7, kinds
