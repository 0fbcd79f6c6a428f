"""SG201, dropped-group."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, found
from tests.lint_model.modules import add, dot, function, gather, loop, permute


def test_none_of_the_ops_is_kept() -> None:
    [finding] = asked(function(add("r", "x", "w", 0)))
    assert (finding.code, finding.severity) == ("SG201", Severity.WARNING)
    assert finding.message == "group 0 will be dropped: XLA:GPU keeps none of its ops"
    assert finding.groups == (0,)


def test_one_op_is_kept() -> None:
    body = function(gather("y", "x", 0), add("r", "y", "w", 0))
    [finding] = asked(body, target="tpu")
    assert finding.message == (
        "group 0 will be dropped: XLA:TPU keeps one of its ops only, the all_gather"
    )
    assert asked(body) == []  # on XLA:GPU that is two ops, a start and a done


def test_no_collective() -> None:
    body = function(dot("y", "x", "w", 0), dot("r", "y", "w", 0))
    [finding] = asked(body, target="tpu")
    assert finding.message == (
        "group 0 will be dropped: none of the ops that XLA:TPU keeps is a collective"
    )


def test_silent_where_the_group_is_kept() -> None:
    body = function(gather("y", "x", 0), dot("z", "x", "w", 0), add("r", "y", "z"))
    for target in ("v5e", "v6e", "tpu7x"):
        assert found("SG201", body, target=target) == []


def test_silent_where_the_collective_is_in_another_computation() -> None:
    """Once a group has a collective anywhere, XLA keeps its parts everywhere."""
    inner = [dot("u", "c", "w", 0), dot("v", "u", "w", 0)]
    body = function(
        gather("y", "x", 0),
        dot("z", "x", "w", 0),
        add("s", "y", "z"),
        loop("r", "s", *inner, result="v", turns=2),
    )
    assert found("SG201", body, target="tpu") == []


def test_silent_where_the_group_was_merged_with_another() -> None:
    """XLA refuses it, which is said by another rule."""
    body = function(gather("a", "x", 0), gather("b", "w", 1), add("r", "a", "b"))
    assert [finding.code for finding in asked(body)] == ["SG105"]
    body = function(gather("a", "x", 0), gather("b", "w", 1), add("r", "a", "b", 1))
    assert [finding.code for finding in asked(body)] == ["SG105"]


def test_each_group_once() -> None:
    inner = loop("r", "s", add("t", "c", "w", 1), result="t", turns=2)
    assert len(found("SG201", function(add("s", "x", "w", 1), inner))) == 1
    body = function(add("s", "x", "w", 1), add("t", "s", "w", 1), add("r", "t", "w", 2))
    assert [finding.groups for finding in asked(body)] == [(1,), (2,)]
    assert [finding.groups for finding in asked(function(permute("r", "x", 0)))] == []
