"""S7: the result depends on the module alone, and big programs have one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import schedscope
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from tests.guarantees import notation
from tests.guarantees.programs import scope

PROGRAM = """
    main(x):
      a = block(x) #2
      b = block(a)
      c = compute(b)
      d = pair(c)
      e = pair(c)
      f = add(d, e)
      g = permute(f) #1
      h = gather(f) #2
      r = add(g, h)
      return r
    block(x):
      a = pair(x)
      b = pair(a) #2
      c = permute(b) #2
      d = permute(b)
      e = add(c, d)
      return e
    pair(x):
      y = permute(x) #0
      z = gather(x) #1 key=mine
      w = reduce(x) #2
      u = add(y, z)
      v = add(u, w)
      i = index(v)
      t = case i:
        0:
          s = compute(v) #1
          yield s
        1:
          yield v
      return t
    compute(x):
      y = dot(x, x) #1
      z = permute(y) #0
      return z
"""
RUN = """
import sys
from schedscope._mlir import bytecode_of, ir, make_context
from schedscope import ScopeOptions, scope_module

for every in (False, True):
    with make_context():
        module = ir.Module.parse(open(sys.argv[1]).read())
        report = scope_module(module, ScopeOptions(every, frozenset(map(int, sys.argv[2:]))))
        sys.stdout.buffer.write(bytecode_of(module))
        print(report.to_json(), report.summary())
"""


def test_every_hash_seed_gives_the_same_bytes_and_the_same_report(tmp_path: Path) -> None:
    source = tmp_path / "module.mlir"
    source.write_text(notation.module(PROGRAM))
    root = str(Path(schedscope.__file__).parents[1])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", RUN, str(source), "2", "1"],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": root},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for seed in range(5)
    }
    [output] = outputs
    assert b"layer" not in output
    assert len(output) > 1000


def test_the_program_of_that_test_changes() -> None:
    assert len(set(scope(PROGRAM).ids.values())) > 10


def nested(depth: int) -> str:
    functions = [
        f"""
    f{level}(x):
      a = f{level + 1}(x)
      return a
    """
        for level in range(depth)
    ]
    return f"""
    main(x):
      a = f0(x)
      b = f0(a)
      return b
    {"".join(functions)}
    f{depth}(x):
      y = permute(x) #0
      return y
    """


def test_a_chain_of_calls_500_functions_deep() -> None:
    with mlir.make_ir_context():
        module = ir.Module.parse(notation.module(nested(500)))
        report = schedscope.scope_module(module)
        assert len(report.clones) == 501


def test_and_its_report() -> None:
    with mlir.make_ir_context():
        module = ir.Module.parse(notation.module(nested(500)))
        report = schedscope.scope_module(module)
    paths = [place.path for group in report.groups for place in group.places]
    assert [len(path) for path in paths] == [501, 501]


def test_the_recursion_limit_is_what_it_was() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1500)
    try:
        with mlir.make_ir_context():
            schedscope.scope_module(ir.Module.parse(notation.module(nested(200))))
        assert sys.getrecursionlimit() == 1500
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("chained", [True, False])
def test_two_thousand_calls_in_one_body(chained: bool) -> None:
    calls = [f"a{n + 1} = layer(a{n if chained else 0})" for n in range(2000)]
    found = scope(
        "main(a0):\n"
        + "".join(f"  {call}\n" for call in calls)
        + "  return a2000\nlayer(x):\n  y = permute(x) #0\n  return y\n"
    )
    assert list(found.ids.values()) == (list(range(2000)) if chained else [0] * 2000)
