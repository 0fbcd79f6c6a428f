"""What the hook costs in a program, as ratios taken in the same run.

- Without groups: the hook's own time, at lowering and at compilation, to what jax takes to trace
  and lower the same program, a transformer.
- With groups: many calls of one jitted function that holds groups, lowered under the hook, to
  what people do without: no jit, and ids from a counter, so that every call is traced.
- `import schedscope.hook` to `import jax`.

Times are those of the thread that lowers, so that a busy machine changes them less; of several
runs the quickest counts.

    python benchmarks/hook.py [CALLS]         256 calls by default
"""

from __future__ import annotations

import gc
import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata
from jax.sharding import Mesh
from jax.stages import Lowered
from schedscope import _jax, hook
from schedscope._mlir import ADVANCE, PRE_ORDER, ir
from schedscope.attendant import Attendant
from schedscope.scoping.scope import ScopeOptions

CALLS = 256
OWN_LIMIT = 0.01
"""The most that the hook may take of tracing and lowering without groups."""
REACH_LIMIT = 0.6
"""How much of what jax gains over the workaround must be left with the hook, which writes each
call's body out."""
REPEATS = 15
SLOW_REPEATS = 3
"""For what takes seconds."""

Function = Callable[..., Any]


# A transformer: attention, layer norms, a gelu MLP; no groups.

BLOCKS = 12
HEADS, WIDTH = 4, 32
SMALLEST = 1000
"""Ops that a module without groups has at least."""


