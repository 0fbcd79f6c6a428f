"""Functions that an op names and XLA keeps as computations: entries like any other."""

from __future__ import annotations

from tests.guarantees.programs import scope

LAYER = """
    layer(x):
      y = permute(x) #0
      return y
"""


def test_a_function_that_an_op_calls_is_an_entry_of_its_own() -> None:
    """XLA keeps it as a computation: its ids meet nobody's."""
    found = scope(
        """
    main(x):
      a = layer(x)
      b = custom[kernel](a)
      c = custom[kernel](b)
      return c
    kernel(x):
      a = layer(x)
      b = layer(a)
      return b
    """
        + LAYER
    )
    assert found.functions == ["main", "kernel", "layer", "layer_0"]
    kernel = found.text.split("@kernel(")[-1]
    assert kernel.index("call @layer(") < kernel.index("call @layer_0(")


def test_its_instances_are_followed_into_clones_of_the_callers() -> None:
    found = scope(
        """
    main(x):
      a = outer(x)
      b = outer(a)
      return b
    outer(x):
      y = permute(x) #0
      a = custom[kernel](y)
      return a
    kernel(x):
      y = permute(x) #0
      return y
    """
    )
    assert found.functions == ["main", "outer", "outer_0", "kernel"]
    assert found.text.count("called_computations = [@kernel]") == 2


def test_a_function_that_is_called_and_that_an_op_calls_serves_both() -> None:
    found = scope(
        """
    main(x):
      y = gather(x) #0
      a = kernel(y)
      b = custom[kernel](a)
      return b
    kernel(x):
      y = permute(x) #0
      return y
    """
    )
    assert found.ids == {"gather": 0, "kernel/permute": 1}
    assert len(found.functions) == 3
    called = found.text.split("called_computations = [@")[1].split("]")[0]
    assert f"call @{called}(" not in found.text
