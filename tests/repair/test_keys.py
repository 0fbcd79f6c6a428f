"""Collectives that are kept from being made one."""

from __future__ import annotations

from tests.lint_model.modules import add, function, gather, permute
from tests.lint_model.test_siblings import REDUCED
from tests.repair.modules import ids, mended


def test_what_lies_on_both_sides_of_a_group_is_kept_apart() -> None:
    """The group has a gap only where they are one: it is not split."""
    with mended("gpu", REDUCED) as (report, module):
        assert report.keys == 2
        assert [fate.kind for fate in report.fates] == ["whole"]
        assert ids(module) == ["collective_permute 0", "all_reduce 0"]


def test_a_collective_that_feeds_another_of_its_group() -> None:
    body = function(
        permute("a", "x", 0), permute("b", "w", 0), gather("c", "a", 0), add("r", "b", "c")
    )
    with mended("gpu", body) as (report, _):
        assert report.keys == 2
        assert [fate.kind for fate in report.fates] == ["whole"]


def test_on_tpu_nothing_is_combined() -> None:
    with mended("v5e", REDUCED) as (report, _):
        assert report.keys == 0
