"""SG102, colliding-calls."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, found, path
from tests.lint_model.modules import add, call, function, permute, sine

LAYER = function(permute("y", "x", 0), add("r", "y", "w"), name="layer")
OTHER = LAYER.replace("@layer", "@other")
TWICE = function(call("a", "layer", "x", "w"), call("r", "layer", "a", "w"))


def test_one_function_called_twice() -> None:
    [finding] = asked(LAYER, TWICE)
    assert (finding.code, finding.severity) == ("SG102", Severity.ERROR)
    assert finding.message.startswith("group 0 belongs to several calls: ")
    assert path(finding) == ["collective_permute", "add", "collective_permute"]
    assert finding.fixable == "schedscope fix"


def test_two_functions_of_one_id() -> None:
    body = TWICE.replace("%r = func.call @layer", "%r = func.call @other")
    [finding] = asked(LAYER, OTHER, body)
    assert finding.code == "SG102"


def test_silent_where_the_calls_are_independent() -> None:
    body = TWICE.replace("(%a, %w)", "(%w, %x)").replace("return %r", "return %s")
    body = body.replace("return %s", add("s", "a", "r") + "\nreturn %s")
    assert "%s = " in body
    assert found("SG102", LAYER, body) == []


def test_silent_where_an_end_was_filled_in() -> None:
    """Such an op has no id that scoping could change: here the sine, between two ops of group 0, of
    which the first is combined with another group's."""
    plain = function(sine("a", "x"), permute("b", "w", 1), add("r", "a", "b"), name="plain")
    body = function(permute("y", "x", 0), call("s", "plain", "y", "w"), permute("r", "s", 0))
    assert [finding.code for finding in asked(plain, body)] == ["SG101", "SG105"]


def test_silent_where_the_gap_is_the_functions_own() -> None:
    torn = function(permute("y", "x", 0), add("s", "y", "w"), permute("r", "s", 0), name="layer")
    [finding] = asked(torn, function(call("r", "layer", "x", "w")))
    assert finding.code == "SG101"
