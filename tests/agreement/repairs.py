"""Repairs programs and asks a compiler about them before and after.

python -m tests.agreement.repairs --target v5e --seeds 1000:1500 --out refused/
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
from schedscope._mlir import bytecode_of, ir, make_context
from schedscope.errors import InputError
from schedscope.lint.checker import TargetName, lint_module
from schedscope.lint.diagnostic import Severity
from schedscope.repair.links import links
from schedscope.repair.repair import RepairTarget, repair_module
from schedscope.repair.unreadable import remove_crashing
from schedscope.scoping.scope import scope_module
from schedscope.xla import bytecode
from schedscope.xla.flattening import flatten
from schedscope.xla.targets import TARGETS
from schedscope.xla.xla_view import view_of

from tests.agreement import programs
from tests.cases.kit import Family
from tests.xla.compilers import Compiler, Target


@dataclass
class Tally:
    target: str
    table: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often the compiler said one kind before and one after."""
    partnered: Counter[str] = field(default_factory=Counter)
    """How many ops have a partner to overlap with, "before" and "after"."""
    complaints: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        total = self.table.total()
        compiled = sum(n for (_, after), n in self.table.items() if after == "ok")
        broken = sum(n for (before, after), n in self.table.items() if before == "ok" != after)
        yield f"{self.target}, jax {jax.__version__}: {total} programs"
        for (before, after), count in sorted(self.table.items()):
            yield f"  before {before:9} after {after:9} {count:4}"
        yield f"  compile after repair: {compiled}/{total} = {100 * compiled / total:.1f}%"
        yield f"  compiled before and not after: {broken}"
        had, has = self.partnered["before"], self.partnered["after"]
        share = 100 * has / had if had else 100
        yield f"  ops with a partner, kept: {has}/{had} = {share:.1f}%"
        yield from (f"  {each}" for each in self.complaints)


def partnered(module: ir.Module, target: str) -> int:
    """How many ops, over all computations, are in a group with one that they can overlap with."""
    view = view_of(flatten(module), TARGETS[target])
    found = 0
    for computation in view.computations:
        for group in computation.tagged:
            known = links(computation, [group])
            found += sum(1 for atom in range(len(known.ops)) if known.partners(atom))
    return found


def tally(target: Target, seeds: range, out: Path | None) -> Tally:
    family: Family = "gpu" if target == "gpu" else "tpu"
    modelled = "gpu-0.10" if target == "gpu" and jax.__version_info__ < (0, 12) else target
    wanted: RepairTarget = "gpu" if target == "gpu" else "tpu"
    asked: TargetName = "gpu-0.10" if modelled == "gpu-0.10" else wanted
    found = Tally(target)
    compiler = Compiler(target)
    try:
        for name, source in programs.random_programs(seeds, family):
            before = compiler.compile(source)
            with make_context():
                module = ir.Module.parse(source)
                repair_module(module, wanted)
                assert module.operation.verify()
                repaired = bytecode_of(module)
                errors = [
                    each for each in lint_module(module, asked) if each.severity == Severity.ERROR
                ]
                again = repair_module(module, wanted)
                scoped = ir.Module.parse(source)
                with suppress(InputError):  # an annotation that nobody can read
                    # An op at which XLA ends its process could not be kept.
                    list(remove_crashing(scoped, TARGETS[modelled], bytecode.write(scoped)))
                    scope_module(scoped)
                    found.partnered["before"] += partnered(scoped, modelled)
                    found.partnered["after"] += partnered(ir.Module.parse(repaired), modelled)
            after = compiler.compile(repaired)
            found.table[before.kind, after.kind] += 1
            if not after.ok:
                found.complaints.append(f"{name}: {after.kind}: {after.message[:120]}")
            if errors:
                found.complaints.append(f"{name}: lint says {errors[0].code} {errors[0].message}")
            if again.changed:
                found.complaints.append(f"{name}: repairing it again changes it")
            if out is not None and not after.ok:
                out.mkdir(parents=True, exist_ok=True)
                (out / f"{name}.{target}.mlirbc").write_bytes(
                    source if isinstance(source, bytes) else source.encode()
                )
    finally:
        compiler.close()
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.agreement.repairs", description=__doc__)
    parser.add_argument("--target", action="append", choices=get_args(Target))
    parser.add_argument("--seeds", default="1000:1500", help="FIRST:LAST")
    parser.add_argument("--out", type=Path, help="where each refused program is written")
    options = parser.parse_args(arguments)
    first, last = map(int, options.seeds.split(":"))
    jax.config.update("jax_num_cpu_devices", 4)
    for target in options.target or get_args(Target):
        print("\n".join(tally(target, range(first, last), options.out).lines()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
