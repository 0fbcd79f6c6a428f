"""Tags in the region of a reducing op mean nothing to XLA, and follow the op."""

from __future__ import annotations

from tests.guarantees.programs import scope

REDUCER = """
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = reduce {0} (x) {1}
      z = sine(x) #0
      w = add(y, z)
      return w
"""


def test_tags_in_a_reducer_follow_its_op() -> None:
    found = scope(REDUCER.format("#0", "#0"))
    assert found.text.count('"1"') == 3  # the reduce, the add in it, the sine


def test_and_make_no_group_of_their_own() -> None:
    """The reduce is in no group, so the tag in it means nothing, and stays."""
    found = scope(REDUCER.format("#7", ""))
    assert found.text.count('"7"') == 2
    assert sorted(found.ids.values()) == [0, 8]


def test_a_tag_in_a_reducer_alone_is_nothing_to_do() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = reduce #0 (x)
      return y
    """)
    assert not found.changed
    assert found.report.groups == ()


def test_a_tag_in_a_reducer_of_another_group_stays() -> None:
    found = scope(REDUCER.format("#0", ""))
    assert found.text.count('"0"') == 3  # the add in both instances, the first sine
    assert found.text.count('"1"') == 1
