"""From MLIR locations to name stacks and Python frames."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from schedscope._mlir import ADVANCE, PRE_ORDER, ir, make_context
from schedscope.locations import Frame, buffer_position, frames, name_of, source_line

CONTEXT = make_context()


def location(text: str) -> ir.Location:
    return ir.Module.parse(f"module {{}} loc({text})", CONTEXT).operation.location


TWO_FRAMES = 'callsite("mul_add"("lib.py":7:2 to :9) at "step"("train.py":31:8 to :20))'


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ('"jit(layer)"("twice"("train.py":39:15 to :26))', "jit(layer)", "train.py:39"),
        (f'"jit(f)/mul"({TWO_FRAMES})', "jit(f)/mul", "lib.py:7"),
        # the primitive around the name stack, since jax 0.7
        (f'"mul:"("jit(f)/mul"({TWO_FRAMES}))', "jit(f)/mul", "lib.py:7"),
        ('"jit:"("jit"("twice"("train.py":3:4 to :5)))', "jit", "train.py:3"),
        ('"ppermute:"("ppermute")', "ppermute", None),
        # a scope that ends in a colon and is no primitive
        ('"jit(f)/a:"("mul"("train.py":3:4 to :5))', "jit(f)/a:", "train.py:3"),
        # full tracebacks switched off: a position without a function, and without a range
        ('"jit(f)/mul"("train.py":3:4)', "jit(f)/mul", "train.py:3"),
        ('"mul"("train.py":3:4)', "mul", "train.py:3"),
        ('"mul:"("mul"("train.py":3:4))', "mul", "train.py:3"),
        # no name stack
        ('"twice"("train.py":3:4 to :5)', None, "train.py:3"),
        (TWO_FRAMES, None, "lib.py:7"),
        # no frames
        ('"x"', "x", None),
        ("unknown", None, None),
        # what an inliner and a merge of equal ops leave
        ('callsite("jit(f)/mul"("a.py":3:1) at "jit(f)"("b.py":4:1))', "jit(f)/mul", "a.py:3"),
        ('fused<"m">[unknown, "mul"("a.py":3:1), "add"("b.py":4:1)]', "mul", "a.py:3"),
        # positions in MLIR text are no Python lines
        ('"-":9:12', None, None),
        ('"/tmp/module.mlir":9:12', None, None),
        ('"<stdin>":9:12', None, None),
        ('"jit(f)/mul"("-":9:12)', "jit(f)/mul", None),
        ('callsite("-":9:12 at "step"("train.py":31:8 to :20))', None, "train.py:31"),
        # Python reads programs from standard input too
        ('"jit(f)/mul"("<module>"("<stdin>":3:4 to :9))', "jit(f)/mul", "<stdin>:3"),
    ],
)
def test_name_and_line(text: str, name: str | None, line: str | None) -> None:
    assert name_of(location(text)) == name
    assert source_line(location(text)) == line


def test_frames_are_innermost_first() -> None:
    deep = f'callsite({TWO_FRAMES} at callsite("main"("run.py":4:1 to :9) at "run.py":90:1))'
    for text in (deep, f'"jit(f)/mul"({deep})', f'"mul:"("jit(f)/mul"({deep}))'):
        assert frames(location(text)) == (
            Frame("lib.py", 7, 2, "mul_add"),
            Frame("train.py", 31, 8, "step"),
            Frame("run.py", 4, 1, "main"),
            Frame("run.py", 90, 1, None),
        )


def test_a_name_stack_is_no_function() -> None:
    assert frames(location('"jit(f)/mul"("t.py":3:4)')) == (Frame("t.py", 3, 4, None),)
    assert frames(location('"jit(layer)"("t.py":3:4 to :9)')) == (Frame("t.py", 3, 4, None),)
    assert frames(location('"f.<locals>.<lambda>"("t.py":3:4 to :9)')) == (
        Frame("t.py", 3, 4, "f.<locals>.<lambda>"),
    )


def test_buffer_position() -> None:
    assert buffer_position(location('"-":9:12')) == (9, 12)
    assert buffer_position(location('"train.py":9:12')) is None
    assert buffer_position(location("unknown")) is None


@jax.jit
def layer(x: jax.Array) -> jax.Array:
    return jnp.sin(x)  # the line that is looked for


def caller(x: jax.Array) -> jax.Array:
    return layer(x)  # the line of the call


def line_of(comment: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


@pytest.mark.parametrize("full_tracebacks", [True, False])
def test_locations_of_todays_jax(full_tracebacks: bool) -> None:
    jax.config.update("jax_include_full_tracebacks_in_locations", full_tracebacks)
    jax.clear_caches()
    try:
        module = jax.jit(caller).lower(1.0).compiler_ir("stablehlo")
    finally:
        jax.config.update("jax_include_full_tracebacks_in_locations", True)  # the default
    assert module is not None
    found: dict[str, ir.Location] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        found[op.name] = op.location
        return ADVANCE

    module.operation.walk(visit, PRE_ORDER)
    sine, call = found["stablehlo.sine"], found["func.call"]
    assert (name_of(sine) or "").endswith("sin")
    assert (name_of(call) or "").split("/")[-1] in ("jit(layer)", "pjit")
    assert source_line(sine) == f"{__file__}:{line_of('the line that is looked for')}"
    assert source_line(call) == f"{__file__}:{line_of('the line of the call')}"
    assert frames(sine)[0].function == ("layer" if full_tracebacks else None)
