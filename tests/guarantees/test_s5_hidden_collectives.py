"""S5: collectives in callees and regions, as their caller sees them."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope

HIDDEN = """
    outer(x):
      y = inner(x)
      return y
    inner(x):
      y = permute(x) #1
      return y
"""


def test_a_collective_deep_in_a_callee_is_seen() -> None:
    found = scope(
        """
    main(x):
      a = permute(x) #0
      b = outer(x)
      c = add(a, b)
      return c
    """
        + HIDDEN
    )
    assert found.attributes("combiner_key") == {
        "permute": "schedscope.0",
        "outer/inner/permute": "schedscope.1",
    }


def test_and_what_it_waits_for_too() -> None:
    found = scope(
        """
    main(x):
      a = permute(x) #0
      b = outer(a)
      return b
    """
        + HIDDEN
    )
    assert not found.changed


def test_and_what_waits_for_it() -> None:
    found = scope(
        """
    main(x):
      b = outer(x)
      a = permute(b) #0
      return a
    """
        + HIDDEN
    )
    assert not found.changed


@pytest.mark.parametrize("region", ["named v(x):", "manual v(x):", "while 1 v(x):"])
def test_a_collective_in_a_spliced_region_is_seen(region: str) -> None:
    found = scope(f"""
    main(x):
      a = permute(x) #0
      b = {region}
        y = permute(v) #1
        yield y
      c = add(a, b)
      return c
    """)
    assert set(found.attributes("combiner_key").values()) == {"schedscope.0", "schedscope.1"}


def test_one_in_a_loop_is_in_another_computation() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0
      b = while 2 v(x):
        y = permute(v) #1
        yield y
      c = add(a, b)
      return c
    """)
    assert not found.changed


def test_two_in_a_loop_are_in_one() -> None:
    found = scope("""
    main(x):
      b = while 2 v(x):
        y = permute(v) #0
        z = permute(v) #1
        w = add(y, z)
        yield w
      return b
    """)
    assert len(found.attributes("combiner_key")) == 2


def test_a_key_that_a_part_of_a_group_needs_the_whole_group_gets() -> None:
    """The body's own permute could be combined with no other."""
    found = scope("""
    main(x):
      a = permute(x) #0
      b, c = outer(x, a)
      d = add(b, c)
      return d
    outer(p, q):
      y = permute(p) #0
      z = permute(q)
      return y, z
    """)
    assert found.attributes("combiner_key") == {
        "permute": "schedscope.0",
        "outer/permute.0": "schedscope.0",
    }


def test_two_calls_keep_to_themselves_two_groups() -> None:
    """Of one set of one body, in two instances."""
    found = scope("""
    main(x):
      a = pair(x)
      b = pair(x)
      c = add(a, b)
      return c
    pair(x):
      a = layer(x)
      b = other(a)
      return b
    layer(x):
      y = permute(x) #0
      return y
    other(x):
      y = gather(x) #0
      return y
    """)
    keys = found.attributes("combiner_key")
    assert len(keys) == 4
    assert len({keys[f"pair.{n}/layer/permute"] for n in (0, 1)}) == 2
