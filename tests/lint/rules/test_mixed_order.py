"""SG107, mixed-sequence-order."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, attributed, found
from tests.lint_model.modules import function, permute

KEPT = 'keep_original_sequence_order_in_group = "true"'
FIRST, SECOND = permute("y", "x", 1), permute("r", "y", 1)


def test_one_keeps_its_order_and_one_does_not() -> None:
    [finding] = asked(function(attributed(FIRST, KEPT), SECOND))
    assert (finding.code, finding.severity) == ("SG107", Severity.ERROR)
    assert finding.message == (
        "ops of group 1 differ in keep_original_sequence_order_in_group: this one lacks it"
    )
    assert [related.message for related in finding.related] == ["unlike this one"]


def test_it_says_which_of_the_two_is_the_later() -> None:
    [finding] = asked(function(FIRST, attributed(SECOND, KEPT)))
    assert finding.message.endswith(": this one has it")


def test_silent_where_all_or_none_do() -> None:
    assert asked(function(FIRST, SECOND)) == []
    assert asked(function(attributed(FIRST, KEPT), attributed(SECOND, KEPT))) == []


def test_silent_over_two_groups() -> None:
    other = SECOND.replace('id = "1"', 'id = "2"')
    assert asked(function(attributed(FIRST, KEPT), other)) == []


def test_silent_on_a_tpu() -> None:
    body = function(attributed(FIRST, KEPT), SECOND)
    assert found("SG107", body, target="tpu") == []
