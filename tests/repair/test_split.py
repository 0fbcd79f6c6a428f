"""Groups with a gap, groups that wait, functions that are shared, ids on calls."""

from __future__ import annotations

from tests.lint_model.modules import add, call, dot, function, gather, permute, sine
from tests.repair.modules import ids, mended


def test_a_loop_that_forgot_to_count() -> None:
    """Each pass is a group like the one that was written."""
    body = function(
        gather("a", "x", 5), dot("b", "x", "w", 5), add("c", "a", "b"),
        gather("d", "c", 5), dot("e", "c", "w", 5), add("f", "d", "e"),
        gather("g", "f", 5), dot("h", "f", "w", 5), add("r", "g", "h"),
    )  # fmt: skip
    for target in ("gpu", "tpu"):
        with mended(target, body) as (report, module):
            assert [int(each.split()[1]) for each in ids(module)] == [5, 5, 6, 6, 7, 7]
            [fate] = report.fates
            assert (fate.id, fate.kind, fate.ids) == (5, "split", (5, 6, 7))


def test_what_can_overlap_stays_together() -> None:
    """The matmul at the end does not depend on the second gather, and comes to its partner."""
    body = function(
        gather("a", "x", 0), sine("b", "a"), add("c", "b", "x"), gather("d", "c", 0),
        dot("e", "x", "w", 0), add("f", "d", "e"), add("r", "f", "a"),
    )  # fmt: skip
    with mended("tpu", body) as (_, module):
        first, second, product = ids(module)
        assert first.split()[1] != second.split()[1]
        assert product.split()[1] in (first.split()[1], second.split()[1])


def test_a_group_without_a_fault_is_left_alone() -> None:
    body = function(gather("a", "x", 3), dot("b", "x", "w", 3), add("r", "a", "b"))
    with mended("tpu", body, seal=None) as (report, module):
        assert not report.changed
        assert [fate.kind for fate in report.fates] == ["whole"]
        assert ids(module) == ["all_gather 3", "dot_general 3"]


def test_groups_that_wait_for_each_other() -> None:
    body = function(
        gather("a", "x", 1), gather("b", "w", 2),
        dot("c", "b", "w", 1), dot("d", "a", "w", 2), add("r", "c", "d"),
    )  # fmt: skip
    with mended("tpu", body) as (report, module):
        kinds = sorted(fate.kind for fate in report.fates)
        assert kinds == ["split", "whole"]
        found = [each.split()[1] for each in ids(module)]
        pairs = [found[0] == found[2], found[1] == found[3]]
        assert sorted(pairs) == [False, True]  # one pair can stay


def test_a_shared_function_is_cloned_where_its_calls_need_ids_of_their_own() -> None:
    """Both calls are made inside one group, so scoping leaves them the caller's id."""
    helper = function(gather("r", "x", 0), name="helper")
    tagged = '{mhlo.frontend_attributes = {_scheduling_group_id = "0"}}'
    first, second = (
        call(name, "helper", x, "w").replace(" : ", f" {tagged} : ", 1)
        for name, x in (("a", "x"), ("c", "b"))
    )
    body = function(first, dot("e", "x", "w", 0), add("b", "a", "w"), second, add("r", "c", "e"))
    with mended("tpu", helper, body) as (report, module):
        gathers = [each for each in ids(module) if each.startswith("all_gather")]
        assert len(gathers) == 2
        assert len(set(gathers)) == 2
        assert report.losses == ()


def test_an_id_on_a_call_reaches_the_ops() -> None:
    helper = function(permute("y", "x"), dot("z", "x", "w"), add("r", "y", "z"), name="helper")
    tagged = '{mhlo.frontend_attributes = {_scheduling_group_id = "3"}}'
    body = function(call("r", "helper", "x", "w").replace(" : ", f" {tagged} : ", 1))
    with mended("gpu", helper, body) as (report, module):
        assert report.pushed == ("helper_0",)
        assert ids(module) == [
            "collective_permute 3", "dot_general 3", "func.call 3",
        ]  # fmt: skip


def test_what_nobody_can_read_is_removed() -> None:
    body = function(gather("a", "x", "layer0"), dot("b", "x", "w", 1), add("r", "a", "b"))
    with mended("gpu", body) as (report, module):
        [loss] = report.losses
        assert (loss.op, loss.group) == ("stablehlo.all_gather", "layer0")
        assert ids(module) == ["dot_general 1"]
        assert any("loses its annotation" in line for line in report.summary())


def test_what_crashes_the_compiler_is_removed() -> None:
    swap = permute("a", "x", 0).replace("collective_permute", "all_to_all").replace(
        "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>",
        "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, "
        "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
    )  # fmt: skip
    body = function(swap, permute("b", "x", 0), add("r", "a", "b"))
    with mended("gpu-0.10", body) as (report, module):
        assert [loss.op for loss in report.losses] == ["stablehlo.all_to_all"]
        assert ids(module) == ["collective_permute 0"]


def test_what_the_compiler_takes_for_outside() -> None:
    """XLA:GPU drops the matmul's id: a path through it is a gap."""
    body = function(permute("a", "x", 0), dot("b", "a", "w", 0), permute("r", "b", 0))
    with mended("gpu", body) as (_, module):
        first, _, last = (each.split()[1] for each in ids(module))
        assert first != last
