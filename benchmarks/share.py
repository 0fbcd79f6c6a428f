"""What lint costs beside XLA: its time as a share of what XLA takes to compile the same module, in
one run.

    python -m benchmarks.share      from the repository's root
"""

from __future__ import annotations

import sys
import time
from typing import Literal

from schedscope import modules
from schedscope.lint.checker import lint_module

from benchmarks.lint import Shape, seconds
from tests.xla.compilers import Compiler, Target

OPS = 2000
LIMIT = 1.0
"""Percent."""
SHAPES = (Shape("few groups", 1000, 3), Shape("5% tagged", 100, 5), Shape("dense groups", 20, 4))
TARGETS: tuple[Target, ...] = ("gpu", "v5e")
MODULE = "module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}"


def share(compiler: Compiler, shape: Shape) -> float:
    """Percent."""
    text = shape.text(OPS).replace("module @jit_step", MODULE)
    start = time.perf_counter()
    verdict = compiler.compile(text)
    compiled = time.perf_counter() - start
    if not verdict.ok:
        raise SystemExit(f"{compiler.target} refuses {shape.name}: {verdict.message}")
    module = modules.read(text.encode(), "benchmark.mlir").module
    family: Literal["gpu", "tpu"] = "gpu" if compiler.target == "gpu" else "tpu"
    lint = min(seconds(lambda: lint_module(module, family)) for _ in range(3))
    percent = 100 * lint / compiled
    print(f"{compiler.target:4} {shape.name:14} lint / XLA's compilation = {percent:.2f} %")
    return percent


def main() -> int:
    worst = 0.0
    for target in TARGETS:
        compiler = Compiler(target, limit_s=600)
        try:
            compiler.compile(SHAPES[0].text(1000).replace("module @jit_step", MODULE))  # its start
            worst = max(worst, *(share(compiler, shape) for shape in SHAPES))
        finally:
            compiler.close()
    print(f"worst = {worst:.2f} %, limit {LIMIT} %")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
