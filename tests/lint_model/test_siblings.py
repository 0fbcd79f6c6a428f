"""Ops that XLA:GPU makes one though a group lies between them, and the compiler's word on it."""

from __future__ import annotations

import pytest
from schedscope.xla.gap_search import gaps
from schedscope.xla.sibling_fusion import joins

from tests.conftest import CompilerFor
from tests.lint_model.modules import (
    add,
    dot,
    function,
    gather,
    module_of,
    permute,
    reduce,
    seen,
    sine,
)

LED = sine("e", "x"), permute("m", "e", 0)
"""Leads to a member."""
BETWEEN = reduce("n", "w", 0)
"""The other one."""
FUSED = function(
    *LED, BETWEEN, add("v", "n", "w"), add("t", "v", "x"), reduce("u", "t"), add("r", "m", "u")
)
USED = function(*LED, BETWEEN, add("q", "n", "e"), dot("v", "q", "w"), dot("r", "m", "v"))
"""What leads to a member is used behind the other one."""
DOTS = function(
    dot("e", "x", "w"), permute("m", "e", 0), BETWEEN, dot("t", "n", "w"), add("r", "m", "t")
)
REDUCED = function(
    reduce("e", "x"), permute("m", "e", 0), BETWEEN, reduce("t", "n"), add("r", "m", "t")
)
HARMLESS = {
    "fused with what waits for both": function(
        *LED, BETWEEN, add("t", "n", "x"), add("r", "m", "t")
    ),
    "leads to both": function(*LED, reduce("n", "e", 0), add("t", "n", "x"), dot("r", "m", "t")),
    "waits for both": function(*LED, BETWEEN, add("t", "n", "m"), dot("r", "t", "x")),
    "nothing shared": function(*LED, BETWEEN, add("t", "n", "w"), dot("r", "m", "t")),
    "waits for the other": function(
        *LED, BETWEEN, reduce("q", "e"), add("v", "n", "q"), dot("t", "v", "w"), add("k", "t", "x"),
        dot("r", "m", "k"),
    ),
    "one op each": function(
        *LED, BETWEEN, add("t", "n", "x"), reduce("u", "t"), add("r", "m", "u")
    ),
    "all-reduces in groups": function(reduce("e", "x", 0), reduce("f", "w", 1), dot("r", "e", "f")),
}  # fmt: skip
REFUSED = {"fused": FUSED, "used": USED, "dots": DOTS, "reduced": REDUCED}


@pytest.mark.parametrize("body", [FUSED, USED, DOTS], ids=["fused", "used", "dots"])
def test_two_ops_on_both_sides_of_a_group(body: str) -> None:
    with seen("gpu", body) as view:
        [join] = joins(view)
        assert join.group == 0
        assert join.leading.op.name != "stablehlo.collective_permute"
        assert join.leading.number < join.waiting.number
    with seen("v5e", body) as view:
        assert list(joins(view)) == []


def test_on_a_tpu_among_what_is_awaited() -> None:
    body = function(
        sine("e", "x"), gather("m", "e", 0), gather("n", "w", 0), add("v", "n", "w"),
        add("t", "v", "x"), dot("u", "t", "w"), add("r", "m", "u"),
    )  # fmt: skip
    with seen("v5e", body) as view:
        assert [(join.group, join.leading.name) for join in joins(view)] == [(0, "stablehlo.sine")]
    with seen("tpu7x", body) as view:  # it seeks no gaps after fusion
        assert list(joins(view)) == []


def test_all_reduces_outside_that_are_made_one() -> None:
    with seen("gpu", REDUCED) as view:
        [gap] = gaps(view)
        names = [node.name.removeprefix("stablehlo.") for node in gap.path]
        assert names == ["all_reduce", "all_reduce", "collective_permute"]


@pytest.mark.parametrize("body", HARMLESS.values(), ids=list(HARMLESS))
def test_silent(body: str) -> None:
    with seen("gpu", body) as view:
        assert list(joins(view)) == []
        assert gaps(view) == []


@pytest.mark.xla
@pytest.mark.parametrize("name", [*REFUSED, *HARMLESS])
def test_as_xla_says(compiler_for: CompilerFor, name: str) -> None:
    text = module_of({**REFUSED, **HARMLESS}[name])
    for old, new in (
        ("module attributes {", "module @jit_step attributes {mhlo.num_replicas = 1 : i32, "),
        ("4x4", "256x256"),
        (
            "replica_groups = ",
            "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
            "use_global_device_ids, replica_groups = ",
        ),
    ):
        text = text.replace(old, new)
    verdict = compiler_for("gpu").compile(text)
    assert verdict.kind == ("gap" if name in REFUSED else "ok"), verdict.message
