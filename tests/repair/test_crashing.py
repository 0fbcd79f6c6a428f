"""Ops at which XLA:GPU of jax 0.10 ends its process where they have an id, or their call has."""

from __future__ import annotations

from schedscope.repair.repair import repair_module

from tests.lint_model.modules import call, function, permute
from tests.repair.modules import ids, mended

PAIRS = "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"
SPLIT = (
    "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, "
    "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
)


def move(name: str, x: str, group: int | None = None) -> str:
    """An all_to_all."""
    return permute(name, x, group).replace("collective_permute", "all_to_all").replace(PAIRS, SPLIT)


def test_the_op_loses_its_id() -> None:
    with mended("gpu-0.10", function(permute("a", "x", 0), move("r", "a", 0))) as (report, module):
        assert ids(module) == ["collective_permute 0"]
        assert [loss.op for loss in report.losses] == ["stablehlo.all_to_all"]
    with mended("tpu", function(permute("a", "x", 0), move("r", "a", 0))) as (_, module):
        assert ids(module) == ["collective_permute 0", "all_to_all 0"]


def test_a_call_hands_its_id_to_the_others_alone() -> None:
    block = function(permute("a", "x"), move("r", "a"), name="block")
    body = function(call("r", "block", "x", "w", group=0))
    with mended("gpu-0.10", block, body) as (report, module):
        assert ids(module) == ["collective_permute 0"]
        assert report.pushed == ("block_0",)
        assert not repair_module(module, "gpu-0.10").changed


def test_a_call_inside_the_group_has_no_id_to_hand_on() -> None:
    block = function(permute("a", "x", 0), move("r", "a", 0), name="block")
    body = function(call("r", "block", "x", "w", group=0))
    with mended("gpu-0.10", block, body) as (_, module):
        assert ids(module) == ["collective_permute 0"]
