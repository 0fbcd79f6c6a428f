"""S2: what a tagged call inlines is its caller's, as far as every op on the way carries the id."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope

MODES = pytest.mark.parametrize("every_call_site", [False, True])


@MODES
def test_a_tagged_call_is_part_of_the_callers_group(every_call_site: bool) -> None:
    """relu waits for the permute, and still it is no group of its own."""
    found = scope(
        """
    main(x):
      y = permute(x) #0
      z = relu(y) #0
      return z
    relu(x):
      y = sine(x) #0
      return y
    """,
        every_call_site=every_call_site,
    )
    assert not found.changed


@MODES
def test_an_untagged_one_is_not(every_call_site: bool) -> None:
    found = scope(
        """
    main(x):
      y = permute(x) #0
      z = relu(y)
      return z
    relu(x):
      y = sine(x) #0
      return y
    """,
        every_call_site=every_call_site,
    )
    assert found.ids == {"permute": 0, "relu/sine": 1}


@MODES
def test_however_deep(every_call_site: bool) -> None:
    found = scope(
        """
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #0
      z = where(y) #0
      return z
    where(x):
      y = select(x) #0
      return y
    select(x):
      y = sine(x) #0
      return y
    """.replace("select", "chosen"),
        every_call_site=every_call_site,
    )
    assert found.ids == {
        "layer.0/permute": 0,
        "layer.0/where/chosen/sine": 0,
        "layer.1/permute": 1,
        "layer.1/where/chosen/sine": 1,
    }


@MODES
def test_the_chain_ends_at_an_op_that_carries_nothing(every_call_site: bool) -> None:
    found = scope(
        """
    main(x):
      y = permute(x) #0
      z = outer(y) #0
      return z
    outer(x):
      y = sine(x) #0
      z = inner(y)
      return z
    inner(x):
      y = cosine(x) #0
      return y
    """,
        every_call_site=every_call_site,
    )
    assert found.ids == {"permute": 0, "outer/sine": 0, "outer/inner/cosine": 1}


@MODES
def test_the_chain_ends_at_an_op_that_carries_another_id(every_call_site: bool) -> None:
    found = scope(
        """
    main(x):
      y = permute(x) #0
      z = outer(y) #0
      return z
    outer(x):
      y = sine(x) #0
      z = inner(y) #1
      return z
    inner(x):
      y = cosine(x) #0
      z = tanh(y) #1
      return z
    """,
        every_call_site=every_call_site,
    )
    assert found.ids == {
        "permute": 0,
        "outer/sine": 0,
        "outer/inner/cosine": 2,
        "outer/inner/tanh": 1,
    }


def test_only_the_id_that_the_op_carries_is_inherited() -> None:
    found = scope("""
    main(x):
      a = layer(x) #0
      b = layer(a) #0
      return b
    layer(x):
      y = permute(x) #0
      z = gather(x) #1
      w = add(y, z)
      return w
    """)
    assert found.ids == {
        "layer.0/permute": 0,
        "layer.0/gather": 1,
        "layer.1/permute": 0,
        "layer.1/gather": 2,
    }


@pytest.mark.parametrize(
    "inlined", ["composite[inner](y) #0", "inner(y) #0:4"], ids=["composite", "iteration"]
)
def test_every_op_that_inlines_hands_its_id_down(inlined: str) -> None:
    found = scope(f"""
    main(x):
      y = permute(x) #0
      z = {inlined}
      return z
    inner(x):
      y = sine(x) #0
      return y
    """)
    assert not found.changed


@pytest.mark.parametrize("kind", ["manual", "named"])
def test_a_tagged_region_is_part_of_the_callers_group(kind: str) -> None:
    found = scope(f"""
    main(x):
      y = permute(x) #0
      z = {kind} v(y): #0
        w = sine(v) #0
        u = inner(w) #0
        yield u
      return z
    inner(x):
      y = cosine(x) #0
      return y
    """)
    assert not found.changed


def test_a_function_called_within_a_group_and_outside_serves_both() -> None:
    """Only the call outside is a group of its own; with equal ids they share the function."""
    found = scope("""
    main(x):
      y = permute(x) #0
      z = helper(x) #0
      w = add(y, z)
      v = helper(w)
      return v
    helper(x):
      y = sine(x) #0
      return y
    """)
    assert found.ids == {"permute": 0, "helper.0/sine": 0, "helper.1/sine": 1}


def test_a_tag_without_a_group_hands_nothing_down() -> None:
    found = scope(
        """
    main(x):
      y = permute(x) #0
      z = inner(y) #:3
      return z
    inner(x):
      y = sine(x) #0
      return y
    """.replace("#:3", "#noop")
    )
    assert found.ids["inner/sine"] == 1


def test_within_a_loop_a_tagged_call_is_part_of_the_bodys_group() -> None:
    found = scope("""
    main(x):
      a = while 2 v(x): #0
        y = permute(v) #0
        z = relu(y) #0
        yield z
      return a
    relu(x):
      y = sine(x) #0
      return y
    """)
    assert not found.changed


def test_what_waits_for_an_inherited_part_waits_for_the_group() -> None:
    found = scope("""
    main(x):
      y, free = relu(x) #0
      z = layer(y)
      w = layer(free)
      u = add(z, w)
      return u
    relu(x):
      y = sine(x) #0
      return y, x
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"relu/sine": 0, "layer.0/permute": 1, "layer.1/permute": 1}
