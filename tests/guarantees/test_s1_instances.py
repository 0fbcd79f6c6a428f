"""S1: which body exposes an id to its caller, and which instances are functions of their own."""

from __future__ import annotations

from tests.guarantees.programs import scope


def test_a_body_with_one_set_exposes_it_through_every_level() -> None:
    """Two chains of calls that wait for nothing of each other are one group, four levels up."""
    found = scope("""
    main(x):
      a = outer(x)
      b = outer(x)
      c = add(a, b)
      return c
    outer(x):
      a = middle(x)
      return a
    middle(x):
      a = inner(x)
      return a
    inner(x):
      y = permute(x) #0
      return y
    """)
    assert not found.changed


def test_and_is_split_by_the_body_that_sees_the_dependence() -> None:
    found = scope("""
    main(x):
      a = outer(x)
      b = outer(a)
      return b
    outer(x):
      a = inner(x)
      return a
    inner(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"outer.0/inner/permute": 0, "outer.1/inner/permute": 1}
    assert found.functions == ["main", "outer", "outer_0", "inner", "inner_0"]


def test_a_body_with_two_sets_exposes_neither() -> None:
    """Independent instances of `pair` do not become one group: no set of theirs is theirs alone."""
    found = scope("""
    main(x):
      a = pair(x)
      b = pair(x)
      c = add(a, b)
      return c
    pair(x):
      a = inner(x)
      b = inner(a)
      return b
    inner(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {
        "pair.0/inner.0/permute": 0,
        "pair.0/inner.1/permute": 1,
        "pair.1/inner.0/permute": 2,
        "pair.1/inner.1/permute": 3,
    }


def test_a_body_may_expose_one_id_and_keep_another() -> None:
    found = scope("""
    main(x):
      a = both(x)
      b = both(x)
      c = add(a, b)
      return c
    both(x):
      a = inner(x)
      b = inner(a)
      c = gather(x) #1
      d = add(b, c)
      return d
    inner(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {
        "both.0/inner.0/permute": 0,
        "both.0/inner.1/permute": 2,
        "both.0/gather": 1,
        "both.1/inner.0/permute": 3,
        "both.1/inner.1/permute": 4,
        "both.1/gather": 1,
    }


def test_own_ops_and_independent_calls_are_one_set() -> None:
    found = scope("""
    main(x):
      a = block(x)
      b = block(a)
      return b
    block(x):
      y = gather(x) #0
      z = inner(x)
      w = add(y, z)
      return w
    inner(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {
        "block.0/gather": 0,
        "block.0/inner/permute": 0,
        "block.1/gather": 1,
        "block.1/inner/permute": 1,
    }


def test_instances_with_the_same_ids_share_a_function() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(x)
      c = add(a, b)
      d = layer(c)
      e = layer(c)
      f = add(d, e)
      return f
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert list(found.ids.values()) == [0, 0, 1, 1]
    assert found.functions == ["main", "layer", "layer_0"]


def test_a_diamond_of_calls_is_cloned_along_its_paths() -> None:
    found = scope("""
    main(x):
      a = left(x)
      b = right(a)
      return b
    left(x):
      a = layer(x)
      return a
    right(x):
      a = layer(x)
      return a
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"left/layer/permute": 0, "right/layer/permute": 1}
    assert found.functions == ["main", "left", "right", "layer", "layer_0"]


def test_functions_without_groups_are_never_cloned() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      h = helper(x)
      y = permute(h) #0
      return y
    helper(x):
      y = deeper(x)
      return y
    deeper(x):
      y = sine(x) #noop
      return y
    """)
    assert found.functions == ["main", "layer", "layer_0", "helper", "deeper"]


def test_a_function_that_holds_groups_below_only_is_cloned_for_them() -> None:
    found = scope("""
    main(x):
      a = outer(x)
      b = outer(a)
      return b
    outer(x):
      h = sine(x)
      y = layer(h)
      return y
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.text.count("call @layer_0") == 1
    assert found.text.count("call @outer_0") == 1


def test_each_new_id_is_new_everywhere() -> None:
    """An id that only another computation uses is not handed out again."""
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      c = while 2 v(b):
        d = permute(v) #1
        yield d
      return c
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 2, "while:1/permute": 1}
