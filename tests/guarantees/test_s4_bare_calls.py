"""S4: a call that carries an id which nothing in its callee has is a holder like any other."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope

MODES = pytest.mark.parametrize("every_call_site", [False, True])
HELPER = """
    helper(x):
      y = permute(x)
      return y
"""
CHAIN = """
    main(x):
      a = helper(x) #0
      b = helper(a) #0
      return b
"""


@MODES
def test_two_such_calls_in_a_chain_are_apart_and_their_callee_stays_one(
    every_call_site: bool,
) -> None:
    found = scope(CHAIN + HELPER, every_call_site=every_call_site)
    assert found.ids == {"helper.0": 0, "helper.1": 1}
    assert found.functions == ["main", "helper"]


def test_independent_ones_stay_one_group() -> None:
    found = scope(
        """
    main(x):
      a = helper(x) #0
      b = helper(x) #0
      c = add(a, b)
      return c
    """
        + HELPER
    )
    assert not found.changed


def test_it_is_no_own_op_of_its_caller() -> None:
    """The permute and the call are two holders, and the call waits."""
    found = scope(
        """
    main(x):
      a = permute(x) #0
      b = helper(a) #0
      return b
    """
        + HELPER
    )
    assert found.ids == {"permute": 0, "helper": 1}


def test_it_is_part_of_the_set_when_it_waits_for_nothing() -> None:
    found = scope(
        """
    main(x):
      a = block(x)
      b = block(a)
      return b
    block(x):
      y = gather(x) #0
      z = helper(x) #0
      w = add(y, z)
      return w
    """
        + HELPER
    )
    assert found.ids == {
        "block.0/gather": 0,
        "block.0/helper": 0,
        "block.1/gather": 1,
        "block.1/helper": 1,
    }


def test_an_id_in_the_callee_makes_it_the_callers_own() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0
      b = helper(a) #0
      return b
    helper(x):
      y = sine(x) #0
      z = permute(y)
      return z
    """)
    assert not found.changed


def test_another_id_in_the_callee_does_not() -> None:
    found = scope("""
    main(x):
      a = helper(x) #0
      b = helper(a) #0
      return b
    helper(x):
      y = sine(x) #1
      z = permute(y)
      return z
    """)
    assert set(found.ids) == {"helper.0", "helper.0/sine", "helper.1", "helper.1/sine"}
    assert sorted(found.ids.values()) == [0, 1, 2, 3]


def test_a_composite_counts_alike() -> None:
    found = scope(
        """
    main(x):
      a = composite[helper](x) #0
      b = composite[helper](a) #0
      return b
    """
        + HELPER
    )
    assert found.ids == {"helper.0": 0, "helper.1": 1}


@pytest.mark.parametrize("kind", ["manual", "named"])
def test_a_region_counts_alike(kind: str) -> None:
    found = scope(f"""
    main(x):
      a = {kind} v(x): #0
        y = permute(v)
        yield y
      b = {kind} w(a): #0
        z = permute(w)
        yield z
      return b
    """)
    assert found.ids == {f"{kind}.0": 0, f"{kind}.1": 1}


@MODES
def test_an_id_in_a_loop_of_the_callee_is_another_computations(every_call_site: bool) -> None:
    """The loop body keeps its id, and after it the call is still what it was: a second run sees
    ids that differ, and must say the same."""
    found = scope(
        """
    main(x):
      a = outer(x)
      b = outer(a)
      return b
    outer(x):
      a = layer(x) #0
      b = layer(a) #0
      return b
    layer(x):
      y = while 2 v(x):
        z = permute(v) #0
        yield z
      r = sine(y)
      return r
    """,
        every_call_site=every_call_site,
    )
    calls = {path: group for path, group in found.ids.items() if "while" not in path}
    assert sorted(calls.values()) == [0, 1, 2, 3]


def test_an_argument_that_feeds_no_root_is_no_dependence() -> None:
    """XLA puts the id on the op that makes the result."""
    found = scope("""
    main(x):
      a = helper(x, x) #0
      m = sine(a)
      b = helper(x, m) #0
      return b
    helper(x, late):
      s = sine(late)
      y = permute(x)
      return y
    """)
    assert not found.changed


def test_an_id_behind_an_untagged_call_is_not_in_the_callee() -> None:
    """As nothing in `outer` is the caller's, the call alone carries the caller's id, and a second
    run, which sees another id in `inner`, says so too."""
    found = scope(
        """
    main(x):
      y = permute(x) #0
      z = outer(y) #0
      return z
    outer(x):
      y = inner(x)
      return y
    inner(x):
      y = gather(x) #0
      return y
    """,
        every_call_site=True,
    )
    assert set(found.ids.values()) == {0, 1, 2}


def test_by_default_the_first_set_behind_it_is_the_callers() -> None:
    found = scope("""
    main(x):
      y = permute(x) #0
      z = outer(y) #0
      return z
    outer(x):
      y = inner(x)
      z = inner(y)
      return z
    inner(x):
      y = gather(x) #0
      return y
    """)
    assert found.ids == {"permute": 0, "outer/inner.0/gather": 0, "outer/inner.1/gather": 1}
