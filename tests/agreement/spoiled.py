"""Programs that are refused for what random programs seldom do: ids that no one can read or hold,
groups that wait for each other, collectives of two groups that one op could do, groups that differ
in their order."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import jax
import jax.numpy as jnp

from tests.cases.kit import Family, Function, group
from tests.cases.lowering import lower, mapped
from tests.random_programs.generator import random_program
from tests.random_programs.leaves import COLLECTIVES, ELEMENTWISE

_MALFORMED = ("abc", "-1", "1:2:3", "0:x", str(2**63))
_LARGE = (2**31, 2**31 + 7, 2**32 + 5, 2**62)
"""More than the compilers hold, though some read them."""
_TEXT = re.compile(r'(?<=_scheduling_group_id = )"[^"]*"')
_KEPT = {"gpu": ("permute", "permute_back", "gather", "reduce"), "tpu": ("gather", "reduce")}
_ORDERED = "keep_original_sequence_order_in_group"


def lower_spoiled(seed: int, family: Family) -> bytes | str:
    """A program from a seed, as bytecode or text."""
    rng = Random(f"spoiled {family} {seed}")
    if rng.random() < 0.25:
        return _unreadable(rng, seed, family)
    ways: tuple[Callable[[Random, Family], Function], ...] = (
        _crossed, _crossed, _side_by_side, _large, _mixed, _mixed,
    ) if family == "gpu" else (_crossed, _crossed, _side_by_side, _large, _large)  # fmt: skip
    program = rng.choice(ways)(rng, family)
    return lower(mapped(program), family).bytecode


def _unreadable(rng: Random, seed: int, family: Family) -> str:
    """A random program in which all annotations of one text, or a single one, say something
    else."""
    text = lower(random_program(seed, family), family).text
    written = list(_TEXT.finditer(text))
    if not written:
        return text
    texts = (*_MALFORMED, *_MALFORMED, str(_LARGE[0]), "noop", "7")
    chosen, wanted = rng.choice(written), rng.choice(texts)
    if rng.random() < 0.8:  # XLA reads those of some ops only
        return text.replace(
            f"_scheduling_group_id = {chosen[0]}", f'_scheduling_group_id = "{wanted}"'
        )
    return text[: chosen.start()] + f'"{wanted}"' + text[chosen.end() :]


def _crossed(rng: Random, family: Family) -> Function:
    """Each of two groups uses what the other made."""
    before, last = rng.choice(ELEMENTWISE), _last(rng)
    use, use_too = jnp.matmul, jnp.matmul
    if family == "gpu":  # which combines what is alike
        one, other, third, fourth = (COLLECTIVES[each] for each in rng.sample(_KEPT[family], 4))
        use, use_too = _moving(third), _moving(fourth)
    else:
        one, other = _moves(rng, family)

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(1):
            a = one(x) + x @ w
        with group(2):
            v = before(x)
            b = other(v) + v @ w
        with group(1):
            c = use(b, w)
        with group(2):
            d = use_too(a, w)
        return last(jnp.tanh(a + b + c + d))

    return program


def _moving(move: Function) -> Function:
    return lambda x, w: move(x)


def _side_by_side(rng: Random, family: Family) -> Function:
    """Two groups that do not depend on each other."""
    one, other = _moves(rng, family)
    before = rng.choice(ELEMENTWISE)

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(1):
            y = one(x) + x @ w
        with group(2):
            z = other(before(x)) + before(x) @ w
        return y * z

    return program


def _large(rng: Random, family: Family) -> Function:
    """An id that is an integer, and too large."""
    (one, _), number, last = _moves(rng, family), rng.choice(_LARGE), _last(rng)

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(number):
            y, z = one(x), x @ w
        return last(jnp.tanh(y + z))

    return program


def _mixed(rng: Random, family: Family) -> Function:
    """Some members of a group keep their order, and some do not."""
    one, other = _moves(rng, family)
    chained, second = rng.random() < 0.3, rng.choice(({}, {}, {}, {_ORDERED: True}))

    def program(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(1, **{_ORDERED: True}):
            y = one(x)
        with group(1, **second):
            z = other(y if chained else jnp.sin(x))
        return y + z @ w

    return program


def _moves(rng: Random, family: Family) -> tuple[Function, Function]:
    names = _KEPT[family]
    return COLLECTIVES[rng.choice(names)], COLLECTIVES[rng.choice(names)]


def _last(rng: Random) -> Function:
    """What the program ends with: on a TPU, a permute makes the scheduler look at groups."""
    return COLLECTIVES["permute"] if rng.random() < 0.7 else jnp.cos
