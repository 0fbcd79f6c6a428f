"""Functions that hold groups: a few ops of one or two ids, each in a way that users write it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import jax
import jax.numpy as jnp

from tests.cases.kit import BACKWARD, FORWARD, Family, Function, group

Unary = Callable[[jax.Array], jax.Array]
Binary = Callable[[jax.Array, jax.Array], jax.Array]


def _gather(x: jax.Array) -> jax.Array:
    return jax.lax.all_gather(x, "i", tiled=True)[: x.shape[0]]


def _reduce_scatter(x: jax.Array) -> jax.Array:
    return jnp.tile(jax.lax.psum_scatter(x, "i", tiled=True), (4, 1))


COLLECTIVES: dict[str, Unary] = {
    "permute": lambda x: jax.lax.ppermute(x, "i", FORWARD),
    "permute_back": lambda x: jax.lax.ppermute(x, "i", BACKWARD),
    "gather": _gather,
    "reduce": lambda x: jax.lax.psum(x, "i"),
    "reduce_scatter": _reduce_scatter,
    "all_to_all": lambda x: jax.lax.all_to_all(x, "i", 0, 0, tiled=True),
}
WEIGHTS: dict[Family, tuple[int, ...]] = {"gpu": (6, 2, 4, 3, 2, 2), "tpu": (1, 1, 8, 3, 2, 1)}
"""Mostly what the family keeps in a group."""

ELEMENTWISE: tuple[Unary, ...] = (jnp.sin, jnp.tanh, lambda x: x * 3.0, lambda x: x + 1.0)
LIBRARY: tuple[Unary, ...] = (
    jax.nn.relu,
    lambda x: jnp.where(x > 0, x, 0.5),
    lambda x: jax.lax.cumsum(x, axis=1),
    lambda x: jnp.cumsum(x, axis=0),
    lambda x: x * jax.random.uniform(jax.random.key(1), x.shape),
)
"""Each makes calls of its own."""


class Leaves:
    def __init__(self, rng: Random, family: Family) -> None:
        self.rng = rng
        self.family = family

    def collective(self) -> Unary:
        [name] = self.rng.choices(list(COLLECTIVES), WEIGHTS[self.family])
        return COLLECTIVES[name]

    def group_id(self) -> int:
        return self.rng.choice((0, 0, 0, 1, 2))

    def leaf(self) -> Function:
        """Of x and w, with the shape of x; most are jitted."""
        makers = (
            self.beside,
            self.beside,
            self.beside,
            self.moved,
            self.multiplied,
            self.decorated,
            self.two_groups,
            self.inner_call,
            self.looped,
            self.pair,
        )
        made: Binary = self.rng.choice(makers)()
        made.__name__ = self.rng.choice(("layer", "block", "attend"))
        return jax.jit(made) if self.rng.random() < 0.9 else made

    def beside(self) -> Binary:
        """A collective beside a matmul, sometimes with an elementwise op in the group."""
        move, number = self.collective(), self.group_id()
        prepare = self.rng.choice((None, None, *ELEMENTWISE))
        finish = self.rng.choice((jnp.tanh, jnp.sin, lambda x: x))

        def leaf(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(number):
                y = move(x if prepare is None else prepare(x))
                z = x @ w
            return finish(y + z)

        return leaf

    def moved(self) -> Binary:
        move, number = self.collective(), self.group_id()

        def leaf(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(number):
                return move(x)

        return leaf

    def multiplied(self) -> Binary:
        number = self.group_id()

        def leaf(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(number):
                return x @ w

        return leaf

    def decorated(self) -> Binary:
        """Library functions inside the group."""
        move, number = self.collective(), self.group_id()
        one, other = self.rng.choice(LIBRARY), self.rng.choice(LIBRARY)
        late = self.rng.random() < 0.5

        def leaf(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(number):
                y = move(x)
                z = one(x) @ w
                if late:
                    z = other(z)
            return y + z

        return leaf

    def two_groups(self) -> Binary:
        move, other = self.collective(), self.collective()
        first, second = self.rng.sample((0, 1, 2), 2)
        chained = self.rng.random() < 0.5

        def leaf(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(first):
                a = move(x)
                b = x @ w
            with group(second):
                c = other(jnp.sin(a + b) if chained else w[: x.shape[0]])
                d = w @ w
            return a + b + c + d

        return leaf

    def inner_call(self) -> Binary:
        """A jitted helper called inside the group, and once more outside it."""
        move, number = self.collective(), self.group_id()
        outside = self.rng.random() < 0.4

        @jax.jit
        def helper(x: jax.Array, w: jax.Array) -> jax.Array:
            return jnp.sin(x) @ w

        def leaf(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(number):
                y = move(x)
                z = helper(x, w)
            return helper(y + z, w) if outside else y + z

        return leaf

    def looped(self) -> Binary:
        """The group is in a loop body, the same id once more beside the loop."""
        move, number = self.collective(), self.group_id()
        length, beside = self.rng.choice((1, 2, 3)), self.rng.random() < 0.4

        def turn(x: jax.Array, w: jax.Array) -> jax.Array:
            with group(number):
                y = move(x)
                z = x @ w
            return jnp.tanh(y + z)

        def leaf(x: jax.Array, w: jax.Array) -> jax.Array:
            start = turn(x, w) if beside else x
            return jax.lax.scan(lambda c, _: (turn(c, w), None), start, None, length=length)[0]

        return leaf

    def pair(self) -> Binary:
        """One group made of two helpers, as a prefetch and its use are."""
        move, number = self.collective(), self.group_id()

        @jax.jit
        def prefetch(v: jax.Array) -> jax.Array:
            with group(number):
                return move(v)

        @jax.jit
        def attend(x: jax.Array, w: jax.Array) -> Any:
            with group(number):
                return x @ w

        def leaf(x: jax.Array, w: jax.Array) -> jax.Array:
            return jnp.tanh(attend(x, w) + prefetch(w[: x.shape[0]]))

        return leaf
