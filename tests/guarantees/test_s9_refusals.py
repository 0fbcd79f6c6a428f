"""S9: what cannot be understood is refused, by name and line, and left as it was."""

from __future__ import annotations

import pytest
import schedscope
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from tests.guarantees import notation
from tests.guarantees.programs import printed

GOOD = """
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #0
      return y
"""


def refusal(text: str) -> str:
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        before = printed(module)
        with pytest.raises(schedscope.InputError) as caught:
            schedscope.scope_module(module)
        assert printed(module) == before
        return str(caught.value)


@pytest.mark.parametrize(
    "annotation", ["abc", "-1", "1:2:3", "", ":", "0:x", "1.0", "0,1", "1 2", str(2**63), "noop:1"]
)
def test_an_annotation_that_is_none(annotation: str) -> None:
    """The good instances before it are not touched either."""
    text = notation.module(
        GOOD
        + """
    unused(x):
      y = sine(x) #7  at sin
      return y
    """
    ).replace('"7"', f'"{annotation}"')
    message = refusal(text)
    assert f'"{annotation}"' in message
    assert '"stablehlo.sine" at train.py:11' in message


@pytest.mark.parametrize("place", ["call", "reduce", "inner", "region", "composite"])
def test_wherever_it_is(place: str) -> None:
    bad = {
        "call": "y = layer(x) #abc",
        "reduce": "y = reduce(x) #abc",
        "inner": "y = reduce #abc (x)",
        "region": "y = named v(x): #abc\n        yield v",
        "composite": "y = composite[layer](x) #abc",
    }[place]
    assert '"abc"' in refusal(
        notation.module(
            GOOD
            + f"""
    other(x):
      {bad}
      return y
    """
        )
    )


def test_an_annotation_that_is_no_string() -> None:
    text = notation.module(GOOD).replace('_scheduling_group_id = "0"', "_scheduling_group_id = 0")
    assert "string" in refusal(text)


def test_a_scope_that_is_not_global() -> None:
    text = notation.module(GOOD.replace("#0", '#0 {_scheduling_group_scope = "local"}'))
    message = refusal(text)
    assert '"local"' in message
    assert '"global"' in message


RECURSIVE = """
    main(x):
      a = ping(x)
      return a
    ping(x):
      y = permute(x) #0
      a = pong(y)  at jit(pong)
      return a
    pong(x):
      a = {}(x)  at jit(ping)
      return a
"""


@pytest.mark.parametrize(
    ("callee", "ring"), [("ping", "@ping -> @pong -> @ping"), ("pong", "@pong -> @pong")]
)
def test_calls_in_a_ring(callee: str, ring: str) -> None:
    message = refusal(notation.module(RECURSIVE.format(callee)))
    assert ring in message
    assert "at train.py:10" in message


def test_a_ring_through_a_computation_that_an_op_calls() -> None:
    message = refusal(
        notation.module("""
    main(x):
      a = kernel(x)
      return a
    kernel(x):
      y = permute(x) #0
      a = custom[kernel](y)
      return a
    """)
    )
    assert "@kernel -> @kernel" in message


@pytest.mark.parametrize("unused", ["", "unused"])
def test_a_ring_that_nobody_enters_is_refused_too(unused: str) -> None:
    message = refusal(notation.module(GOOD + "    loop(x):\n      a = loop(x)\n      return a\n"))
    assert "@loop -> @loop" in message


@pytest.mark.parametrize("op", ["missing(x)", "composite[missing](x)", "custom[missing](x)"])
def test_a_callee_that_is_not_there(op: str) -> None:
    """MLIR's verifier refuses such a call in text, a pass may still make it."""
    text = notation.module(
        GOOD
        + f"""
    missing(x):
      return x
    other(x):
      a = {op}  at jit(missing)
      return a
    """
    )
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        [gone] = [
            each
            for each in module.body.operations
            if each.operation.name == "func.func"
            and ir.StringAttr(each.attributes["sym_name"]).value == "missing"
        ]
        gone.operation.erase()
        before = printed(module)
        with pytest.raises(schedscope.InputError, match="@missing") as caught:
            schedscope.scope_module(module)
        assert "train.py:13" in str(caught.value)
        assert printed(module) == before
