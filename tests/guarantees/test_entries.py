"""Where instances begin: @main, or every public function."""

from __future__ import annotations

from tests.guarantees.programs import scope

LAYER = """
    layer(x):
      y = permute(x) #0
      return y
"""


def test_every_public_function_is_an_entry_where_there_is_no_main() -> None:
    """Computations apart, they may use the same ids."""
    found = scope(
        """
    public first(x):
      a = layer(x)
      b = layer(a)
      return b
    public second(x):
      a = layer(x)
      b = layer(a)
      return b
    """
        + LAYER
    )
    assert found.ids == {
        "first/layer.0/permute": 0,
        "first/layer.1/permute": 1,
        "second/layer.0/permute": 0,
        "second/layer.1/permute": 2,
    }


def test_main_is_the_only_entry_where_there_is_one() -> None:
    found = scope(
        """
    main(x):
      a = layer(x)
      return a
    public other(x):
      a = layer(x)
      b = layer(a)
      return b
    """
        + LAYER
    )
    assert not found.changed


def test_a_public_function_that_is_also_called_keeps_its_body_for_itself() -> None:
    found = scope(
        """
    public step(x):
      a = layer(x)
      b = layer(a)
      return b
    public train(x):
      y = gather(x) #0
      a = step(y)
      return a
    """
        + LAYER
    )
    assert found.ids == {
        "step/layer.0/permute": 0,
        "step/layer.1/permute": 1,
        "train/gather": 0,
        "train/step/layer.0/permute": 2,
        "train/step/layer.1/permute": 3,
    }
    assert "func.func public @step(" in found.text
    assert "func.func private @step_0(" in found.text
    assert "call @step_0(" in found.text


def test_whichever_comes_first() -> None:
    found = scope(
        """
    public train(x):
      y = gather(x) #0
      a = step(y)
      return a
    public step(x):
      y = permute(x) #0
      return y
    """
    )
    assert found.ids == {"train/gather": 0, "train/step/permute": 1, "step/permute": 0}
    assert found.functions == ["train", "step", "step_0"]


def test_the_body_of_an_entry_is_never_the_clone() -> None:
    """The caller comes first, and both need new ids."""
    found = scope(
        """
    public train(x):
      a = step(x)
      return a
    public step(x):
      a = named v(x):
        y = permute(v) #0
        yield y
      b = named w(a):
        z = permute(w) #0
        yield z
      return b
    """
    )
    assert found.functions == ["train", "step", "step_0"]
    assert "call @step_0(" in found.text


def test_callers_share_the_public_body_where_the_ids_are_the_same() -> None:
    assert not scope(
        """
    public train(x):
      a = step(x)
      return a
    public step(x):
      y = permute(x) #0
      return y
    """
    ).changed


def test_main_may_be_called_too() -> None:
    """Only its own entry counts: the function that calls it is no entry."""
    found = scope(
        """
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    public other(x):
      a = main(x)
      return a
    """
        + LAYER
    )
    assert found.ids == {"layer.0/permute": 0, "layer.1/permute": 1}
    assert "call @main(" in found.text


def test_what_no_entry_reaches_is_left_as_it_is() -> None:
    found = scope(
        """
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    unused(x):
      a = layer(x)
      b = layer(a)
      return b
    """
        + LAYER
    )
    assert "func.func private @unused(" in found.text
    assert found.text.count("call @layer(") == 3


def test_a_module_that_nobody_enters_is_left_as_it_is() -> None:
    assert not scope(
        """
    unused(x):
      a = layer(x)
      b = layer(a)
      return b
    """
        + LAYER
    ).changed


DECLARED = (
    """
    external(x):
    main(x):
      a = layer(x)
      b = external({0})
      c = layer(b)
      return c
"""
    + LAYER
)


def test_a_declared_function_passes_every_argument_on() -> None:
    assert scope(DECLARED.format("a")).ids == {"layer.0/permute": 0, "layer.1/permute": 1}
    assert not scope(DECLARED.format("x")).changed
