"""docs/lint.md's table of the ops that keep their annotation, beside what the compilers do: a path
from the op to a collective of its group is a gap where the op's annotation is kept."""

from __future__ import annotations

import pytest
from schedscope.xla.targets import GPU_0_10

from tests.conftest import CompilerFor
from tests.jax_versions import VERSION
from tests.lint.test_kept_ops import OTHER, told
from tests.xla.compilers import Target

TARGET_NAMES: tuple[Target, ...] = ("gpu", "v5e", "v6e", "tpu7x")
T = "tensor<256x256xf32>"
HALF, TWICE, BATCH = (
    T.replace("256x", "128x", 1),
    T.replace("256x", "512x", 1),
    T.replace("<", "<1x"),
)
TAG = 'mhlo.frontend_attributes = {_scheduling_group_id = "0"}'
GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
SUM = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
})"""
BRANCHES = f"""({{
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}
    stablehlo.return %p : {T}
}}, {{
    %q = stablehlo.sine %x : {T}
    stablehlo.return %q : {T}
}})"""
SPLIT = "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64"
LAYOUT = (
    "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} "
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
)
MATMUL = f"contracting_dims = [1] x [0] {{{TAG}}} : ({T}, {T}) -> {T}"
OPS = {
    "all_gather": f"""
    %h = stablehlo.slice %x [0:128, 0:256] : ({T}) -> {HALF}
    %y = "stablehlo.all_gather"(%h) {{all_gather_dim = 0 : i64, {GROUPS}, {TAG}}}
      : ({HALF}) -> {T}""",
    "all_reduce": f'%y = "stablehlo.all_reduce"(%x) {SUM} {{{GROUPS}, {TAG}}} : ({T}) -> {T}',
    "reduce_scatter": f"""
    %h = stablehlo.concatenate %x, %w, dim = 0 : ({T}, {T}) -> {TWICE}
    %y = "stablehlo.reduce_scatter"(%h) {SUM} {{scatter_dimension = 0 : i64, {GROUPS}, {TAG}}}
      : ({TWICE}) -> {T}""",
    "all_to_all": f'%y = "stablehlo.all_to_all"(%x) {{{SPLIT}, {GROUPS}, {TAG}}} : ({T}) -> {T}',
    "collective_permute": f"""
    %y = "stablehlo.collective_permute"(%x) {{
      source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, {TAG}}} : ({T}) -> {T}""",
    "dot": f"%y = stablehlo.dot %x, %w {{{TAG}}} : ({T}, {T}) -> {T}",
    "dot_general": f"%y = stablehlo.dot_general %x, %w, {MATMUL}",
    "convolution": f"""
    %i = stablehlo.reshape %x : ({T}) -> {BATCH}
    %j = stablehlo.broadcast_in_dim %w, dims = [1, 2] : ({T}) -> {T.replace("<", "<3x")}
    %k = stablehlo.convolution(%i, %j) {LAYOUT}{TAG}}}
      : ({BATCH}, {T.replace("<", "<3x")}) -> {BATCH}
    %y = stablehlo.reshape %k : ({BATCH}) -> {T}""",
    "if": f'%y = "stablehlo.if"(%t) {BRANCHES} {{{TAG}}} : (tensor<i1>) -> {T}',
    "case": f'%y = "stablehlo.case"(%n) {BRANCHES} {{{TAG}}} : (tensor<i32>) -> {T}',
    "sine": f"%y = stablehlo.sine %x {{{TAG}}} : {T}",
    "transpose": f"%y = stablehlo.transpose %x, dims = [1, 0] {{{TAG}}} : ({T}) -> {T}",
    "reverse": f"%y = stablehlo.reverse %x, dims = [0] {{{TAG}}} : {T}",
}


def program(op: str) -> str:
    return f"""
module @kept attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32}} {{
  func.func public @main(%x: {T}, %w: {T}, %n: tensor<i32>, %t: tensor<i1>) -> {T} {{
    {OPS[op]}
    %z = stablehlo.add %y, %w : {T}
    %r = "stablehlo.all_reduce"(%z) {SUM} {{{GROUPS}, {TAG}}} : ({T}) -> {T}
    return %r : {T}
  }}
}}"""


@pytest.mark.xla
@pytest.mark.parametrize("target", TARGET_NAMES)
@pytest.mark.parametrize("op", OPS)
def test_a_kept_op_makes_a_gap(op: str, target: Target, compiler_for: CompilerFor) -> None:
    table = told(target)
    wanted = "ok" if table.get(op, table[OTHER]) == "-" else "gap"
    if target == "gpu" and VERSION < (0, 11) and f"stablehlo.{op}" in GPU_0_10.crashes:
        wanted = "abort"
    verdict = compiler_for(target).compile(program(op))
    assert verdict.kind == wanted, verdict.message


@pytest.mark.xla
@pytest.mark.parametrize("target", TARGET_NAMES)
def test_gpu_finds_no_gap_beside_a_broadcast(target: Target, compiler_for: CompilerFor) -> None:
    """Not even between other ops."""
    text = program("all_reduce").replace(
        "return %r",
        f"""
    %u = "stablehlo.collective_broadcast"(%r) {{{GROUPS}}} : ({T}) -> {T}
    return %u""",
    )
    verdict = compiler_for(target).compile(text)
    assert verdict.kind == ("ok" if target == "gpu" else "gap"), verdict.message
