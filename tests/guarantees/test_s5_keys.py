"""S5: no collective of a group can be combined with one outside it: they differ in combiner_key."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope


def test_two_groups_of_one_program_that_wait_for_nothing_of_each_other_get_keys() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0
      b = permute(x) #1
      c = add(a, b)
      return c
    """)
    assert found.attributes("combiner_key") == {
        "permute.0": "schedscope.0",
        "permute.1": "schedscope.1",
    }
    assert found.report.keys == 2


@pytest.mark.parametrize(
    ("second", "annotation"),
    [
        ("permute(a)", "#1"),  # one waits for the other
        ("gather(x)", "#1"),  # of two kinds
        ("permute(x)", "#0"),  # of one group
        ("reduce(x)", ""),
    ],
)
def test_what_cannot_be_combined_needs_none(second: str, annotation: str) -> None:
    found = scope(f"""
    main(x):
      a = permute(x) #0
      b = {second} {annotation}
      c = add(a, b)
      return c
    """)
    assert not found.changed


def test_a_collective_without_a_group_keeps_none_and_makes_the_others_need_one() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0
      b = permute(x)
      c = add(a, b)
      return c
    """)
    assert found.attributes("combiner_key") == {"permute.0": "schedscope.0"}


def test_collectives_of_no_group_are_nobodys_business() -> None:
    found = scope("""
    main(x):
      a = permute(x)
      b = permute(x)
      c = sine(b) #0
      d = add(a, c)
      return d
    """)
    assert not found.changed


def test_dependence_is_followed_through_what_lies_between() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0
      i = index(a)
      b = case i:
        0:
          y = sine(a)
          yield y
        1:
          yield x
      c = helper(b)
      d = permute(c) #1
      return d
    helper(x):
      y = cosine(x)
      return y
    """)
    assert not found.changed


def test_kinds_are_keyed_apart() -> None:
    """The group's gather has no rival, so it needs no key."""
    found = scope("""
    main(x):
      a = permute(x) #0
      b = gather(x) #0
      c = permute(x) #1
      d = add(a, b)
      e = add(c, d)
      return e
    """)
    assert found.attributes("combiner_key") == {
        "permute.0": "schedscope.0",
        "permute.1": "schedscope.1",
    }


def test_every_member_of_the_group_gets_the_key() -> None:
    """Else XLA would no longer combine two members, or combine one with a rival's."""
    found = scope("""
    main(x):
      a = permute(x) #0
      b = permute(a) #1
      c = permute(a) #0
      d = add(b, c)
      return d
    """)
    assert found.attributes("combiner_key") == {
        "permute.0": "schedscope.0",
        "permute.1": "schedscope.1",
        "permute.2": "schedscope.0",
    }


def test_instances_apart_get_keys_apart() -> None:
    found = scope(
        """
    main(x):
      a = layer(x)
      b = layer(x)
      c = add(a, b)
      return c
    layer(x):
      y = permute(x) #0
      return y
    """,
        every_call_site=True,
    )
    assert found.attributes("combiner_key") == {
        "layer.0/permute": "schedscope.0",
        "layer.1/permute": "schedscope.1",
    }


def test_what_two_calls_keep_to_themselves_is_told_apart() -> None:
    """Each `pair` has two groups of its own; all four could be combined with another's."""
    found = scope("""
    main(x):
      a = pair(x)
      b = pair(x)
      c = add(a, b)
      return c
    pair(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert sorted(found.attributes("combiner_key").values()) == [
        f"schedscope.{group}" for group in range(4)
    ]


def test_calls_apart_in_a_chain_need_no_key() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.attributes("combiner_key") == {}


def test_an_id_that_spans_calls_is_a_group_too() -> None:
    found = scope(
        """
    main(x):
      a = permute(x) #0
      b = permute(x) #1
      c = add(a, b)
      return c
    """,
        keep_global=frozenset({0, 1}),
    )
    assert found.attributes("combiner_key") == {
        "permute.0": "schedscope.0",
        "permute.1": "schedscope.1",
    }


def test_a_call_whose_root_is_a_collective_needs_a_key() -> None:
    """XLA puts the call's attributes on the root (S4), its combiner_key as well."""
    found = scope(
        """
    main(x):
      a = helper(x) #0
      b = helper(x) #0
      c = add(a, b)
      return c
    helper(x):
      y = permute(x)
      return y
    """,
        every_call_site=True,
    )
    assert found.ids == {"helper.0": 0, "helper.1": 1}
    assert len(set(found.attributes("combiner_key").values())) == 2
