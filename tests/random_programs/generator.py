"""A whole program from a seed: leaves called in chains and side by side, in helpers that share
them, in loops and branches, under a group, differentiated, in two mapped regions."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import jax
import jax.numpy as jnp

from tests.cases.kit import Family, Function, group
from tests.cases.lowering import Lowered, lower, mapped
from tests.random_programs.leaves import ELEMENTWISE, Leaves


def lower_random(seed: int, family: Family) -> Lowered:
    return lower(random_program(seed, family), family)


def random_program(seed: int, family: Family) -> Function:
    """Of the whole x and w; the same for a seed wherever it runs."""
    maker = _Maker(Random(f"{family} {seed}"), family)
    leaves = [maker.leaves.leaf() for _ in range(maker.rng.choice((1, 1, 2, 3)))]
    helpers = [*leaves, *(maker.helper(leaves) for _ in range(maker.rng.choice((0, 1, 1, 2))))]
    if maker.rng.random() < 0.12:
        first, second = maker.body(helpers), maker.body(helpers)

        def two_regions(x: jax.Array, w: jax.Array) -> jax.Array:
            return mapped(second)(mapped(first)(x, w), w)

        return two_regions
    return mapped(maker.body(helpers))


class _Maker:
    def __init__(self, rng: Random, family: Family) -> None:
        self.rng = rng
        self.leaves = Leaves(rng, family)
        self.opaque: set[Function] = set()
        """What jax cannot differentiate or batch: composites, unbounded loops, their callers."""

    def helper(self, callees: Sequence[Function]) -> Function:
        """A jitted function that calls others."""
        inner = self.body(callees, most=2)
        inner.__name__ = self.rng.choice(("stage", "model"))
        return self.spread(jax.jit(inner), inner)

    def spread(self, caller: Function, *callees: Function) -> Function:
        if self.opaque.intersection(callees):
            self.opaque.add(caller)
        return caller

    def body(self, callees: Sequence[Function], most: int = 3) -> Function:
        """Some calls, each of an earlier value; what nobody used is summed up in the end."""
        steps = []
        for count in range(self.rng.randint(1, most)):
            chained = self.rng.random() < 0.45
            source = count if chained else self.rng.randint(0, count)
            before = self.rng.choice((None, None, *ELEMENTWISE))
            steps.append((source, before, self.call(self.rng.choice(callees))))

        def run(x: jax.Array, w: jax.Array) -> jax.Array:
            values, unused = [x], {0}
            for source, before, call in steps:
                value = values[source]
                unused.discard(source)
                unused.add(len(values))
                values.append(call(value if before is None else before(value), w))
            result = values[-1]
            for index in sorted(unused - {len(values) - 1}):
                result = result + values[index]
            return result

        return self.spread(run, *(call for _, _, call in steps))

    def call(self, function: Function) -> Function:
        """The call as it is, or inside something."""
        ways = {
            self.plain: 14,
            self.scan: 2,
            self.branch: 2,
            self.loop: 1,
            self.under_group: 2,
            self.differentiated: 2,
            self.checkpointed: 1,
            self.batched: 1,
            self.composite: 1,
            self.microbatches: 3,
            self.pipelined: 1,
        }
        [way] = self.rng.choices(list(ways), list(ways.values()))
        if function in self.opaque and way in (
            self.differentiated,
            self.checkpointed,
            self.batched,
        ):
            way = self.plain
        called = way(function)
        if way in (self.loop, self.composite):
            self.opaque.add(called)
        return self.spread(called, function)

    def plain(self, function: Function) -> Function:
        return function

    def scan(self, function: Function) -> Function:
        length, unroll = self.rng.choice(((1, 1), (3, 1), (4, 1), (4, 2)))
        twice = self.rng.random() < 0.3

        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            def turn(carry: jax.Array, _: None) -> tuple[jax.Array, None]:
                carry = function(carry, w)
                return (function(carry, w) if twice else carry), None

            return jax.lax.scan(turn, x, None, length=length, unroll=unroll)[0]

        return call

    def loop(self, function: Function) -> Function:
        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            return jax.lax.while_loop(
                lambda v: jnp.sum(v) < 100.0, lambda v: function(v, w) + 1.0, x
            )

        return call

    def branch(self, function: Function) -> Function:
        constant, twice = self.rng.random() < 0.3, self.rng.random() < 0.4

        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            test = True if constant else x[0, 0] > 0
            return jax.lax.cond(
                test,
                lambda: function(function(x, w), w) if twice else function(x, w),
                lambda: jnp.cos(x),
            )

        return call

    def under_group(self, function: Function) -> Function:
        """Called inside a group, whose id may be that of the callee's own."""
        number, move = self.leaves.group_id(), self.leaves.collective()

        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(number):
                y = move(x)
                z = function(x, w)
            return y + z

        return call

    def differentiated(self, function: Function) -> Function:
        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            return jax.grad(lambda v: jnp.sum(function(v, w) ** 2))(x)

        return call

    def checkpointed(self, function: Function) -> Function:
        kept = jax.checkpoint(function)

        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            return jax.grad(lambda v: jnp.sum(kept(jnp.sin(v), w) ** 2))(x)

        return call

    def batched(self, function: Function) -> Function:
        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            both = jax.vmap(function, in_axes=(0, None))(jnp.stack([x, jnp.sin(x)]), w)
            return both[0] * both[1]

        return call

    def composite(self, function: Function) -> Function:
        return jax.lax.composite(function, name="random.part")

    def microbatches(self, function: Function) -> Function:
        count = self.rng.choice((2, 3))

        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            parts = [function(x * (part + 1.0), w) for part in range(count)]
            return jnp.stack(parts).sum(axis=0)

        return call

    def pipelined(self, function: Function) -> Function:
        """Each step uses what the step before it has fetched."""
        move, number = self.leaves.collective(), self.leaves.group_id()

        @jax.jit
        def prefetch(v: jax.Array) -> jax.Array:
            with group(number):
                return move(v)

        def call(x: jax.Array, w: jax.Array) -> jax.Array:
            v = x
            for step in range(2):
                following = prefetch(v * (step + 2.0))
                x = function(x, w) + v
                v = following
            return x + v

        return call
