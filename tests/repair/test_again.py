"""What repair has made is left alone: by scoping, and by repair itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from schedscope.annotation import SCOPE
from schedscope.lint.checker import lint_module
from schedscope.lint.diagnostic import Severity
from schedscope.repair.repair import RepairTarget, repair_module
from schedscope.scoping.scope import scope_module

from tests.cases.kit import Family
from tests.lint_model.modules import add, call, dot, function, gather, reduce, sine
from tests.random_programs.generator import lower_random
from tests.repair.modules import ids, mended
from tests.repair.repairing import repaired

FETCH = function(gather("r", "x", 0), name="fetch")
ATTEND = function(dot("r", "x", "w", 0), name="attend")
REUSED = (
    ATTEND,
    function(
        gather("a", "x", 0), call("b", "attend", "x", "w", group=0), add("c", "a", "b"),
        gather("d", "c", 0), call("e", "attend", "c", "w", group=0), add("r", "d", "e"),
    ),
)  # fmt: skip
"""The calls are made inside the group, so that scoping leaves it one."""
CROSSED = (
    function(
        reduce("a", "x", 1), sine("y", "x"), gather("b", "y", 2), dot("d", "a", "w", 2),
        sine("z", "b"), dot("c", "z", "w", 1), add("r", "c", "d"),
    ),
)  # fmt: skip
"""Group 1 waits for a part of group 2, which waits for the other part of group 1: a barrier around
the one makes a gap in the other."""


@pytest.mark.parametrize("target", ["gpu", "tpu"])
@pytest.mark.parametrize("functions", [REUSED, CROSSED], ids=["reused", "crossed"])
@pytest.mark.parametrize("seal", [True, None])
def test_nothing_is_left_to_do(
    functions: Sequence[str], target: RepairTarget, seal: bool | None
) -> None:
    with mended(target, *functions, seal=seal) as (report, module):
        assert report.changed
        before = str(module)
        again = repair_module(module, target, seal=seal)
        assert list(again.summary()) == []
        assert not again.changed
        assert str(module) == before
        found = lint_module(module, "gpu" if target == "gpu" else "tpu")
        assert [each.code for each in found if each.severity == Severity.ERROR] == []


def test_scoping_leaves_a_part_that_lies_in_several_functions() -> None:
    with mended("tpu", *REUSED) as (_, module):
        parts = ids(module)
        assert sorted(parts) == [
            "all_gather 0", "all_gather 1", "dot_general 0", "dot_general 1",
            "func.call 0", "func.call 1",
        ]  # fmt: skip
        assert str(module).count(SCOPE) == len(parts)
        assert not scope_module(module).changed


def test_a_group_that_was_there_gets_no_marker() -> None:
    body = function(
        call("a", "fetch", "x", "w"), call("b", "attend", "x", "w"), add("r", "a", "b")
    )  # fmt: skip
    with mended("tpu", FETCH, ATTEND, body) as (report, module):
        assert not report.changed
        assert SCOPE not in str(module)


@pytest.mark.parametrize(
    ("seed", "family", "target", "seal"),
    [
        (72068, "tpu", "tpu", None),  # a barrier makes calls depend on each other
        (72263, "tpu", "tpu", None),  # one is put deeper after a first one
        (80006, "tpu", "tpu", False),  # one that keeps an op in its loop makes groups wait
        (80050, "gpu", "gpu", True),  # many levels
        (80069, "gpu", "gpu-0.10", None),  # a call that lost its id is told apart
    ],
)
def test_what_repair_does_leaves_it_nothing_more_to_do(
    seed: int, family: Family, target: RepairTarget, seal: bool | None
) -> None:
    once = repaired(lower_random(seed, family).bytecode, target, seal)
    assert repaired(once, target, seal) == once
