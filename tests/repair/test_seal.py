"""Barriers around groups."""

from __future__ import annotations

from tests.lint_model.modules import add, call, dot, function, gather, sine
from tests.lint_model.test_siblings import DOTS, FUSED, USED
from tests.repair.modules import mended, names

GROUP = (gather("a", "x", 0), dot("b", "x", "w", 0))


def test_one_barrier_before_and_one_after() -> None:
    with mended("tpu", function(*GROUP, add("r", "a", "b")), seal=True) as (report, module):
        assert report.sealed == (0,)
        assert names(module) == [
            "optimization_barrier", "all_gather", "dot_general", "optimization_barrier", "add",
        ]  # fmt: skip
        text = str(module)
        assert "%0:2 = stablehlo.optimization_barrier %arg0, %arg1" in text
        assert "stablehlo.dot_general %0#0, %0#1" in text


def test_what_lies_between_the_members_is_moved_out() -> None:
    body = function(
        gather("a", "x", 0), sine("s", "a"), sine("t", "w"), dot("b", "t", "w", 0),
        add("u", "s", "b"), add("r", "u", "a"),
    )  # fmt: skip
    with mended("tpu", body, seal=True) as (_, module):
        assert names(module) == [
            "sine", "optimization_barrier", "all_gather", "dot_general", "optimization_barrier",
            "sine", "add", "add",
        ]  # fmt: skip


def test_one_barrier_around_calls_that_make_up_a_group() -> None:
    """A barrier for each call would let XLA fuse what feeds one with what another feeds."""
    fetch = function(gather("r", "x", 0), name="fetch")
    attend = function(dot("r", "x", "w", 0), name="attend")
    body = function(
        sine("p", "x"), call("a", "fetch", "p", "w"), call("b", "attend", "x", "w"),
        add("r", "a", "b"),
    )  # fmt: skip
    with mended("gpu", fetch, attend, body, seal=True) as (_, module):
        assert names(module).count("optimization_barrier") == 2
        assert "stablehlo.optimization_barrier %0, %arg1, %arg0" in str(module)


def test_it_is_not_done_twice() -> None:
    from schedscope.repair.repair import repair_module

    with mended("tpu", function(*GROUP, add("r", "a", "b")), seal=True) as (_, module):
        before = str(module)
        assert not repair_module(module, "tpu", seal=True).changed
        assert str(module) == before


def test_by_default_only_where_a_group_is_at_risk() -> None:
    safe = function(*GROUP, add("r", "a", "b"))
    risky = function(*GROUP, gather("s", "a"), add("t", "b", "s"), add("r", "t", "a"))
    for target in ("tpu", "gpu"):
        with mended(target, safe, seal=None) as (report, _):
            assert report.sealed == ()
    with mended("tpu", risky, seal=None) as (report, _):
        assert report.sealed == (0,)
    with mended("gpu", risky, seal=None) as (report, _):
        assert report.sealed == ()


def test_on_gpu_only_where_two_ops_are_likely_to_be_made_one() -> None:
    for body in (FUSED, USED, DOTS):
        with mended("gpu", body, seal=None) as (report, module):
            assert report.sealed == (0,)
            assert [fate.kind for fate in report.fates] == ["whole"]
            assert "optimization_barrier" in names(module)
        with mended("gpu", body, seal=False) as (report, _):
            assert not report.changed
