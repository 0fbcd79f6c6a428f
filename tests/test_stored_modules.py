"""What other jax versions lower, kept in testdata (`scripts/lower_samples.py` made it)."""

from __future__ import annotations

from pathlib import Path

import pytest
import schedscope
from schedscope import modules

STORED = sorted((Path(__file__).parent.parent / "testdata").glob("jax-*/*.mlir"))
BOTH_WAYS = {"backward"}
"""Programs whose two calls have a forward and a backward function each."""


def read(path: Path) -> modules.Source:
    return modules.read(path.read_bytes(), path.name)


def test_versions() -> None:
    versions = {path.parent.name for path in STORED}
    assert versions >= {f"jax-{v}" for v in ("0.6.0", "0.7.2", "0.8.3", "0.9.2", "0.10.2")}


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_one_group_a_call(path: Path) -> None:
    """Nothing of the library is torn from the group it is called in, and the calls are apart."""
    source = read(path)
    report = schedscope.scope_module(source.module)
    of_calls = {group.id for group in report.groups for place in group.places if in_main(place)}
    assert len(of_calls) == (4 if path.stem in BOTH_WAYS else 2)
    assert report.changed
    assert report.notes == ()
    assert not schedscope.scope_module(source.module).changed


def in_main(place: schedscope.report.Place) -> bool:
    """Loops are computations of their own, whose paths start at the function around them."""
    return len(place.path) > 0 and place.path[0].caller == "main"
