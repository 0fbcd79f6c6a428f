"""SG105, merged-collectives."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, found, path
from tests.lint_model.modules import add, function, gather, permute


def test_independent_collectives_of_two_groups() -> None:
    [finding] = asked(function(gather("a", "x", 0), gather("b", "w", 1), add("r", "a", "b")))
    assert (finding.code, finding.severity) == ("SG105", Severity.ERROR)
    assert finding.message == "2 all_gather ops of the groups 0, 1 will be combined into one"
    assert path(finding) == ["all_gather", "all_gather"]
    assert (finding.groups, finding.fixable) == ((0, 1), "schedscope fix")
    assert "combiner_key" in (finding.help or "")


def test_silent_within_one_group() -> None:
    body = function(gather("a", "x", 0), gather("b", "w", 0), add("r", "a", "b"))
    assert found("SG105", body) == []


def test_silent_where_one_needs_the_other() -> None:
    assert found("SG105", function(gather("a", "x", 0), gather("r", "a", 1))) == []


def test_silent_where_the_keys_differ() -> None:
    body = function(
        permute("a", "x", 0, key="a"), permute("b", "w", 1, key="b"), add("r", "a", "b")
    )
    assert found("SG105", body) == []


def test_silent_on_a_tpu() -> None:
    body = function(gather("a", "x", 0), gather("b", "w", 1), add("r", "a", "b"))
    assert found("SG105", body, target="tpu") == []
