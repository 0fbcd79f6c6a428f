"""SG108, torn-by-call."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, attributed, found, path
from tests.lint_model.modules import add, call, dot, function, gather, permute, sine

PLAIN = function(sine("a", "x"), add("r", "a", "w"), name="plain")
TORN = function(permute("y", "x", 0), call("s", "plain", "y", "w"), permute("r", "s", 0))


def test_a_call_between_two_ops() -> None:
    [finding] = asked(PLAIN, TORN)
    assert (finding.code, finding.severity) == ("SG108", Severity.ERROR)
    assert finding.message == (
        "group 0 is torn by a call of @plain: collective_permute needs collective_permute through "
        "it, and none of its ops is in the group"
    )
    assert path(finding) == ["collective_permute", "func.call", "collective_permute"]
    assert finding.groups == (0,)


def test_a_call_that_holds_another_group() -> None:
    """The path goes through the inlined body, op by op."""
    holder = function(sine("a", "x"), gather("b", "w", 1), add("r", "a", "b"), name="plain")
    [finding] = asked(holder, TORN)
    assert finding.code == "SG108"
    assert path(finding)[1:-1] == ["sine", "add"]


def test_before_inlining_too() -> None:
    """libtpu checks functions first, and a call is an op like any other then."""
    first = function(add("r", "x", "x"), name="first")
    body = function(gather("a", "x", 0), call("s", "first", "w", "a"), dot("r", "s", "w", 0))
    [finding] = asked(first, body, target="tpu")
    assert finding.code == "SG108"
    assert path(finding) == ["all_gather", "func.call", "dot_general"]


def test_not_where_something_else_lies_between_too() -> None:
    body = function(
        permute("y", "x", 0),
        call("s", "plain", "y", "w"),
        add("t", "s", "w"),
        permute("r", "t", 0),
    )
    [finding] = asked(PLAIN, body)
    assert finding.code == "SG101"


def test_not_where_two_calls_lie_between() -> None:
    body = function(
        permute("y", "x", 0),
        call("s", "plain", "y", "w"),
        call("t", "plain", "s", "w"),
        permute("r", "t", 0),
    )
    [finding] = asked(PLAIN, body)
    assert finding.code == "SG101"


def test_not_where_the_group_lies_in_several_functions() -> None:
    """It spans calls on purpose."""
    scope = '_scheduling_group_scope = "global"'
    last = function(attributed(permute("r", "x", 0), scope), name="last")
    body = function(
        attributed(permute("y", "x", 0), scope),
        call("s", "plain", "y", "w"),
        call("r", "last", "s", "w"),
    )
    [finding] = asked(PLAIN, last, body)
    assert finding.code == "SG101"


def test_not_where_the_call_is_filled_in() -> None:
    """A chain of ops of one operand each is made part of the group."""
    chain = function(sine("r", "x"), name="plain")
    assert found("SG108", chain, TORN) == []


def test_not_where_calls_collide() -> None:
    layer = function(permute("y", "x", 0), add("r", "y", "w"), name="layer")
    body = function(call("a", "layer", "x", "w"), call("r", "layer", "a", "w"))
    assert [finding.code for finding in asked(layer, body)] == ["SG102"]
