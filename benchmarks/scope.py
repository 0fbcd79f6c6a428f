"""What scoping costs, as ratios to its floor taken in the same run.

The floor is what nobody can do without: the clones the pass makes, made bare, one empty walk of
the output, and one write of a ready attribute for each op whose id changes. Of a module without
annotations it is one walk that looks for them.

    python benchmarks/scope.py [OPS ...]      ops in the output, 10000 100000 1000000 by default
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import schedscope
from jaxlib.mlir import ir
from schedscope import modules

FRONTEND = "mhlo.frontend_attributes"
SIZES = (10_000, 100_000, 1_000_000)
REPEATS = {10_000: 7, 100_000: 3}
"""Runs of which the quickest counts; one for the large module."""
LIMIT = 2.5


@dataclass(frozen=True)
class Shape:
    """A module: `main` calls one function again and again, each call fed by the one before."""

    name: str
    ops: int
    """In the function."""
    tagged: int
    """Every how many ops one carries an id; 0 for none."""
    ids: int = 4

    def text(self, output: int) -> str:
        """The module whose output has about `output` ops."""
        if not self.tagged:  # nothing is cloned: as many ops in the input
            return replace(self, ops=output, tagged=output + 1).text(output)
        body = "\n".join(self._op(number) for number in range(self.ops))
        calls = "\n".join(
            f"  %{n + 1} = func.call @f(%{n}, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>"
            for n in range(output // self.ops)
        )
        signature = "(%0: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32>"
        return (
            f"module @jit_main {{\nfunc.func public @main{signature} {{\n{calls}\n"
            f"  return %{output // self.ops} : tensor<8xf32>\n}}\n"
            f"func.func private @f{signature} {{\n{body}\n"
            f"  return %{self.ops} : tensor<8xf32>\n}}\n}}\n"
        )

    def _op(self, number: int) -> str:
        carries = number % self.tagged == 0 and self.tagged <= self.ops
        group = number * self.ids // self.ops
        tag = f'{{{FRONTEND} = {{_scheduling_group_id = "{group}"}}}}' if carries else ""
        if number % 50 == 0:
            pairs = "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"
            return (
                f'  %{number + 1} = "stablehlo.collective_permute"(%{number}) <{{{pairs}}}> {tag}'
                " : (tensor<8xf32>) -> tensor<8xf32>"
            )
        return f"  %{number + 1} = stablehlo.add %{number}, %w {tag} : tensor<8xf32>"


SHAPES = (
    Shape("calls of 100 ops, 5% tagged", 100, 20),
    Shape("calls of 100 ops, all tagged", 100, 1),
    Shape("calls of 1000 ops, 5% tagged", 1000, 20),
    Shape("calls of 1000 ops, all tagged", 1000, 1),
)
UNTAGGED = Shape("one function, none tagged", 0, 0)


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def empty_walk(module: ir.Module) -> None:
    advance = ir.WalkResult.ADVANCE
    module.operation.walk(lambda op: advance, ir.WalkOrder.PRE_ORDER)


def looking_walk(module: ir.Module) -> None:
    """A walk that looks for the attribute, which is all a module without annotations costs."""
    advance = ir.WalkResult.ADVANCE

    def look(op: ir.Operation) -> ir.WalkResult:
        return advance if FRONTEND not in op.attributes else ir.WalkResult.INTERRUPT

    module.operation.walk(look, ir.WalkOrder.PRE_ORDER)


def parsed(text: str) -> ir.Module:
    module: ir.Module = modules.read(text.encode(), "benchmark.mlir").module
    return module


def measure(shape: Shape, output: int) -> tuple[float, float]:
    """Seconds of the pass and of its floor, on fresh modules."""
    text = shape.text(output)
    module = parsed(text)
    spent = seconds(lambda: schedscope.scope_module(module))
    if not shape.tagged:
        return spent, seconds(lambda: looking_walk(module))
    floor = seconds(lambda: empty_walk(module))
    return spent, floor + bare_floor(text, len(module.body.operations))


def bare_floor(text: str, functions: int) -> float:
    """The clones, and the writes to them."""
    module = parsed(text)
    with module.context, ir.Location.unknown():
        template = module.body.operations[1].operation
        place = ir.InsertionPoint(template)
        clones: list[ir.Operation] = []

        def clone() -> None:
            clones.extend(template.clone(place).operation for _ in range(functions - 2))

        spent = seconds(clone)
        tagged: list[ir.OpAttributeMap] = []
        for each in clones:
            each.walk(lambda op: collect(op, tagged), ir.WalkOrder.PRE_ORDER)
        attribute = ir.DictAttr.get({"_scheduling_group_id": ir.StringAttr.get("7")})

        def write() -> None:
            for attributes in tagged:
                attributes[FRONTEND] = attribute

        return spent + seconds(write)


def collect(op: ir.Operation, tagged: list[ir.OpAttributeMap]) -> ir.WalkResult:
    attributes = op.attributes
    if FRONTEND in attributes:
        tagged.append(attributes)
    return ir.WalkResult.ADVANCE


def start_up() -> float:
    """How many times longer the command takes on a small file than importing jaxlib.mlir.ir."""
    small = Shape("", 10, 5).text(20).encode()
    command = [sys.executable, "-m", "schedscope_cli", "fix", "-"]
    bare = [sys.executable, "-c", "import jaxlib.mlir.ir"]
    times: list[tuple[float, float]] = []
    for _ in range(9):
        ours = seconds(
            lambda: subprocess.run(command, input=small, capture_output=True, check=True)
        )
        theirs = seconds(lambda: subprocess.run(bare, check=True))
        times.append((ours, theirs))
    return min(ours for ours, _ in times) / min(theirs for _, theirs in times)


def main(sizes: list[int]) -> int:
    parsed(Shape("", 10, 5).text(20))
    schedscope.scope_module(parsed(Shape("", 10, 5).text(20)))  # the first run pays for imports
    worst = 0.0
    per_op: dict[Shape, list[float]] = {}
    for size in sizes:
        for shape in (*SHAPES, UNTAGGED):
            runs = [measure(shape, size) for _ in range(REPEATS.get(size, 1))]
            spent, floor = (min(column) for column in zip(*runs, strict=True))
            per_op.setdefault(shape, []).append(spent / size)
            worst = max(worst, spent / floor)
            print(f"{shape.name:32} {size:>8} ops  pass / floor = {spent / floor:.2f}", flush=True)
    for shape, costs in per_op.items():
        growth = costs[-1] / costs[0]
        print(f"{shape.name:32} cost of an op, largest / smallest module = {growth:.2f}")
    print(f"command on a small file / importing jaxlib.mlir.ir = {start_up():.2f}")
    print(f"worst pass / floor = {worst:.2f}, limit {LIMIT}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main([int(size) for size in sys.argv[1:]] or list(SIZES)))
