"""`lint_module`: the order of findings, targets, rules, and what it leaves alone."""

from __future__ import annotations

import pytest
from schedscope._mlir import ir, make_context
from schedscope.lint.checker import COMPILERS, TargetName, lint_module
from schedscope.lint.diagnostic import Severity
from schedscope.lint.rules import gap, malformed

from tests.lint.rules.asking import asked
from tests.lint.rules.test_waiting import CROSSED
from tests.lint_model.modules import add, dot, function, gather, module_of, permute

UNREAD = add("u", "x", "w", "layer0")


def test_the_worst_comes_first_whatever_its_code() -> None:
    body = function(UNREAD, gather("a", "u", 0), gather("b", "w", 1), add("r", "a", "b"))
    found = [(finding.severity, finding.code) for finding in asked(body)]
    assert found == [(Severity.ERROR, "SG105"), (Severity.WARNING, "SG103")]


def test_what_is_true_of_both_targets_is_there_once() -> None:
    body = function(gather("y", "x", 0), add("s", "y", "w"), gather("r", "s", 0))
    [finding] = asked(body, target="all")
    assert finding.targets == ("gpu", "tpu")
    [finding] = asked(body, target="v5e")
    assert finding.targets == ("v5e",)


@pytest.mark.parametrize(("family", "compiler"), [("gpu", "gpu"), ("tpu", "v5e")])
def test_a_family_is_the_compiler_that_stands_for_it(
    family: TargetName, compiler: TargetName
) -> None:
    assert COMPILERS[family] == compiler
    for body in (CROSSED, function(permute("y", "x", 0), dot("r", "y", "w", 0))):
        by_name = [finding.message for finding in asked(body, target=compiler)]
        assert by_name
        assert by_name == [finding.message for finding in asked(body, target=family)]


def test_only_the_rules_that_are_given_are_asked() -> None:
    body = function(UNREAD, permute("y", "u", 0), add("s", "y", "w"), permute("r", "s", 0))
    with make_context():
        module = ir.Module.parse(module_of(body))
        before = str(module)
        for rule in (gap.RULE, malformed.RULE):
            found = lint_module(module, rules=[rule])
            assert [finding.code for finding in found] == [rule.code]
        assert lint_module(module, rules=[]) == []
        assert str(module) == before
