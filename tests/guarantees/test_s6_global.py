"""S6: an id that is meant to span dependent calls stays whole, and says so."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope, scope_text

MARKER = '{_scheduling_group_scope = "global"}'
CHAIN = """
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #0 MARKER
      z = sine(x) #0
      w = gather(x) #1
      u = add(y, z)
      v = add(u, w)
      return v
"""
MODES = pytest.mark.parametrize("every_call_site", [False, True])


@MODES
def test_one_marked_op_keeps_the_id_whole(every_call_site: bool) -> None:
    found = scope(CHAIN.replace("MARKER", MARKER), every_call_site=every_call_site)
    assert found.ids == {
        "layer.0/permute": 0,
        "layer.0/sine": 0,
        "layer.0/gather": 1,
        "layer.1/permute": 0,
        "layer.1/sine": 0,
        "layer.1/gather": 2,
    }


def test_the_marker_stays_and_is_put_on_nothing_else() -> None:
    found = scope(CHAIN.replace("MARKER", MARKER))
    assert found.attributes("_scheduling_group_scope") == {
        "layer.0/permute": "global",
        "layer.1/permute": "global",
    }


@MODES
def test_an_id_that_an_option_names_is_marked_and_whole(every_call_site: bool) -> None:
    found = scope(
        CHAIN.replace("MARKER", ""), keep_global=frozenset({0}), every_call_site=every_call_site
    )
    assert [found.ids[f"layer.{n}/permute"] for n in (0, 1)] == [0, 0]
    assert [found.ids[f"layer.{n}/gather"] for n in (0, 1)] == [1, 2]
    assert set(found.attributes("_scheduling_group_scope")) == {
        "layer.0/permute",
        "layer.0/sine",
        "layer.1/permute",
        "layer.1/sine",
    }


def test_a_later_run_needs_no_option() -> None:
    found = scope(CHAIN.replace("MARKER", ""), keep_global=frozenset({0, 1}))
    assert found.changed
    assert not scope_text(found.located).changed
    assert found.functions == ["main", "layer"]


def test_an_id_that_is_unique_already_is_marked_too() -> None:
    """A later run may see the function called twice."""
    found = scope(
        """
    main(x):
      y = permute(x) #3
      return y
    """,
        keep_global=frozenset({3}),
    )
    assert found.attributes("_scheduling_group_scope") == {"permute": "global"}


def test_a_marked_id_reaches_into_tagged_calls_and_loops_and_reducers() -> None:
    found = scope(
        """
    main(x):
      y = layer(x) #0
      z = while 2 v(y):
        w = reduce #0 (v) #0
        yield w
      return z
    layer(x):
      y = permute(x) #0
      return y
    """,
        keep_global=frozenset({0}),
    )
    assert found.text.count('_scheduling_group_scope = "global"') == found.text.count(
        '_scheduling_group_id = "0"'
    )


def test_a_call_alone_with_a_global_id_stays() -> None:
    found = scope(
        """
    main(x):
      a = helper(x) #0
      b = helper(a) #0
      return b
    helper(x):
      y = permute(x)
      return y
    """,
        keep_global=frozenset({0}),
    )
    assert found.ids == {"helper.0": 0, "helper.1": 0}


def test_a_large_global_id_is_renumbered_everywhere_alike() -> None:
    found = scope(
        f"""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #{2**40}
      return y
    """,
        keep_global=frozenset({2**40}),
    )
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 0}
    assert len(found.attributes("_scheduling_group_scope")) == 2


def test_an_id_named_in_vain_is_given_to_nobody() -> None:
    found = scope(
        """
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #0
      return y
    """,
        keep_global=frozenset({1}),
    )
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 2}
    assert found.attributes("_scheduling_group_scope") == {}
