"""Asks a compiler and the model about the same programs, and shows where they differ.

python -m tests.agreement --target v5e --seeds 1000:1500 --out disagreements/
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
from schedscope._mlir import ir, make_context
from schedscope.xla.targets import TARGETS

from tests.agreement import programs
from tests.agreement.opinion import Opinion, opinion
from tests.cases.kit import Family
from tests.xla.compilers import Compiler, Target, Verdict

_ANNOTATION = re.compile(r"with gaps doesn't exist yet, annotation: (\d+)")


@dataclass
class Tally:
    target: str
    table: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often the compiler said one kind and the model another."""
    wrong_groups: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)

    def add(self, name: str, verdict: Verdict, model: Opinion) -> bool:
        """True where they agree."""
        self.table[verdict.kind, model.kind] += 1
        if verdict.ok != model.ok:
            self.disagreements.append(f"{name}: {verdict.kind}, not {model.kind}")
            return False
        if verdict.kind != model.kind:
            self.disagreements.append(f"{name}: {verdict.kind}, not {model.kind} (kind)")
            return False
        named = _ANNOTATION.search(verdict.message)
        if named is not None and int(named[1]) not in model.groups:
            self.wrong_groups.append(f"{name}: group {named[1]}, not {model.groups}")
            return False
        return True

    def lines(self) -> Iterator[str]:
        total = self.table.total()
        refused = sum(n for (said, _), n in self.table.items() if said != "ok")
        both = {pair: n for pair, n in self.table.items() if "ok" not in pair}
        right = sum(
            n for (said, model), n in self.table.items() if (said == "ok") == (model == "ok")
        )
        yield f"{self.target}, jax {jax.__version__}: {total} programs, {refused} refused"
        for (said, model), count in sorted(self.table.items()):
            yield f"  XLA {said:9} model {model:9} {count:4}"
        yield f"  agree on refusal: {right}/{total} = {_percent(right, total)}"
        same = sum(n for (said, model), n in both.items() if said == model)
        yield f"  right kind: {same}/{sum(both.values())} = {_percent(same, sum(both.values()))}"
        gaps = self.table["gap", "gap"]
        yield f"  right group: {gaps - len(self.wrong_groups)}/{gaps}"
        shares = Counter(said for (said, _), n in self.table.items() for _ in range(n))
        for kind, count in sorted(shares.items()):
            if kind != "ok":
                yield f"  share of {kind}: {_percent(count, refused)}"
        yield from (f"  DIFFERS {each}" for each in (*self.disagreements, *self.wrong_groups))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def tally(target: Target, seeds: range, with_cases: bool, out: Path | None) -> Tally:
    family: Family = "gpu" if target == "gpu" else "tpu"
    found = Tally(target)
    modelled = "gpu-0.10" if target == "gpu" and jax.__version_info__ < (0, 12) else target
    compiler = Compiler(target)
    try:
        for name, source in _programs(seeds, with_cases, family):
            verdict = compiler.compile(source)
            model = opinion(source, TARGETS[modelled])
            if not found.add(name, verdict, model) and out is not None:
                _write(out / f"{name}.{target}.{jax.__version__}.mlir", source, verdict, model)
    finally:
        compiler.close()
    return found


def _programs(seeds: range, with_cases: bool, family: Family) -> Iterator[tuple[str, str | bytes]]:
    yield from programs.random_programs(seeds, family)
    if with_cases:
        yield from programs.cases(family)


def _write(path: Path, source: str | bytes, verdict: Verdict, model: Opinion) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with make_context():
        text = str(ir.Module.parse(source).operation.get_asm(enable_debug_info=False))
    said = (verdict.message or "accepts").splitlines()[0][:300]
    path.write_text(f"// XLA: {verdict.kind}: {said}\n// model: {model}\n{text}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.agreement", description=__doc__)
    parser.add_argument("--target", action="append", choices=get_args(Target))
    parser.add_argument("--seeds", default="1000:1500", help="FIRST:LAST")
    parser.add_argument("--cases", action="store_true", help="ask about the cases too")
    parser.add_argument("--out", type=Path, help="where each disagreement is written as .mlir")
    options = parser.parse_args(arguments)
    first, last = map(int, options.seeds.split(":"))
    jax.config.update("jax_num_cpu_devices", 4)
    for target in options.target or get_args(Target):
        found = tally(target, range(first, last), options.cases, options.out)
        print("\n".join(found.lines()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
