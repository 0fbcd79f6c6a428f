"""S1: holders of an id that depend on each other get ids of their own, the others stay one."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope

LAYER = """
    layer(x):
      y = permute(x) #0
      z = sine(x) #0
      w = add(y, z)
      return w
"""


@pytest.mark.parametrize("every_call_site", [False, True])
def test_calls_in_a_chain_are_apart(every_call_site: bool) -> None:
    found = scope(
        """
    main(x):
      a = layer(x)
      b = cosine(a)
      c = layer(b)
      return c
    """
        + LAYER,
        every_call_site=every_call_site,
    )
    assert found.ids == {
        "layer.0/permute": 0,
        "layer.0/sine": 0,
        "layer.1/permute": 1,
        "layer.1/sine": 1,
    }
    assert found.functions == ["main", "layer", "layer_0"]


INDEPENDENT = """
    main(x):
      a = layer(x)
      b = layer(x)
      c = add(a, b)
      return c
"""


def test_independent_calls_stay_one_group() -> None:
    assert not scope(INDEPENDENT + LAYER).changed


def test_independent_calls_are_apart_when_every_call_site_is_asked() -> None:
    found = scope(INDEPENDENT + LAYER, every_call_site=True)
    assert set(found.ids.values()) == {0, 1}


def test_a_holder_joins_the_current_set_though_it_waits_for_an_older_one() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      c = layer(a)
      d = add(b, c)
      return d
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 1, "layer.2/permute": 1}


def test_a_holder_does_not_go_back_to_an_older_set() -> None:
    """The third call waits for nobody, and the second one's set is the current one."""
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      c = layer(x)
      d = add(b, c)
      return d
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 1, "layer.2/permute": 1}


def test_a_holder_is_held_against_every_member_of_the_set() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(x)
      c = layer(a)
      d = add(b, c)
      return d
    layer(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 0, "layer.2/permute": 1}


def test_own_ops_are_one_holder_whatever_depends_on_what() -> None:
    found = scope("""
    main(x):
      a = permute(x) #0
      b = cosine(a)
      c = gather(b) #0
      return c
    """)
    assert not found.changed


def test_own_ops_stand_where_the_first_of_them_does() -> None:
    """The call waits for nothing, but the body's own second op waits for the call: two sets, of
    which the own ops, first in the program, keep the id."""
    found = scope("""
    main(x):
      s = sine(x) #0
      a = layer(x)
      t = gather(a) #0
      u = add(s, t)
      return u
    layer(x):
      y = permute(x) #0
      z = add(y, x)
      return z
    """)
    assert found.ids == {"sine": 0, "layer/permute": 1, "gather": 0}


@pytest.mark.parametrize("last", ["sine(x) #0", "relu(x) #0"])
def test_the_first_own_op_says_where_they_stand(last: str) -> None:
    """Counted from the last, they would join the second call."""
    found = scope(
        f"""
    main(x):
      s = permute(x) #0
      a = layer(x)
      b = layer(a)
      t = {last}
      u = add(s, t)
      v = add(u, b)
      return v
    layer(x):
      y = gather(x) #0
      return y
    relu(x):
      y = sine(x) #0
      return y
    """
    )
    calls = {path: group for path, group in found.ids.items() if path.startswith("layer")}
    assert calls == {"layer.0/gather": 0, "layer.1/gather": 1}
    assert sorted(found.ids.values()) == [0, 0, 0, 1]


def test_different_ids_are_never_one_group_and_split_apart() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x):
      y = permute(x) #0
      z = gather(x) #5
      w = add(y, z)
      return w
    """)
    assert found.ids == {
        "layer.0/permute": 0,
        "layer.0/gather": 5,
        "layer.1/permute": 6,
        "layer.1/gather": 7,
    }
