"""Programs that are refused for what random programs seldom do: ids that no one can read, groups
that wait for each other, collectives of two groups that one op could do."""

from __future__ import annotations

import re
from random import Random

import jax
import jax.numpy as jnp

from tests.cases.kit import Family, Function, group
from tests.cases.lowering import Lowered, lower, mapped
from tests.random_programs.generator import random_program
from tests.random_programs.leaves import COLLECTIVES, ELEMENTWISE

_MALFORMED = ("abc", "-1", "1:2:3", "0:x", str(2**63))
_TOO_LARGE = str(2**31)
"""For XLA:GPU."""
_TEXT = re.compile(r'(?<=_scheduling_group_id = )"[^"]*"')
_KEPT = {"gpu": ("permute", "gather"), "tpu": ("gather", "reduce")}


def lower_spoiled(seed: int, family: Family) -> bytes | str:
    """A program from a seed, as bytecode or text."""
    rng = Random(f"spoiled {family} {seed}")
    way = rng.choice((_crossed, _side_by_side, _ordered, _unreadable, _unreadable, _unreadable))
    return way(rng, seed, family)


def _unreadable(rng: Random, seed: int, family: Family) -> str:
    """A random program in which all annotations of one text, or a single one, say something
    else."""
    text = lower(random_program(seed, family), family).text
    written = list(_TEXT.finditer(text))
    if not written:
        return text
    texts = (*_MALFORMED, _TOO_LARGE, "noop", "7")
    chosen, wanted = rng.choice(written), rng.choice(texts)
    if rng.random() < 0.8:  # XLA reads those of some ops only
        return text.replace(
            f"_scheduling_group_id = {chosen[0]}", f'_scheduling_group_id = "{wanted}"'
        )
    return text[: chosen.start()] + f'"{wanted}"' + text[chosen.end() :]


def _crossed(rng: Random, seed: int, family: Family) -> bytes:
    """Each of two groups uses what the other moved."""

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        one, other = _moves(rng, family)
        before = rng.choice(ELEMENTWISE)
        with group(1):
            a = one(x)
        with group(2):
            b = other(before(x))
        with group(1):
            c = _use(rng, b, w)
        with group(2):
            d = _use(rng, a, w)
        return jnp.tanh(c + d)

    return _lowered(program, family).bytecode


def _side_by_side(rng: Random, seed: int, family: Family) -> bytes:
    """Two groups that do not depend on each other."""

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        one, other = _moves(rng, family)
        with group(1):
            y = one(x) + x @ w
        with group(2):
            z = other(jnp.sin(x)) + jnp.sin(x) @ w
        return y * z

    return _lowered(program, family).bytecode


def _ordered(rng: Random, seed: int, family: Family) -> bytes:
    """One group after another, of different kinds."""

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        for number in range(rng.randint(1, 3)):
            one, other = _moves(rng, family)
            with group(number):
                y, z = one(x), other(jnp.cos(x)) if rng.random() < 0.5 else x @ w
            x = jnp.tanh(y + z)
        return x

    return _lowered(program, family).bytecode


def _moves(rng: Random, family: Family) -> tuple[Function, Function]:
    names = _KEPT[family]
    return COLLECTIVES[rng.choice(names)], COLLECTIVES[rng.choice(names)]


def _use(rng: Random, x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.lax.ppermute(x, "i", [(0, 1)]) if rng.random() < 0.3 else x @ w


def _lowered(program: Function, family: Family) -> Lowered:
    return lower(mapped(program), family)
