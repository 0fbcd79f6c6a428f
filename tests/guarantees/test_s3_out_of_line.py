"""S3: calls that jax never tags join the group of the caller, told by their name stack."""

from __future__ import annotations

import pytest

from tests.guarantees import notation
from tests.guarantees.programs import scope, scope_text


def called(callee: str, stack: str) -> str:
    """`callee`, untagged, by a call with that name stack, in a function that holds the group."""
    return f"""
    main(x):
      a = layer(x)  at jit(run)/jit(layer)
      return a
    layer(x):
      y = permute(x) #0  at permute
      z = {callee}(y)  at {stack}
      return z
    {callee}(x):
      y = sine(x) #0  at sine
      return y
    """


JIT = [
    ("inner", "jit(inner)"),
    ("inner", "pjit(inner)"),
    ("inner", "jit(run)/jit(layer)/jit(inner)"),
    ("inner_3", "jit(inner)"),
    ("inner_3", "jit(inner_3)"),
    ("inner", "jvp(jit(inner))"),
    ("inner", "transpose(jvp(jit(inner)))"),
    ("inner", "vmap(transpose(jvp(jit(inner))))"),
    ("inner", "checkpoint/jit(inner)"),
    ("inner", "transpose(jvp(jvp()))/checkpoint/rematted_computation/jit(inner)"),
    ("inner", "while/body/jit(inner)"),
    ("inner", "while/body/eval_jaxpr/jit(inner)"),
    ("inner", "cond/branch_1_fun/jit(inner)"),
    ("inner", "a/b(c)/d/jit(inner)"),
    ("inner", "weird)(/jit(inner)"),
    ("inner", "shmap_body/jit(inner)"),
    ("<lambda>", "jit(<lambda>)"),
    ("<lambda>_1", "jit(<lambda>)"),
    ("inner", "pjit"),
    ("inner", "jit(run)/pjit"),
    ("closed_call", "while/body/closed_call"),
    ("closed_call_12", "jit(run)/while/body/closed_call"),
    ("inner", "jvp(closed_call)"),
    ("call_exported_f", "call_exported"),
    ("inner", "xla_metadata_call"),
]
OUT_OF_LINE = [
    ("cumsum", "cumsum"),
    ("cumsum_0", "jit(run)/jit(layer)/cumsum"),
    ("cumsum", "jit(cumsum)"),
    ("cumsum_2", "jit(run)/jit(layer)"),
    ("threefry2x32", "threefry2x32"),
    ("inner", "jit(run)/compute_on2"),
    ("compute_on", "jit(other)"),
    ("shmap_body", "shard_map"),
    ("inner", "jit(inner)/add"),
    ("inner", "jit(inne)"),
    ("inner_x", "jit(inner)"),
    ("inner", "jit(xinner)"),
    ("cumsum", "frame"),
    ("threefry2x32", "nowhere"),
]


@pytest.mark.parametrize(("callee", "stack"), JIT)
def test_the_call_of_a_jitted_function_holds_its_own_group(callee: str, stack: str) -> None:
    found = scope(called(callee, stack))
    assert set(found.ids.values()) == {0, 1}


@pytest.mark.parametrize(
    ("callee", "stack"), [each for each in OUT_OF_LINE if each != ("cumsum", "jit(cumsum)")]
)
@pytest.mark.parametrize("every_call_site", [False, True])
def test_another_call_joins_the_group(callee: str, stack: str, every_call_site: bool) -> None:
    assert not scope(called(callee, stack), every_call_site=every_call_site).changed


@pytest.mark.parametrize("stack", ["odd(/jit(inner)", "odd)/jit(inner)", "jit(run)/a)b/jit(inner)"])
def test_a_lone_parenthesis_in_a_scopes_name_hides_no_jit(stack: str) -> None:
    assert set(scope(called("inner", stack)).ids.values()) == {0, 1}


def test_the_entrys_own_jit_is_not_the_callees() -> None:
    """jit(cumsum) whose body calls lax.cumsum: the stack in @main says jit(cumsum) as well."""
    text = notation.module(
        """
    main(x):
      y = permute(x) #0  at jit(cumsum)/permute
      z = cumsum(y)  at jit(cumsum)
      return z
    cumsum(x):
      y = sine(x) #0  at sine
      return y
    """,
        name="jit_cumsum",
    )
    assert not scope_text(text).changed
    assert scope_text(text.replace("@jit_cumsum", "@jit_run")).changed


def test_a_jitted_cumsum_is_a_boundary_and_the_one_in_it_is_not() -> None:
    found = scope("""
    main(x):
      y = permute(x) #0  at jit(run)/permute
      z = cumsum(y)  at jit(run)/jit(cumsum)
      return z
    cumsum(x):
      y = tanh(x) #0  at tanh
      z = cumsum_0(y)  at cumsum
      return z
    cumsum_0(x):
      y = sine(x) #0  at sine
      return y
    """)
    assert found.ids == {"permute": 0, "cumsum/tanh": 1, "cumsum/cumsum/sine": 1}


def test_without_a_group_in_the_caller_there_is_none_to_join() -> None:
    found = scope("""
    main(x):
      y = cumsum(x)  at jit(run)/cumsum
      z = cumsum(y)  at jit(run)/cumsum
      return z
    cumsum(x):
      y = sine(x) #0  at sine
      return y
    """)
    assert found.ids == {"cumsum.0/sine": 0, "cumsum.1/sine": 1}


def test_a_composite_is_never_out_of_line() -> None:
    found = scope("""
    main(x):
      y = permute(x) #0  at jit(run)/permute
      z = composite[part](y)  at jit(run)/part
      return z
    part(x):
      y = sine(x) #0  at sine
      return y
    """)
    assert found.ids == {"permute": 0, "part/sine": 1}


STRIPPED = """
    main(x):
      y = permute(x) #0
      z = inner(y)
      return z
    inner(x):
      y = sine(x) #0
      return y
"""


def test_without_locations_every_call_is_jits_and_the_report_says_so() -> None:
    found = scope(STRIPPED)
    assert found.ids == {"permute": 0, "inner/sine": 1}
    assert any("no Python locations" in note for note in found.report.notes)


def test_and_a_position_in_the_text_is_never_shown_as_a_python_line() -> None:
    report = scope(STRIPPED).report
    assert not any(" at " in line for line in report.summary())
    assert {
        step.location for each in report.groups for place in each.places for step in place.path
    } == {None}


def test_with_locations_there_is_no_such_note() -> None:
    assert not scope(called("inner", "jit(inner)")).report.notes


def test_one_call_without_a_python_location_among_others_is_jits() -> None:
    text = notation.module(called("inner", "nowhere")).replace(" loc(unknown)", "")
    assert set(scope_text(text).ids.values()) == {0, 1}
