"""Every case, before and after the pass: what real XLA says, and what the groups are."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from tests.cases import registry
from tests.cases.expected import ROWS, spelled
from tests.cases.kit import Family
from tests.cases.lowering import Lowered
from tests.conftest import CompilerFor
from tests.reference.checks import wrong
from tests.reference.modules import described, groups, read
from tests.reference.rule import Rule
from tests.scoping import Scoped, reprinted, scope
from tests.xla.compilers import Target, Verdict
from tests.xla.hlo import members_per_group

FAMILIES: tuple[Family, ...] = ("gpu", "tpu")
TARGETS: tuple[Target, ...] = ("gpu", "v5e", "tpu7x")
UNCHANGED = [name for name, row in ROWS.items() if row.unchanged]


@cache
def lowered(name: str, family: Family) -> Lowered:
    return registry.lower_case(name, family)


@cache
def scoped(name: str, family: Family, every_call_site: bool = False) -> Scoped:
    return scope(lowered(name, family).bytecode, every_call_site)


def family_of(target: Target) -> Family:
    return "gpu" if target == "gpu" else "tpu"


TARGETS_AND_NAMES = [
    (target, name)
    for target in TARGETS
    for name in ROWS
    if name != "two_streams" or target == "gpu"  # no TPU has these streams
]


def explained(verdict: Verdict) -> str:
    return f"XLA says: {verdict.kind} {verdict.message}"


@pytest.mark.xla
@pytest.mark.parametrize(("target", "name"), TARGETS_AND_NAMES)
def test_xla_says_of_the_case_as_it_is(
    target: Target, name: str, compiler_for: CompilerFor
) -> None:
    verdict = compiler_for(target).compile(lowered(name, family_of(target)).bytecode)
    assert verdict.kind == ROWS[name].outcome(target).raw, explained(verdict)


@pytest.mark.xla
@pytest.mark.parametrize(("target", "name"), TARGETS_AND_NAMES)
def test_xla_says_of_the_case_after_the_pass(
    target: Target, name: str, compiler_for: CompilerFor
) -> None:
    verdict = compiler_for(target).compile(scoped(name, family_of(target)).bytecode)
    assert verdict.kind == ROWS[name].outcome(target).fixed, explained(verdict)


@pytest.mark.parametrize("every_call_site", [False, True], ids=["needed", "each"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ROWS)
def test_groups_are_those_written_by_hand(name: str, family: Family, every_call_site: bool) -> None:
    row = ROWS[name]
    after = read(scoped(name, family, every_call_site).bytecode)
    found = [described(ops) for computation in after for ops in groups(computation)]
    wanted = [spelled(group, family) for group in (row.each if every_call_site else row.groups)]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("every_call_site", [False, True], ids=["needed", "each"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ROWS)
def test_nothing_else_is_wrong(name: str, family: Family, every_call_site: bool) -> None:
    before = read(lowered(name, family).bytecode)
    after = read(scoped(name, family, every_call_site).bytecode)
    assert wrong(before, after, Rule(every_call_site)) == []


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", UNCHANGED)
def test_module_comes_back_byte_for_byte(name: str, family: Family) -> None:
    before, after = reprinted(lowered(name, family).bytecode), scoped(name, family)
    assert not after.changed
    assert after.text == before.text
    assert after.bytecode == before.bytecode


@pytest.mark.parametrize("every_call_site", [False, True], ids=["needed", "each"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ROWS)
def test_second_run_changes_nothing(name: str, family: Family, every_call_site: bool) -> None:
    once = scoped(name, family, every_call_site)
    again = scope(once.bytecode, every_call_site)
    assert not again.changed
    assert again.text == once.text


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ROWS)
def test_changed_is_the_truth(name: str, family: Family) -> None:
    before, after = reprinted(lowered(name, family).bytecode), scoped(name, family)
    assert after.changed == (after.text != before.text)


@pytest.mark.xla
@pytest.mark.parametrize("name", ["twice", "nested", "scan_body", "grad_jitted"])
def test_every_group_reaches_the_scheduler(name: str, compiler_for: CompilerFor) -> None:
    """XLA drops a group it cannot keep without a word: count what is left on v5e, which keeps
    gathers and dots."""
    verdict = compiler_for("v5e").compile(scoped(name, "tpu").bytecode)
    kept = Counter(group for _, group in members_per_group(verdict.hlo))
    assert len(kept) == len(ROWS[name].groups), verdict.hlo


@pytest.mark.xla
def test_separate_groups_need_separate_combiner_keys(compiler_for: CompilerFor) -> None:
    """Two independent groups: XLA:GPU would merge their collectives, and refuse the result."""
    apart = scope(lowered("independent", "gpu").text, every_call_site=True)
    keys = {
        op.frontend.get("combiner_key")
        for computation in read(apart.text)
        for op in computation.ops
        if op.kind == "collective_permute"
    }
    assert len(keys) == 2
    assert None not in keys
    assert compiler_for("gpu").compile(apart.text).kind == "ok"
    keyless = apart.text
    for key in keys:
        keyless = keyless.replace(f', combiner_key = "{key}"', "")
        keyless = keyless.replace(f'combiner_key = "{key}"', "")
    keyless = keyless.replace("{, ", "{").replace(", }", "}")
    assert compiler_for("gpu").compile(keyless).kind == "two_ids"


@pytest.mark.parametrize("family", FAMILIES)
def test_users_combiner_key_stays_a_prefix(family: Family) -> None:
    after = read(scoped("user_key", family).bytecode)
    keys = {
        op.frontend["combiner_key"]
        for computation in after
        for op in computation.ops
        if op.kind in ("collective_permute", "all_gather")
    }
    assert all(key.startswith("mine") for key in keys)


@pytest.mark.parametrize("family", FAMILIES)
def test_iteration_ids_stay(family: Family) -> None:
    [computation] = read(scoped("iteration_suffix", family).bytecode)
    suffixes = [
        (op.kind, op.frontend["_scheduling_group_id"].partition(":")[2])
        for op in computation.ops
        if op.kind in ("dot_general", "collective_permute", "all_gather") and op.group is not None
    ]
    move = "collective_permute" if family == "gpu" else "all_gather"
    assert suffixes == [(move, "-1"), ("dot_general", ""), (move, "-1"), ("dot_general", "")]