def block(x: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
    batch, length, _ = x.shape
    y = layer_norm(x, p["gain"], p["offset"])
    shape = (batch, length, HEADS, WIDTH // HEADS)
    query, key, value = (jnp.reshape(y @ p[name], shape) for name in ("query", "key", "value"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / jnp.sqrt(WIDTH // HEADS)
    causal = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e30))
    x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(x.shape) @ p["out"]
    return x + jax.nn.gelu(layer_norm(x, p["gain"], p["offset"]) @ p["up"]) @ p["down"]


def layer_norm(x: jax.Array, gain: jax.Array, offset: jax.Array) -> jax.Array:
    centered = x - x.mean(-1, keepdims=True)
    variance = (centered**2).mean(-1, keepdims=True)
    return centered * jax.lax.rsqrt(variance + 1e-5) * gain + offset


def transformer(x: jax.Array, parameters: list[dict[str, jax.Array]]) -> jax.Array:
    for each in parameters:
        x = block(x, each)
    return (x**2).mean()


def transformer_inputs() -> tuple[jax.Array, list[dict[str, jax.Array]]]:
    hidden = 4 * WIDTH
    shapes: dict[str, tuple[int, ...]] = {"gain": (WIDTH,), "offset": (WIDTH,)}
    shapes |= dict.fromkeys(("query", "key", "value", "out"), (WIDTH, WIDTH))
    shapes |= {"up": (WIDTH, hidden), "down": (hidden, WIDTH)}
    parameters = {name: jnp.full(shape, 0.1) for name, shape in shapes.items()}
    return jnp.ones((2, 8, WIDTH)), [dict(parameters) for _ in range(BLOCKS)]


# A function of some 100 ops that holds groups: two blocks like those above, one head each, whose
# keys come from the neighbour beside a matmul.

OPS = 102
"""As jax counts them; XLA gets more."""
GROUPS = 2
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def grouped(x: jax.Array, w: jax.Array, ids: Iterator[int]) -> jax.Array:
    for _ in range(GROUPS):
        y = layer_norm(x, w, w)
        with set_xla_metadata(_scheduling_group_id=next(ids)):
            keys = jax.lax.ppermute(y, "i", RING)
            queries = y @ w
        scores = queries @ keys.T
        weights = jnp.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        x = x + (weights @ keys) @ w
        y = layer_norm(x, w, w) @ w
        x = x + (0.5 * y * (1 + jnp.tanh(0.797 * (y + 0.0447 * y**3)))) @ w
    return x


def jitted(x: jax.Array, w: jax.Array, calls: int) -> jax.Array:
    """What the hook is for: the ids are the same in every call."""
    function = jax.jit(lambda x, w: grouped(x, w, itertools.count()))
    for _ in range(calls):
        x = function(x, w)
    return x


def counted(x: jax.Array, w: jax.Array, calls: int) -> jax.Array:
    """The workaround."""
    ids = itertools.count()
    for _ in range(calls):
        x = grouped(x, w, ids)
    return x


def sharded(function: Function) -> Function:
    rows, everything = jax.P("i"), jax.P()
    sharded: Function = jax.shard_map(
        function,
        mesh=Mesh(jax.devices()[: len(RING)], ("i",)),
        in_specs=(rows, everything),
        out_specs=rows,
        check_vma=False,
    )
    return sharded


# Measuring.


class Meter:
    """The hook, with its own time counted."""

    def __init__(self) -> None:
        self.spent = 0.0
        self._attendant = Attendant(ScopeOptions(), None)

    @contextmanager
    def installed(self) -> Iterator[None]:
        _jax.attach(_jax.Listener(self._lowered, self._compiling, self._attendant.refused))
        try:
            yield
        finally:
            _jax.detach()

    def _lowered(self, module: ir.Module) -> None:
        self.spent += seconds(lambda: self._attendant.attend(module))

    @contextmanager
    def _compiling(self, module: ir.Module, platform: str) -> Iterator[None]:
        around = self._attendant.compiling(module, platform)
        self.spent += seconds(around.__enter__)
        try:
            yield
        finally:
            self.spent += seconds(lambda: around.__exit__(None, None, None))


def seconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start


def lowering(function: Function, *inputs: Any) -> tuple[float, Lowered]:
    """Seconds that it takes to trace and lower `function`, and the outcome."""
    gc.collect()
    start = time.thread_time()
    lowered = jax.jit(function).lower(*inputs)
    return time.thread_time() - start, lowered


def without_groups(name: str, function: Function) -> float:
    """The hook's share of jax's time."""
    inputs = transformer_inputs()
    meter = Meter()
    own: list[float] = []
    jax_itself: list[float] = []
    with meter.installed():
        for _ in range(REPEATS):
            jax.clear_caches()  # as where it is lowered for the first time
            meter.spent = 0.0
            spent, lowered = lowering(fresh(function), *inputs)
            own.append(meter.spent)
            jax_itself.append(spent - meter.spent)
        meter.spent = 0.0
        lowered.compile()
    share = (min(own) + meter.spent) / min(jax_itself)
    ops = size(lowered)
    report(name, ops, f"hook / tracing and lowering = {share:.2%}")
    if ops < SMALLEST:
        raise AssertionError(f"{name} has {ops} ops, not {SMALLEST}")
    return share


def with_groups(calls: int) -> tuple[float, float]:
    """How many times longer the workaround takes, and the most that could be: what it is with
    nobody to give the calls ids of their own."""
    with hook.installed():
        ours, ops = quickest(jitted, calls, REPEATS, groups=calls * GROUPS)
    bare, _ = quickest(jitted, calls, REPEATS, groups=GROUPS)
    theirs, _ = quickest(counted, calls, SLOW_REPEATS, groups=calls * GROUPS)
    gain, bound = theirs / ours, theirs / bare
    ratios = f"workaround / hook = {gain:.0f}, workaround / jax alone = {bound:.0f}"
    report(f"{calls} calls of {OPS} ops", ops, ratios)
    return gain, bound


def quickest(function: Function, calls: int, repeats: int, groups: int) -> tuple[float, int]:
    """Seconds until `calls` calls are lowered, to so many groups, and how many ops then."""
    inputs = jnp.ones((8 * len(RING), 8)), jnp.ones((8, 8))
    times: list[float] = []
    for _ in range(repeats):
        jax.clear_caches()  # the functions of jax.numpy are traced anew, too
        spent, lowered = lowering(sharded(partial(function, calls=calls)), *inputs)
        times.append(spent)
    found = len(set(re.findall(r'_scheduling_group_id = "(\d+)"', lowered.as_text())))
    if found != groups:
        raise AssertionError(f"{function.__name__} has {found} groups, not {groups}")
    return min(times), size(lowered)


def report(name: str, ops: int, ratio: str) -> None:
    print(f"{name:24} {ops:>8} ops  {ratio}", flush=True)


def importing() -> float:
    """How many times longer importing the hook takes than importing jax."""
    times: list[tuple[float, float]] = []
    for _ in range(REPEATS):
        ours = seconds_outside("import jax, schedscope.hook")
        times.append((ours, seconds_outside("import jax")))
    return min(ours for ours, _ in times) / min(theirs for _, theirs in times)


def seconds_outside(code: str) -> float:
    """Seconds that a Python process takes for `code`, itself included."""
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def fresh(function: Function) -> Function:
    return lambda *inputs: function(*inputs)


def size(lowered: Lowered) -> int:
    """The number of its ops."""
    ops = 0

    def count(_: ir.Operation) -> ir.WalkResult:
        nonlocal ops
        ops += 1
        return ADVANCE

    module = lowered.compiler_ir("stablehlo")
    assert module is not None
    module.operation.walk(count, PRE_ORDER)
    return ops


def main(calls: int) -> int:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", len(RING))
    share = max(
        without_groups("transformer", transformer),
        without_groups("its gradient", jax.value_and_grad(transformer, argnums=1)),
    )
    gain, bound = with_groups(calls)
    reached = gain / bound
    print(f"import schedscope.hook / import jax = {importing():.2f}")
    print(f"hook / tracing and lowering = {share:.2%}, limit {OWN_LIMIT:.0%}")
    print(f"workaround / hook = {gain:.0f}: {reached:.0%} of jax alone, limit {REACH_LIMIT:.0%}")
    return 0 if share <= OWN_LIMIT and reached >= REACH_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(*[int(calls) for calls in sys.argv[1:]] or [CALLS]))
