"""Members that XLA would move out of their loop."""

from __future__ import annotations

import jax
import pytest

from tests.cases.kit import gather as gathered
from tests.cases.kit import group
from tests.cases.lowering import lower, mapped
from tests.conftest import CompilerFor
from tests.lint_model.modules import add, dot, function, gather, loop
from tests.repair.modules import mended, names
from tests.repair.repairing import repaired
from tests.xla.compilers import Target

BODY = loop(
    "l", "x", dot("p", "w", "w", 0), gather("g", "c", 0), add("q", "p", "g"), result="q", turns=4
)
BEHIND = (gather("a", "l", 0), dot("b", "l", "w", 0), add("r", "a", "b"))


def test_a_barrier_keeps_what_is_the_same_in_each_turn() -> None:
    with mended("tpu", function(BODY, *BEHIND)) as (report, module):
        assert report.held == (0,)
        assert names(module).count("optimization_barrier") == 1
        text = str(module)
        taken = text[text.index("optimization_barrier") :].splitlines()[0]
        assert "%arg1, %iterArg" in taken
        assert "group 0: a barrier keeps" in "\n".join(report.summary())


def test_one_op_around_the_loop_is_enough() -> None:
    """It makes no group by itself; with what comes out of the loop it does."""
    body = loop(
        "l", "x", gather("g", "w", 0), dot("p", "c", "w", 0), add("q", "p", "g"), result="q",
        turns=4,
    )  # fmt: skip
    with mended("tpu", function(body, dot("r", "l", "w", 0))) as (report, _):
        assert report.held == (0,)


def test_no_barrier_where_the_id_is_not_used_around_the_loop() -> None:
    around = (gather("a", "l", 1), dot("b", "l", "w", 1), add("r", "a", "b"))
    with mended("tpu", function(BODY, *around)) as (report, _):
        assert not report.changed


def test_no_barrier_where_the_op_needs_the_turn() -> None:
    body = loop(
        "l", "x", dot("p", "c", "w", 0), gather("g", "c", 0), add("q", "p", "g"), result="q",
        turns=4,
    )  # fmt: skip
    with mended("tpu", function(body, *BEHIND)) as (report, _):
        assert not report.changed


def program(x: jax.Array, w: jax.Array) -> jax.Array:
    def turn(c: jax.Array, _: None) -> tuple[jax.Array, None]:
        with group(0):
            y, z = gathered(c), w @ w
        return y + z, None

    x = jax.lax.scan(turn, x, None, length=4)[0]
    with group(0):
        y, z = gathered(x), w @ w
    return y + z @ x


@pytest.mark.xla
@pytest.mark.parametrize("target", ["v5e", "tpu7x"])
def test_xla_refuses_it_without(target: Target, compiler_for: CompilerFor) -> None:
    source = lower(mapped(program), "tpu").bytecode
    assert compiler_for(target).compile(source).kind == "gap"
    assert compiler_for(target).compile(repaired(source, "tpu")).ok
