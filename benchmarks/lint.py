"""What lint and repair cost: microseconds of lint for each op that XLA will see, how that grows,
and repair as a ratio to lint.

A bare time means little on its own, so one walk of the module by an empty callback, taken in the
same run, stands beside it.

    python benchmarks/lint.py [OPS ...]      ops in the module, 10000 100000 1000000 by default
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from jaxlib.mlir import ir
from schedscope import modules
from schedscope.lint.checker import lint_module
from schedscope.repair.repair import repair_module

SIZES = (10_000, 100_000, 1_000_000)
REPEATS = {10_000: 7, 100_000: 3}
"""Runs of which the quickest counts; one for the large module."""
LIMIT = 8.0
"""Microseconds an op."""
REPAIR_LIMIT = 3.0
"""Repair to lint."""
GROWTH = 1.5
"""The most that an op of the largest module may cost more than one of the smallest."""

HEADER = "module @jit_step {\n"
TYPE = "tensor<8x8xf32>"


@dataclass(frozen=True)
class Shape:
    """A module of layers, each of so many ops, of which the first few are a group: a collective
    and matmuls that do not depend on it."""

    name: str
    layer: int
    grouped: int
    called: bool = False
    """Whether the layer is a function, called again and again."""
    one_id: bool = False
    """Whether all layers have the same id, so that each gap is one of one group."""

    def text(self, ops: int) -> str:
        layers = ops // self.layer
        if self.called:
            body = "\n".join(self._layer(0, 0))
            calls = "\n".join(
                f"  %r{n + 1} = func.call @layer(%r{n}, %w) : ({TYPE}, {TYPE}) -> {TYPE}"
                for n in range(layers)
            )
            return (
                f"{HEADER}func.func public @main(%r0: {TYPE}, %w: {TYPE}) -> {TYPE} {{\n{calls}\n"
                f"  return %r{layers} : {TYPE}\n}}\n"
                f"func.func private @layer(%r0: {TYPE}, %w: {TYPE}) -> {TYPE} {{\n{body}\n"
                f"  return %r1 : {TYPE}\n}}\n}}\n"
            )
        lines = [line for n in range(layers) for line in self._layer(n, 0 if self.one_id else n)]
        body = "\n".join(lines)
        return (
            f"{HEADER}func.func public @main(%r0: {TYPE}, %w: {TYPE}) -> {TYPE} {{\n{body}\n"
            f"  return %r{layers} : {TYPE}\n}}\n}}\n"
        )

    def _layer(self, n: int, group: int) -> list[str]:
        """From %r{n} to %r{n + 1}."""
        tag = f'{{mhlo.frontend_attributes = {{_scheduling_group_id = "{group}"}}}}'
        pairs = (
            "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
            "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"
        )
        lines = []
        names = []
        for k in range(self.grouped):
            name = f"%g{n}_{k}"
            names.append(name)
            if k == 0:
                lines.append(
                    f'  {name} = "stablehlo.collective_permute"(%r{n}) <{{{pairs}}}> {tag}'
                    f" : ({TYPE}) -> {TYPE}"
                )
            elif k == 1:
                lines.append(
                    f"  {name} = stablehlo.dot_general %r{n}, %w, contracting_dims = [1] x [0]"
                    f" {tag} : ({TYPE}, {TYPE}) -> {TYPE}"
                )
            else:
                lines.append(f"  {name} = stablehlo.multiply %r{n}, {names[-2]} {tag} : {TYPE}")
        rest = self.layer - self.grouped
        last = names[-1] if names else f"%r{n}"
        first = names[0] if names else "%w"
        for k in range(rest):
            name = f"%r{n + 1}" if k == rest - 1 else f"%t{n}_{k}"
            lines.append(f"  {name} = stablehlo.add {last}, {first} : {TYPE}")
            first, last = last, name
        return lines


SHAPES = (
    Shape("few groups", 1000, 3),
    Shape("5% tagged", 100, 5),
    Shape("dense groups", 20, 4),
    Shape("one id for all", 1000, 3, one_id=True),
    Shape("calls of 100 ops", 100, 4, called=True),
    Shape("calls of 1000 ops", 1000, 4, called=True),
)


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.thread_time()
    work()
    return time.thread_time() - start


def empty_walk(module: ir.Module) -> None:
    advance = ir.WalkResult.ADVANCE
    module.operation.walk(lambda op: advance, ir.WalkOrder.PRE_ORDER)


def measure(shape: Shape, ops: int, target: Literal["gpu", "tpu"]) -> tuple[float, float]:
    """Microseconds of lint an op, and repair to lint."""
    data = shape.text(ops).encode()
    module = modules.read(data, "benchmark.mlir").module
    repeats = REPEATS.get(ops, 1)
    lint = min(seconds(lambda: lint_module(module, target)) for _ in range(repeats))
    walk = seconds(lambda: empty_walk(module))
    fresh = [modules.read(data, "benchmark.mlir").module for _ in range(repeats)]
    repair = min(seconds(partial(repair_module, each, target)) for each in fresh)
    cost = lint / ops * 1e6
    print(
        f"{shape.name:20} {target:4} {ops:>8} ops  lint {cost:6.2f} us an op, "
        f"lint / empty walk = {lint / walk:.1f}, repair / lint = {repair / lint:.1f}",
        flush=True,
    )
    return cost, repair / lint


def main(sizes: list[int]) -> int:
    measure(SHAPES[0], 10_000, "gpu")  # the first run pays for imports
    worst = growth = repair = 0.0
    targets: tuple[Literal["gpu", "tpu"], ...] = ("gpu", "tpu")
    for shape in SHAPES:
        for target in targets:
            costs, ratios = zip(*(measure(shape, size, target) for size in sizes), strict=True)
            worst = max(worst, *costs)
            growth = max(growth, costs[-1] / costs[0])
            repair = max(repair, *ratios)
    print(f"worst = {worst:.2f} us an op, limit {LIMIT}")
    print(f"cost of an op, largest / smallest module = {growth:.2f}, limit {GROWTH}")
    print(f"repair / lint = {repair:.1f}, limit {REPAIR_LIMIT}")
    return 0 if worst <= LIMIT and growth <= GROWTH and repair <= REPAIR_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main([int(size) for size in sys.argv[1:]] or list(SIZES)))
