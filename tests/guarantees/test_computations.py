"""Loops and branches: which stay computations of their own, and which XLA melts."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope

LAYER = """
    layer(x):
      y = permute(x) #0
      return y
"""


def test_a_loop_body_is_a_computation_of_its_own() -> None:
    """Two calls in a chain in it are apart; what is around it may use the same id."""
    found = scope(
        """
    main(x):
      a = layer(x)
      b = while 2 v(a):
        y = layer(v)
        z = layer(y)
        yield z
      c = layer(b)
      return c
    """
        + LAYER
    )
    assert found.ids == {
        "layer.0/permute": 0,
        "while:1/layer.0/permute": 0,
        "while:1/layer.1/permute": 1,
        "layer.1/permute": 2,
    }


def test_a_loop_body_in_two_instances_is_two_computations_and_needs_no_clone() -> None:
    found = scope("""
    main(x):
      a = outer(x)
      b = outer(a)
      return b
    outer(x):
      a = while 2 v(x):
        y = permute(v) #0
        yield y
      return a
    """)
    assert not found.changed


@pytest.mark.parametrize("bound", ["1", "one"])
def test_a_loop_that_runs_once_is_no_loop(bound: str) -> None:
    found = scope(f"""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      one = constant[1]()
      a = while {bound} v(x):
        y = permute(v) #0
        yield y
      return a
    """)
    assert found.ids == {"layer.0/while:1/permute": 0, "layer.1/while:1/permute": 1}


@pytest.mark.parametrize("bound", ["0", "2", "any"])
def test_one_that_runs_another_number_of_times_is(bound: str) -> None:
    found = scope(f"""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      any = index(x)
      a = while {bound} v(x):
        y = permute(v) #0
        yield y
      return a
    """)
    assert not found.changed


def test_dependence_enters_a_melted_loop_through_what_it_uses_from_outside() -> None:
    found = scope(
        """
    main(x):
      a = layer(x)
      b = while 1 v(x):
        y = layer(a)
        yield y
      return b
    """
        + LAYER
    )
    assert found.ids == {"layer/permute": 0, "while:1/layer/permute": 1}


BRANCHES = (
    """
    main(x):
      a = layer(x)
      i = {index}
      b = case i:
        0:
          y = layer({zero})
          yield y
        1:
          z = layer({one})
          yield z
      return b
"""
    + LAYER
)


def test_each_branch_is_a_computation_of_its_own() -> None:
    assert not scope(BRANCHES.format(index="index(a)", zero="a", one="a")).changed


@pytest.mark.parametrize(("index", "taken"), [(0, 0), (1, 1), (2, 1), (-1, 1)])
def test_the_branch_that_a_constant_takes_is_none(index: int, taken: int) -> None:
    """An index out of range takes the last."""
    found = scope(BRANCHES.format(index=f"constant[{index}]()", zero="a", one="a"))
    assert found.ids == {
        "layer/permute": 0,
        f"case:{taken}/layer/permute": 1,
        f"case:{1 - taken}/layer/permute": 0,
    }


@pytest.mark.parametrize(("test", "taken"), [("true", 0), ("false", 1)])
def test_of_an_if_too(test: str, taken: int) -> None:
    program = BRANCHES.format(index=f"{test}()", zero="a", one="a").replace("case i", "if i")
    assert scope(program).ids[f"if:{taken}/layer/permute"] == 1


def test_only_what_the_taken_branch_uses_from_outside_is_a_dependence() -> None:
    """The other branch uses the first call's result."""
    assert not scope(BRANCHES.format(index="constant[0]()", zero="x", one="a")).changed
    assert scope(BRANCHES.format(index="constant[1]()", zero="x", one="a")).changed


def test_the_result_of_a_branch_on_data_depends_on_the_index_and_on_every_branch() -> None:
    program = (
        """
    main(x):
      a = layer(x)
      i = index({0})
      b = case i:
        0:
          yield x
        1:
          yield {1}
      c = layer(b)
      return c
    """
        + LAYER
    )
    assert not scope(program.format("x", "x")).changed
    assert scope(program.format("a", "x")).ids == {"layer.0/permute": 0, "layer.1/permute": 1}
    assert scope(program.format("x", "a")).ids == {"layer.0/permute": 0, "layer.1/permute": 1}


@pytest.mark.parametrize("kind", ["while 2", "named"])
def test_own_ops_of_a_nested_region_are_not_the_bodys_around_it(kind: str) -> None:
    found = scope(f"""
    main(x):
      a = permute(x) #0
      b = {kind} v(a):
        y = permute(v) #0
        yield y
      return b
    """)
    assert found.changed == (kind == "named")


def test_a_tagged_loop_is_an_own_op_of_the_body_around_it() -> None:
    """And the same group in it goes along, so that what it says of its calls stays true."""
    found = scope("""
    main(x):
      a = outer(x)
      b = outer(a)
      return b
    outer(x):
      a = while 2 v(x): #0
        y = permute(v) #0
        yield y
      return a
    """)
    assert found.ids == {
        "outer.0/while": 0,
        "outer.0/while:1/permute": 0,
        "outer.1/while": 1,
        "outer.1/while:1/permute": 1,
    }


def test_the_groups_of_a_loop_are_the_same_in_every_instance() -> None:
    """Other computations' ids they never meet."""
    found = scope(
        """
    main(x):
      a = outer(x)
      b = outer(a)
      return b
    outer(x):
      y = gather(x) #0
      a = while 2 v(y):
        b = layer(v)
        c = layer(b)
        yield c
      return a
    """
        + LAYER
    )
    assert found.ids == {
        "outer.0/gather": 0,
        "outer.0/while:1/layer.0/permute": 0,
        "outer.0/while:1/layer.1/permute": 1,
        "outer.1/gather": 2,
        "outer.1/while:1/layer.0/permute": 0,
        "outer.1/while:1/layer.1/permute": 1,
    }
