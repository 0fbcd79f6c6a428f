"""SG204, calls-taken-for-one."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, found
from tests.lint_model.modules import add, call, dot, function, permute

FETCH = function(permute("r", "x", 0), name="fetch")
CHAINED = function(call("a", "fetch", "x", "w"), call("r", "fetch", "a", "w"))


def test_calls_that_depend_on_each_other_without_a_gap() -> None:
    [finding] = asked(FETCH, CHAINED)
    assert (finding.code, finding.severity) == ("SG204", Severity.WARNING)
    assert finding.message == (
        "group 0 is 2 groups of calls that depend on each other, which XLA takes for one"
    )
    assert [related.message for related in finding.related] == ["with this one"]
    assert (finding.groups, finding.fixable) == ((0,), "schedscope fix")


def test_calls_of_two_layers_whose_collectives_are_combined() -> None:
    """Each layer is a group; XLA:GPU drops the matmuls, and makes one of the two collectives."""
    multiply = function(dot("r", "x", "w", 0), name="multiply")
    body = function(
        call("a", "fetch", "x", "w"),
        call("b", "multiply", "a", "w"),
        call("c", "multiply", "b", "w"),
        call("d", "fetch", "w", "x"),
        add("r", "c", "d"),
    )
    [finding] = found("SG204", FETCH, multiply, body)
    assert finding.groups == (0,)
    assert {finding.spot.op, finding.related[0].spot.op} == {"stablehlo.collective_permute"}


def test_silent_where_they_do_not() -> None:
    body = function(call("a", "fetch", "x", "w"), call("b", "fetch", "w", "x"), add("r", "a", "b"))
    assert asked(FETCH, body) == []


def test_silent_where_there_is_a_gap() -> None:
    """Which is an error."""
    body = function(call("a", "fetch", "x", "w"), add("s", "a", "w"), call("r", "fetch", "s", "w"))
    assert found("SG204", FETCH, body) == []


def test_silent_where_one_body_holds_all_of_it() -> None:
    body = function(permute("a", "x", 0), permute("r", "a", 0), name="fetch")
    assert found("SG204", body, function(call("r", "fetch", "x", "w"))) == []
