"""Library functions inside a group are calls, some of them untagged: none may be torn from it."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest

from tests.cases.kit import exchange, group
from tests.cases.lowering import Lowered, lower, mapped
from tests.reference.modules import groups, read
from tests.scoping import scope

LIBRARY: dict[str, Callable[[jax.Array], jax.Array]] = {
    "where": lambda x: jnp.where(x > 0, x, 0.5),
    "relu": jax.nn.relu,
    "softmax": jax.nn.softmax,
    "sort": lambda x: jnp.sort(x, axis=0),
    "take": lambda x: jnp.take(x, jnp.arange(256), axis=0),
    "lax_cumsum": lambda x: jax.lax.cumsum(x, axis=1),
    "jnp_cumsum": lambda x: jnp.cumsum(x, axis=0),
    "cummax": lambda x: jax.lax.cummax(x, axis=1),
    "random": lambda x: x * jax.random.uniform(jax.random.key(1), x.shape),
    "top_k": lambda x: x + jax.lax.top_k(x, 2)[0].sum(),
    "cumsum_in_a_loop": lambda x: jax.lax.scan(
        lambda c, _: (jax.lax.cumsum(jnp.sin(jax.lax.cumsum(c))), None), x, None, length=3
    )[0],
    "where_in_a_branch": lambda x: jax.lax.cond(
        x[0, 0] > 0, lambda: jnp.where(x > 0, x, 0.5), lambda: x
    ),
}


def program(name: str) -> Lowered:
    """A jitted step that holds the group, used twice in a row."""

    @jax.jit
    def step(x: jax.Array, w: jax.Array) -> jax.Array:
        with group(3):
            y = exchange(x)
            z = LIBRARY[name](x @ w) @ w
        return y + z

    return lower(mapped(lambda x, w: step(jnp.tanh(step(x, w)), w)), "gpu")


@pytest.mark.parametrize("every_call_site", [False, True], ids=["needed", "each"])
@pytest.mark.parametrize("name", LIBRARY)
def test_library_function_stays_in_its_group(name: str, every_call_site: bool) -> None:
    module = program(name).bytecode
    before, after = read(module), read(scope(module, every_call_site).bytecode)
    outer, *regions = after
    first, second = groups(outer)
    assert {op.label.split("/")[1] for op in first} == {"step.0"}
    assert {op.label.split("/")[1] for op in second} == {"step.1"}
    assert len(first) == len(second) > 3
    assert [len(groups(region)) for region in regions if groups(region)] == [
        1 for region in before[1:] if groups(region)
    ]
