"""SG107, mixed-sequence-order."""

from __future__ import annotations

from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import asked, attributed, found
from tests.lint_model.modules import add, function, permute

KEPT = 'keep_original_sequence_order_in_group = "true"'
FIRST, SECOND = permute("y", "x", 1), permute("r", "y", 1)


def test_one_keeps_its_order_and_one_does_not() -> None:
    [finding] = asked(function(attributed(FIRST, KEPT), SECOND))
    assert (finding.code, finding.severity) == ("SG107", Severity.ERROR)
    assert finding.message == (
        "ops of group 1 differ in keep_original_sequence_order_in_group: this one lacks it"
    )
    assert [related.message for related in finding.related] == ["unlike this one"]


def test_one_that_is_sure_to_come_later_keeps_it_in_vain() -> None:
    [finding] = asked(function(FIRST, attributed(SECOND, KEPT)))
    assert finding.message.endswith(": this one has it")
    assert (finding.severity, finding.fixable) == (Severity.WARNING, None)


def test_which_of_two_independent_ones_is_later_is_not_sure() -> None:
    apart = permute("z", "w", 1).replace("collective_permute", "all_gather")
    apart = apart.replace(
        "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>",
        "all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
    )
    [finding] = asked(function(FIRST, attributed(apart, KEPT), add("r", "y", "z")))
    assert finding.severity == Severity.ERROR


def test_silent_where_all_or_none_do() -> None:
    assert asked(function(FIRST, SECOND)) == []
    assert asked(function(attributed(FIRST, KEPT), attributed(SECOND, KEPT))) == []


def test_silent_over_two_groups() -> None:
    other = SECOND.replace('id = "1"', 'id = "2"')
    assert asked(function(attributed(FIRST, KEPT), other)) == []


def test_silent_on_a_tpu() -> None:
    body = function(attributed(FIRST, KEPT), SECOND)
    assert found("SG107", body, target="tpu") == []
