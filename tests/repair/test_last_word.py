"""What is given up when XLA refuses a repaired module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from schedscope._mlir import ir, make_context
from schedscope.attendant import Attendant
from schedscope.repair.last_word import insist
from schedscope.scoping.scope import ScopeOptions
from schedscope.xla.targets import GPU

from tests.lint_model.modules import add, dot, function, gather
from tests.repair.modules import ids, mended, names

BODY = function(
    gather("a", "x", 0), dot("b", "x", "w", 0), add("c", "a", "b"),
    gather("d", "c", 1), dot("e", "c", "w", 1), add("r", "d", "e"),
)  # fmt: skip
GAP = (
    "UNIMPLEMENTED: Support for annotation groups with gaps doesn't exist yet, annotation: {}, "
    "instr: dot.1 has the same annotation"
)
STUCK = "INTERNAL: FindAndExtractBestNodeAvailable failed to find a node to schedule"


class Compiler:
    """Refuses so many times."""

    def __init__(self, module: ir.Module, *messages: str) -> None:
        self.messages = list(messages)
        self.seen: list[tuple[int, int]] = []
        """Barriers and annotated ops, each time it was asked."""
        self._module = module

    def __call__(self) -> str:
        barriers = names(self._module).count("optimization_barrier")
        self.seen.append((barriers, len(ids(self._module))))
        if self.messages:
            raise ValueError(self.messages.pop(0))
        return "compiled"


def test_step_by_step() -> None:
    with mended("gpu", BODY) as (_, module):
        compiler = Compiler(module, *[GAP.format(1)] * 4)
        said: list[str] = []
        assert insist(module, GPU, compiler, said.append) == "compiled"
        assert compiler.seen == [(0, 4), (2, 4), (4, 4), (4, 2), (4, 0)]
        assert [line.split(",")[0] for line in said] == [
            "group 1 is sealed", "all groups are sealed", "group 1 is given up",
            "group 0 is given up",
        ]  # fmt: skip


def test_another_error_is_raised() -> None:
    with mended("gpu", BODY) as (_, module):
        compiler = Compiler(module, "RESOURCE_EXHAUSTED: out of memory")
        with pytest.raises(ValueError, match="out of memory"):
            insist(module, GPU, compiler, lambda said: None)
        assert compiler.seen == [(0, 4)]


def test_the_last_error_is_raised_when_nothing_is_left() -> None:
    with mended("gpu", BODY) as (_, module):
        compiler = Compiler(module, *[GAP.format(1)] * 9)
        with pytest.raises(ValueError, match="gaps"):
            insist(module, GPU, compiler, lambda said: None)
        assert ids(module) == []


GIVING_UP = """
from tests.repair.modules import mended
from tests.repair.test_last_word import BODY, GAP, STUCK, Compiler
from schedscope.repair.last_word import insist
from schedscope.xla.targets import GPU

with mended("gpu", BODY) as (_, module):
    compiler = Compiler(module, GAP.format(1), *[STUCK] * 2)

    def compile():
        print(module)
        return compiler()

    insist(module, GPU, compile, print)
"""


def test_every_host_gives_up_the_same() -> None:
    """Each host asks by itself; XLA says the same to all."""
    hosts = [
        subprocess.run(
            [sys.executable, "-c", GIVING_UP],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "JAX_PLATFORMS": "cpu"},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    ]
    assert "are given up" in hosts[0]
    assert hosts[0] == hosts[1]


def test_the_hook_repairs_for_accelerators_only() -> None:
    body = function(
        gather("a", "x", 0), add("b", "a", "x"), gather("c", "b", 0), add("r", "c", "a")
    )  # fmt: skip
    text = "module attributes {mhlo.num_partitions = 2 : i32} {\n" + body + "\n}"
    with make_context():
        module = ir.Module.parse(text)
        attendant = Attendant(ScopeOptions(), None, repair=True)
        before = str(module)
        assert attendant.insist(module, "cpu", lambda: "compiled") == "compiled"
        assert str(module) == before
        assert attendant.insist(module, "cuda", lambda: "compiled") == "compiled"
        assert ids(module) == ["all_gather 0", "all_gather 1"]


def test_the_hook_repairs_only_when_told() -> None:
    with mended("gpu", BODY) as (_, module):
        before = str(module)

        def refuse() -> str:
            raise ValueError(GAP.format(1))

        with pytest.raises(ValueError, match="gaps"):
            Attendant(ScopeOptions(), None).insist(module, "cuda", refuse)
        assert str(module) == before
