"""S1: dependence is that of the tagged ops, followed through what is inlined."""

from __future__ import annotations

from tests.guarantees.programs import scope


def test_an_argument_that_feeds_no_member_is_no_dependence() -> None:
    found = scope("""
    main(x):
      a = layer(x, x)
      b = layer(x, a)
      return b
    layer(x, late):
      y = permute(x) #0
      z = multiply(y, late)
      return z
    """)
    assert not found.changed


def test_an_argument_that_feeds_a_member_is() -> None:
    found = scope("""
    main(x):
      a = layer(x, x)
      b = layer(a, x)
      return b
    layer(x, late):
      y = permute(x) #0
      z = multiply(y, late)
      return z
    """)
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 1}


def test_a_result_that_no_member_feeds_is_no_dependence() -> None:
    found = scope("""
    main(x):
      a, free = layer(x)
      b, more = layer(free)
      return b, a, more
    layer(x):
      y = permute(x) #0
      z = cosine(x)
      return y, z
    """)
    assert not found.changed


def test_a_result_that_a_member_feeds_is() -> None:
    found = scope("""
    main(x):
      fed, a = layer(x)
      b, more = layer(fed)
      return b, a, more
    layer(x):
      y = permute(x) #0
      z = cosine(x)
      return y, z
    """)
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 1}


THROUGH = """
    main(x):
      a = layer(x)
      p, q = swap(a, x)
      b = layer({})
      r = add(b, a)
      return r
    swap(x, y):
      p, q = swapped(y, x)
      return p, q
    swapped(x, y):
      p = sine(x)
      return p, y
    layer(x):
      y = permute(x) #0
      return y
"""


def test_dependence_passes_through_untagged_helpers_to_the_result_it_reaches() -> None:
    assert scope(THROUGH.format("q")).ids == {"layer.0/permute": 0, "layer.1/permute": 1}


def test_but_not_to_the_results_it_does_not_reach() -> None:
    assert not scope(THROUGH.format("p")).changed


def test_dependence_passes_through_a_loop() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = while 2 v(x):
        s = add(v, a)
        yield s
      c = layer(b)
      return c
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 1}
