"""S5: keys that are there, the user's or an earlier run's."""

from __future__ import annotations

from tests.guarantees.programs import scope


def test_a_users_key_stays_where_one_group_has_it() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0 key=mine
      b = permute(x) #1
      c = add(a, b)
      return c
    """)
    assert found.attributes("combiner_key") == {"permute.0": "mine", "permute.1": "schedscope.1"}


def test_two_groups_that_share_one_get_longer_ones_but_the_first() -> None:
    found = scope("""
    main(x):
      a = permute(x) #3 key=mine
      b = permute(a) #4 key=mine
      return b
    """)
    assert found.attributes("combiner_key") == {"permute.0": "mine", "permute.1": "mine.4"}


def test_of_whatever_kind() -> None:
    found = scope("""
    main(x):
      a = permute(x) #3 key=mine
      b = reduce(a) #4 key=mine
      return b
    """)
    assert found.attributes("combiner_key") == {"permute": "mine", "reduce": "mine.4"}


def test_a_key_shared_with_a_collective_of_no_group_stays_that_ones() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0 key=mine
      b = permute(x) key=mine
      c = add(a, b)
      return c
    """)
    assert found.attributes("combiner_key") == {"permute.0": "mine.0", "permute.1": "mine"}


def test_instances_that_become_two_groups_no_longer_share_it() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #0 key=mine
      return y
    """)
    assert found.attributes("combiner_key") == {
        "layer.0/permute": "mine",
        "layer.1/permute": "mine.1",
    }


def test_a_key_of_an_earlier_run_does_not_follow_its_group_into_two() -> None:
    """What was scoped alone is called twice now."""
    found = scope("""
    main(x):
      a = pair(x)
      b = pair(a)
      return b
    pair(x):
      a = permute(x) #0 key=schedscope.0
      b = permute(x) #1 key=schedscope.1
      c = add(a, b)
      return c
    """)
    assert found.attributes("combiner_key") == {
        "pair.0/permute.0": "schedscope.0",
        "pair.0/permute.1": "schedscope.1",
        "pair.1/permute.0": "schedscope.0.2",
        "pair.1/permute.1": "schedscope.1.3",
    }


def test_a_new_key_is_no_ones_present_key() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0
      b = permute(x) #1 key=schedscope.0
      c = permute(x) #2 key=schedscope.2_
      d = add(a, b)
      e = add(c, d)
      return e
    """)
    keys = found.attributes("combiner_key")
    assert keys["permute.1"] == "schedscope.0"
    assert keys["permute.2"] == "schedscope.2_"
    assert keys["permute.0"] == "schedscope.0_"


def test_a_key_on_what_is_no_collective_is_not_touched() -> None:
    found = scope("""
    main(x):
      a = sine(x) #0 key=mine
      b = cosine(a) #1 key=mine
      return b
    """)
    assert not found.changed


def test_the_key_of_a_collective_without_a_group_is_not_touched() -> None:
    found = scope("""
    main(x):
      a = permute(x) key=mine
      b = permute(x) key=mine
      c = permute(x) #0
      d = add(a, b)
      e = add(c, d)
      return e
    """)
    assert found.attributes("combiner_key") == {
        "permute.0": "mine",
        "permute.1": "mine",
        "permute.2": "schedscope.0",
    }
