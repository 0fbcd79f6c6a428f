"""Small modules, written by hand, and the forms a file can have."""

from __future__ import annotations

import re
import zlib

from schedscope import modules
from schedscope.formats import Format

FORMATS: tuple[Format, ...] = ("text", "bytecode", "portable")

_GROUP = 'mhlo.frontend_attributes = {_scheduling_group_id = "0"}'

TWICE = f"""\
module @jit_main {{
  func.func public @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {{
    %0 = call @layer(%arg0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = call @layer(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }}
  func.func private @layer(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {{
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] {{{_GROUP}}} : \
(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.add %0, %arg0 : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }}
}}
"""
"""A group called twice, the second call on the first one's result: there is something to do."""

APART = TWICE.replace("@layer(%0)", "@layer(%arg0)").replace(
    "    return %1 : tensor<8x8xf32>\n  }\n  func",
    "    %2 = stablehlo.add %0, %1 : tensor<8x8xf32>\n    return %2 : tensor<8x8xf32>\n  }\n  func",
)
"""The calls do not depend on each other: nothing to do, unless every call is to be separate."""

ONCE = TWICE.replace(
    "    %1 = call @layer(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n", ""
).replace("return %1 : tensor<8x8xf32>\n  }\n  func", "return %0 : tensor<8x8xf32>\n  }\n  func")
"""Nothing to do."""

LOCATED = f"""\
#loc = loc(unknown)
module @jit_main {{
  func.func public @main(%arg0: tensor<8x8xf32> loc(unknown)) -> tensor<8x8xf32> {{
    %0 = call @layer(%arg0) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc(#loc4)
    %1 = call @layer(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc(#loc5)
    return %1 : tensor<8x8xf32> loc(#loc)
  }} loc(#loc)
  func.func private @layer(%arg0: tensor<8x8xf32> loc(unknown)) -> tensor<8x8xf32> {{
    %0 = stablehlo.multiply %arg0, %arg0 {{{_GROUP}}} : tensor<8x8xf32> loc(#loc6)
    return %0 : tensor<8x8xf32> loc(#loc)
  }} loc(#loc)
}} loc(#loc)
#loc1 = loc("train.py":31:8 to :19)
#loc2 = loc("train.py":32:8 to :19)
#loc3 = loc("train.py":20:11 to :16)
#loc4 = loc("jit(main)/jit(layer)"("step"(#loc1)))
#loc5 = loc("jit(main)/jit(layer)"("step"(#loc2)))
#loc6 = loc("mul"("layer"(#loc3)))
"""
"""TWICE as jax prints it, with Python locations."""


def encoded(text: str, format: Format, gzipped: bool = False) -> bytes:
    source = modules.read(text.encode(), "sample.mlir")
    content = text.encode() if format == "text" else modules.write(source, format)
    return zlib.compress(content, wbits=31) if gzipped else content


def groups(data: bytes) -> list[str]:
    """The ids of a module in any form, in the order in which they stand."""
    source = modules.read(data, "result")
    return re.findall(r'_scheduling_group_id = "([^"]*)"', modules.text_of(source).decode())
