"""The ops of the notation: their StableHLO names, properties and types."""

from __future__ import annotations

SHAPE = "tensor<8x8xf32>"
WIDE = "tensor<32x8xf32>"
"""What a gather of four gives; a slice follows it, to `SHAPE` again."""
ROWS = (
    "start_indices = array<i64: 0, 0>, limit_indices = array<i64: 8, 8>, strides = array<i64: 1, 1>"
)
ELEMENTWISE = {
    "add": 2, "cosine": 1, "exponential": 1, "multiply": 2, "negate": 1, "select": 3, "sine": 1,
    "subtract": 2, "tanh": 1, "optimization_barrier": 1,
}  # fmt: skip
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
GROUPS = "replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>"
COLLECTIVES = {
    "permute": (
        "collective_permute",
        f"{CHANNEL}, source_target_pairs = dense<[[0,1],[1,2],[2,3],[3,0]]> : tensor<4x2xi64>",
    ),
    "gather": (
        "all_gather",
        f"all_gather_dim = 0 : i64, {CHANNEL}, {GROUPS}, use_global_device_ids",
    ),
    "reduce": ("all_reduce", f"{CHANNEL}, {GROUPS}, use_global_device_ids"),
}
SUM = """({{
  ^bb0(%l{0}: tensor<f32>, %r{0}: tensor<f32>):
    %s{0} = stablehlo.add %l{0}, %r{0}{1} : tensor<f32>
    stablehlo.return %s{0} : tensor<f32>
  }})"""
DOT = (
    "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
    "rhs_contracting_dimensions = [0]>"
)
MANUAL = (
    "in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>, manual_axes = "
    '#sdy<manual_axes{"i"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>'
)
TYPES = {
    "compare": "tensor<i1>",
    "constant": "tensor<i32>",
    "count": "tensor<i32>",
    "index": "tensor<i32>",
    "true": "tensor<i1>",
    "false": "tensor<i1>",
    "test": "tensor<i1>",
}


def type_of(op: str) -> str:
    """Of the op's results."""
    return TYPES.get(op, SHAPE)
