"""The compilers' worker: what it survives, and that the readers of its answers can fail."""

from __future__ import annotations

import pytest

from tests.cases import registry
from tests.conftest import CompilerFor
from tests.xla.compilers import Compiler, Target, classify
from tests.xla.hlo import members

GAP = (
    "UNIMPLEMENTED: Support for annotation groups with gaps doesn't exist yet, annotation: 3, "
    "instr: dot.1 has the same annotation in its operand tree"
)
JOINED = (
    "INVALID_ARGUMENT: Instruction has a non-integer scheduling annotation group id, "
    "inst: all-gather-start, annotation: 0,1"
)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (GAP, "gap"),
        (JOINED, "two_ids"),
        (JOINED.replace("0,1", "abc"), "malformed"),
        ("INTERNAL: FindAndExtractBestNodeAvailable failed to find a node to schedule", "stuck"),
        ("INTERNAL: Found a fusion with multiple annotations in the fused computation", "fusion"),
        ("stoi", "malformed"),
        ("RESOURCE_EXHAUSTED: out of memory", "other"),
    ],
)
def test_refusals_are_told_apart(message: str, kind: str) -> None:
    assert classify(message) == kind


@pytest.mark.xla
@pytest.mark.parametrize("target", ["gpu", "v5e", "tpu7x"])
def test_malformed_ids_are_refused(target: Target, compiler_for: CompilerFor) -> None:
    text = registry.lower_case("once", "gpu" if target == "gpu" else "tpu").text
    bad = text.replace('_scheduling_group_id = "0"', '_scheduling_group_id = "abc"')
    assert compiler_for(target).compile(bad).kind == "malformed"


@pytest.mark.xla
def test_abort_is_contained(compiler_for: CompilerFor) -> None:
    compiler = compiler_for("gpu")
    before = compiler.starts
    aborted = compiler.compile(registry.lower_case("mixed_order", "gpu").bytecode, xla_dump_to="")
    assert aborted.kind == "abort"
    assert "Check failed" in aborted.message
    after = compiler.compile(registry.lower_case("unannotated", "gpu").bytecode, xla_dump_to="")
    assert after.ok
    assert compiler.starts == max(before, 1) + 1


@pytest.mark.xla
def test_time_out_is_a_refusal(compiler_for: CompilerFor) -> None:
    compiler_for("v5e")
    hasty = Compiler("v5e", limit_s=60.0)
    try:
        assert hasty.compile(registry.lower_case("unannotated", "tpu").bytecode).ok
        hasty._limit_s = 0.0
        assert hasty.compile(registry.lower_case("once", "tpu").bytecode).kind == "timeout"
    finally:
        hasty.close()


@pytest.mark.xla
def test_compiled_members_are_read(compiler_for: CompilerFor) -> None:
    once = registry.lower_case("once", "gpu").bytecode
    verdict = compiler_for("gpu").compile(once)
    found = [
        (member.opcode.removesuffix("-start"), member.group) for member in members(verdict.hlo)
    ]
    assert found == [("collective-permute", "0")]
