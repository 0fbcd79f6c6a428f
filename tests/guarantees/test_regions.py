"""Regions that XLA inlines as it inlines a function, and composites."""

from __future__ import annotations

import pytest

from tests.guarantees.programs import scope


@pytest.mark.parametrize("region", ["manual v(x):", "named v(x):"])
def test_a_spliced_region_is_a_body_like_a_function(region: str) -> None:
    found = scope(f"""
    main(x):
      a = outer(x)
      b = outer(a)
      return b
    outer(x):
      a = {region}
        y = permute(v) #0
        yield y
      return a
    """)
    kind = region.split(" ")[0]
    assert found.ids == {f"outer.0/{kind}/permute": 0, f"outer.1/{kind}/permute": 1}


def test_two_regions_in_one_function_need_no_clone() -> None:
    found = scope("""
    main(x):
      a = named v(x):
        y = permute(v) #0
        yield y
      b = named w(a):
        z = permute(w) #0
        yield z
      return b
    """)
    assert found.ids == {"named.0/permute": 0, "named.1/permute": 1}
    assert found.functions == ["main"]


def test_a_composite_inlines_its_decomposition() -> None:
    found = scope("""
    main(x):
      a = composite[part](x)
      b = composite[part](a)
      return b
    part(x):
      y = permute(x) #0
      return y
    """)
    assert found.ids == {"part.0/permute": 0, "part.1/permute": 1}
    assert "decomposition = @part_0" in found.text
