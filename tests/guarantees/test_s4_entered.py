"""S4: a tagged call in a body that is part of its caller's group on some paths."""

from __future__ import annotations

from tests.guarantees.programs import scope

HELPER = """
    helper(x):
      y = permute(x)
      return y
"""


def test_in_a_body_that_was_entered_with_the_id_it_is_the_callers_own() -> None:
    """Every op on the way carries it (S2)."""
    found = scope(
        """
    main(x):
      a = permute(x) #0
      b = block(a) #0
      return b
    block(x):
      y = sine(x) #0
      z = helper(y) #0
      return z
    """
        + HELPER
    )
    assert not found.changed


def test_a_call_alone_on_one_path_is_the_callers_on_another() -> None:
    """Called within the group, `block` is part of it, and so is the tagged call in there."""
    found = scope(
        """
    main(x):
      a = block(x)
      b = block(a) #0
      c = permute(b) #0
      return c
    block(x):
      y = helper(x) #0
      z = reduce(x) #0
      w = add(y, z)
      return w
    """
        + HELPER
    )
    assert found.ids == {
        "block.0/helper": 0,
        "block.0/reduce": 0,
        "block.1/helper": 1,
        "block.1/reduce": 1,
        "permute": 1,
    }
