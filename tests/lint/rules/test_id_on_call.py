"""SG202, id-on-call-only."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import found
from tests.lint_model.modules import add, call, function, loop, permute

PLAIN = function(add("r", "x", "w"), name="plain")
CALL = function(call("r", "plain", "x", "w", group=3))


def test_nothing_in_the_function_has_an_id() -> None:
    [finding] = found("SG202", PLAIN, CALL)
    assert finding.severity is Severity.WARNING
    assert finding.message == "the id 3 is on the call of @plain only, and no op in it has one"
    assert (finding.spot.op, finding.groups) == ("func.call", (3,))


def test_each_call() -> None:
    body = function(call("a", "plain", "x", "w", group=3), call("r", "plain", "a", "w", group=4))
    assert [finding.groups for finding in found("SG202", PLAIN, body)] == [(3,), (4,)]


def test_silent_where_an_op_of_it_has_an_id() -> None:
    assert found("SG202", PLAIN.replace(add("r", "x", "w"), permute("r", "x", 3)), CALL) == []


def test_silent_where_an_op_below_it_has() -> None:
    below = function(permute("r", "x", 3), name="below")
    deeper = function(call("r", "below", "x", "w"), name="plain")
    assert found("SG202", below, deeper, CALL) == []
    looped = function(loop("r", "x", permute("p", "c", 3), result="p", turns=2), name="plain")
    assert found("SG202", looped, CALL) == []


def test_silent_where_the_call_has_none() -> None:
    assert found("SG202", PLAIN, function(call("r", "plain", "x", "w"))) == []


def test_a_chain_of_calls_deeper_than_the_stack() -> None:
    chain = [
        function(call("r", f"f{depth - 1}", "x", "w"), name=f"f{depth}") for depth in range(1, 3000)
    ]
    body = function(call("r", "f2999", "x", "w", group=3))
    [finding] = found("SG202", PLAIN.replace("@plain", "@f0"), *chain, body)
    assert finding.groups == (3,)
