"""Records as `schedscope fix --report` writes them, of modules in the tests' notation."""

from __future__ import annotations

from typing import Any

from schedscope import ScopeOptions, modules, scope_module
from schedscope.explanation.record import record_of
from schedscope.modules import Source

from tests.guarantees.notation import module

TWICE = """
    main(x):
      a = layer(x)                 at jit(run)/jit(layer)
      b = layer(a)                 at jit(run)/jit(layer)
      return b
    layer(x):
      y = permute(x) #0            at jit(layer)/ppermute
      z = dot(x, x) #0             at jit(layer)/dot
      v = add(y, z)                at jit(layer)/add
      return v
"""
"""Two groups after scoping, and no gap is left."""

REUSED = """
    main(x):
      a = block(x)                 at jit(run)/jit(block)
      return a
    block(x):
      y = permute(x) #5            at jit(block)/ppermute
      v = sine(y)                  at jit(block)/sin
      u = cosine(x)                at jit(block)/cos
      w = add(v, u)                at jit(block)/add
      z = permute(w) #5            at jit(block)/ppermute
      return z
"""
"""One body uses its id twice: scoping leaves the gap."""

WAITING = """
    main(x, y):
      a = gather(x) #1             at jit(run)/all_gather
      e = dot(x, x) #1             at jit(run)/dot
      b = gather(y) #2             at jit(run)/all_gather
      f = dot(y, y) #2             at jit(run)/dot
      g = dot(a, x) #2             at jit(run)/dot
      h = dot(b, x) #1             at jit(run)/dot
      s = add(e, f)                at jit(run)/add
      t = add(g, h)                at jit(run)/add
      u = add(s, t)                at jit(run)/add
      return u
"""
"""Each group needs what the other makes."""

BESIDE = """
    main(x):
      a = gather(x) #3             at jit(run)/all_gather
      b = dot(x, x) #3             at jit(run)/dot
      c = dot(a, a)                at jit(run)/dot
      d = add(c, b)                at jit(run)/add
      return d
"""
"""Where XLA:TPU fuses the group's matmul with the add, that waits for the gather."""


def source_of(notation: str, options: ScopeOptions | None = None) -> tuple[Source, dict[str, Any]]:
    """The scoped module, and its record."""
    source = modules.read(module(notation).encode(), "run.mlir")
    report = scope_module(source.module, options)
    return source, record_of(source.module, report)


def record(notation: str, options: ScopeOptions | None = None) -> dict[str, Any]:
    return source_of(notation, options)[1]
