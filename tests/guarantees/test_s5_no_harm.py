"""S5: a body's own ops before and after a call that exposes their id, as XLA may run as one."""

from __future__ import annotations

from tests.guarantees.programs import scope

LAYER = """
    layer(x):
      y = gather(x) #0
      return y
"""


def own(before: str, between: str, after: str) -> str:
    """A group around a call that waits for its first part and feeds its second."""
    return (
        f"""
    main(x):
      q = {before}
      h = {between}
      a = layer(h)
      b = {after}
      return b
    """
        + LAYER
    )


def test_own_ops_around_a_call_stay_one_with_it_where_nothing_lies_between() -> None:
    assert not scope(own("reduce(x) #0", "sine(q)", "reduce(a) #0")).changed


def test_a_chain_that_xla_fills_in_is_nothing_between() -> None:
    assert not scope(own("reduce(x) #0", "optimization_barrier(q)", "dot(a, a) #0")).changed


def test_several_calls_between_stay_too() -> None:
    found = scope(
        """
    main(x):
      q = reduce(x) #0
      a = layer(q)
      s = sine(a)
      b = layer(s)
      c = reduce(b) #0
      return c
    """
        + LAYER
    )
    assert not found.changed


def test_a_member_between_is_no_gap() -> None:
    found = scope(
        """
    main(x):
      q = reduce(x) #0
      d = dot(q, q) #0
      a = layer(d)
      c = reduce(a) #0
      return c
    """
        + LAYER
    )
    assert not found.changed


def test_every_call_site_takes_them_apart() -> None:
    found = scope(own("reduce(x) #0", "sine(q)", "reduce(a) #0"), every_call_site=True)
    assert found.ids == {"reduce.0": 0, "layer/gather": 1, "reduce.1": 0}


def test_own_ops_before_a_call_only_are_apart() -> None:
    found = scope(own("reduce(x) #0", "sine(q)", "sine(a)"))
    assert found.ids == {"reduce": 0, "layer/gather": 1}


def test_own_ops_after_a_call_only_are_apart() -> None:
    found = scope(own("sine(x)", "sine(q)", "reduce(a) #0"))
    assert found.ids == {"layer/gather": 0, "reduce": 1}


def test_an_op_that_xla_keeps_in_no_group_holds_nothing_together() -> None:
    """The sine is dropped. Apart, what is left of the group has no gap; together, it has."""
    found = scope(
        """
    main(x):
      q = sine(x) #0
      a = layer(q)
      h = add(a, x)
      b = reduce(h) #0
      return b
    """
        + LAYER
    )
    assert found.ids == {"sine": 0, "layer/gather": 1, "reduce": 0}


def test_a_call_beside_the_path_is_no_part_of_it() -> None:
    """The second call waits for nothing, and joins as ever."""
    found = scope(
        """
    main(x):
      q = reduce(x) #0
      a = layer(q)
      b = layer(x)
      c = reduce(a) #0
      d = add(b, c)
      return d
    """
        + LAYER
    )
    assert not found.changed


def test_what_is_between_stays_one_through_regions_and_helpers() -> None:
    found = scope(
        """
    main(x):
      q = reduce(x) #0
      a = named v(q):
        s = sine(v)
        b = layer(s)
        yield b
      c = reduce(a) #0
      return c
    """
        + LAYER
    )
    assert not found.changed


def test_a_gap_in_a_helper_between_is_a_gap_either_way() -> None:
    found = scope(
        own("gather(x) #0", "helper(q)", "reduce(a) #0")
        + """
    helper(x):
      s = sine(x)
      t = multiply(s, x)
      return t
    """
    )
    assert not found.changed


def test_own_ops_with_a_gap_on_the_way_are_apart() -> None:
    found = scope(own("gather(x) #0", "multiply(q, x)", "reduce(a) #0"))
    assert found.ids == {"gather": 0, "layer/gather": 1, "reduce": 0}


def test_what_xla_may_fuse_into_one_op_is_no_gap() -> None:
    """XLA:GPU makes one fusion of the two ops, and fills it in. Taken apart, the own ops would be
    a group around another, which fails a CHECK where a program compiled before."""
    program = own("gather(x) #0", "multiply(s, q)", "reduce(a) #0")
    assert not scope(program.replace("h =", "s = sine(q)\n      h =")).changed


def test_an_op_that_no_target_keeps_is_no_member_on_the_way() -> None:
    found = scope(
        """
    main(x):
      q = reduce(x) #0
      h = add(q, x) #0
      a = layer(h)
      b = reduce(a) #0
      return b
    """
        + LAYER
    )
    assert found.ids == {"reduce.0": 0, "add": 0, "layer/gather": 1, "reduce.1": 0}


def test_a_constant_on_the_way_is_nothing_between() -> None:
    found = scope(
        """
    main(x):
      one = ones()
      q = reduce(x) #0
      h = multiply(q, one)
      a = layer(h)
      b = reduce(a) #0
      return b
    """
        + LAYER
    )
    assert not found.changed
