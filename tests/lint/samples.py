"""Small modules with groups, and the Python file that their locations point into."""

from __future__ import annotations

SOURCE = """\
def step(x, w):
    with group(5):
        x = exchange(x)
    x = exchanged(x) + x
    with group(5):
\tx = exchange(x)  # after a tab
    return x
"""
"""train.py"""

_T = "tensor<8x8xf32>"
_GROUP = 'mhlo.frontend_attributes = {_scheduling_group_id = "5"}'


def _exchange(operand: str) -> str:
    pairs = "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"
    channel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"
    return (
        f'"stablehlo.collective_permute"({operand}) <{{{channel}, {pairs}}}> {{{_GROUP}}} : '
        f"({_T}) -> {_T}"
    )


BARE = f"""\
module @jit_step {{
  func.func public @main(%x: {_T}) -> {_T} {{
    %0 = {_exchange("%x")}
    %1 = stablehlo.add %0, %x : {_T}
    %2 = {_exchange("%1")}
    return %2 : {_T}
  }}
}}
"""
"""Group 5 has a gap, through the addition."""

LOCATED = BARE.replace(f"-> {_T}\n    %1", f"-> {_T} loc(#loc1)\n    %1").replace(
    f"add %0, %x : {_T}\n", f"add %0, %x : {_T} loc(#loc2)\n"
).replace(f"-> {_T}\n    return", f"-> {_T} loc(#loc3)\n    return") + (
    '#loc1 = loc("ppermute"("step"("train.py":3:12 to :23)))\n'
    '#loc2 = loc("add"("step"("train.py":4:8 to :24)))\n'
    '#loc3 = loc("ppermute"("step"("train.py":6:5 to :16)))\n'
)
"""The same with its Python lines."""

CLEAN = BARE.replace("%2 = ", "%unused = ").replace("return %2", "return %1")
"""Nobody uses the second exchange, and XLA removes it."""

NOTED = BARE.replace(
    f"%1 = stablehlo.add %0, %x : {_T}\n    %2 = {_exchange('%1')}",
    f"%1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {{{_GROUP}}} : "
    f"({_T}, {_T}) -> {_T}\n    %2 = stablehlo.add %0, %1 : {_T}",
)
"""XLA:GPU drops the annotation of the matmul, and that is all."""

UNMARKED = BARE.replace(f" {{{_GROUP}}}", "")
"""No groups at all."""

CALLED_TWICE = LOCATED.replace(
    f"  func.func public @main(%x: {_T}) -> {_T} {{\n",
    f"""\
  func.func public @main(%x: {_T}) -> {_T} {{
    %0 = call @step(%x) : ({_T}) -> {_T} loc(#loc4)
    return %0 : {_T}
  }}
  func.func private @step(%x: {_T}) -> {_T} {{
""",
) + ('#loc4 = loc("jit(main)/jit(step)"("<module>"("train.py":9:0 to :10)))\n')
"""The gap within a function that is called."""
