"""S7: as little change as possible, and the same answer everywhere."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope


def chain(annotation: int | str, calls: int = 2, more: str = "z = cosine(x)") -> str:
    steps = "\n".join(f"      a{n + 1} = layer(a{n})" for n in range(calls))
    return f"""
    main(a0):
{steps}
      return a{calls}
    layer(x):
      y = permute(x) #{annotation}
      {more}
      w = add(y, z)
      return w
    """


def test_new_ids_count_up_from_the_largest() -> None:
    found = scope(chain(3, 3, "z = sine(x) #40"))
    assert found.ids == {
        "layer.0/permute": 3,
        "layer.0/sine": 40,
        "layer.1/permute": 41,
        "layer.1/sine": 42,
        "layer.2/permute": 43,
        "layer.2/sine": 44,
    }


def test_the_largest_may_be_anywhere() -> None:
    found = scope(
        chain(0)
        + """
    unused(x):
      y = sine(x) #70
      return y
    """
    )
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 71}


def test_they_go_on_with_the_lowest_unused_ones_at_32_bits() -> None:
    found = scope(chain(2**31 - 2, 4, "z = sine(x) #1"))
    assert sorted(found.ids.values()) == [0, 1, 2, 3, 4, 5, 2**31 - 2, 2**31 - 1]


@pytest.mark.parametrize("large", [2**31, 2**32, 2**63 - 1])
def test_ids_that_xla_gpu_cannot_read_are_renumbered_with_a_note(large: int) -> None:
    found = scope(chain(large, 1, "z = sine(x) #5"))
    assert found.ids == {"layer/permute": 6, "layer/sine": 5}
    [note] = [note for note in found.report.notes if str(large) in note]
    assert "6" in note


def test_large_ids_apart_stay_apart() -> None:
    found = scope(
        f"""
    main(x):
      a = permute(x) #{2**31}
      b = gather(x) #{2**31 + 1}
      c = sine(x) #{2**31}
      return a, b, c
    """
    )
    assert found.ids == {"permute": 0, "gather": 1, "sine": 0}


def test_the_last_id_of_32_bits_is_no_large_one() -> None:
    assert not scope(chain(2**31 - 1, 1)).changed


def test_the_first_keeps_its_id() -> None:
    assert scope(chain(7)).ids["layer.0/permute"] == 7


def test_the_function_is_the_one_that_keeps_its_ids() -> None:
    """The first call is the one that gets new ids, for the body's own ops come before it."""
    found = scope(
        """
    main(x):
      y = gather(x) #0
      a = layer(y)
      i = index(a)
      b = case i:
        0:
          c = layer(a)
          yield c
        1:
          yield a
      return b
    layer(x):
      y = permute(x) #0
      return y
    """
    )
    assert found.ids == {"gather": 0, "layer/permute": 1, "case:0/layer/permute": 0}
    assert "call @layer_0(%1)" in found.text


NOTHING_TO_DO = {
    "no group": "y = permute(x)",
    "no op": "y = layer(x)",
    "one instance": "y = permute(x) #0",
    "words only": "y = permute(x) #noop",
    "iteration only": "y = permute(x) #:3",
}


@pytest.mark.parametrize("name", NOTHING_TO_DO)
@pytest.mark.parametrize("every_call_site", [False, True])
def test_nothing_is_touched_where_nothing_is_to_do(name: str, every_call_site: bool) -> None:
    found = scope(
        f"""
    main(x):
      {NOTHING_TO_DO[name]}
      z = layer(y)
      return z
    layer(x):
      y = sine(x)
      return y
    """,
        every_call_site=every_call_site,
    )
    assert not found.changed
    assert found.located == found.before


def test_what_is_unique_already_is_not_touched() -> None:
    assert not scope(
        """
    main(x):
      a = layer(x)
      b = layer_0(a)
      return b
    layer(x):
      y = permute(x) #0
      return y
    layer_0(x):
      y = permute(x) #1
      return y
    """
    ).changed


def test_equal_ids_of_two_functions_are_told_apart_as_well() -> None:
    """They are renumbered where they are: nothing is cloned."""
    found = scope(
        """
    main(x):
      a = layer(x)
      b = other(a)
      return b
    layer(x):
      y = permute(x) #0
      return y
    other(x):
      y = permute(x) #0
      return y
    """
    )
    assert found.ids == {"layer/permute": 0, "other/permute": 1}
    assert found.functions == ["main", "layer", "other"]
