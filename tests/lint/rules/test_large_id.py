"""SG104, too-large-id."""

from __future__ import annotations

import pytest
from schedscope.lint.checker import TargetName
from schedscope.lint.diagnostic import Severity
from schedscope.xla.targets import TARGETS

from tests.lint.rules.asking import found
from tests.lint_model.modules import add, dot, function, gather, permute

BIG = 2**31


def test_an_id_of_more_than_31_bits() -> None:
    [finding] = found("SG104", function(permute("r", "x", BIG)))
    assert finding.severity is Severity.ERROR
    assert finding.message == f"group id {BIG} is too large: XLA:GPU reads ids below {BIG}"
    assert (finding.groups, finding.fixable) == ((BIG,), "schedscope fix")


@pytest.mark.parametrize("target", ["gpu", "v5e"])
def test_the_largest_that_can_be_read(target: TargetName) -> None:
    limit = TARGETS[target].id_limit
    for group, expected in ((limit - 1, []), (limit, [(limit,)])):
        body = function(gather("y", "x", group), dot("r", "y", "w", group))
        told = found("SG104", body, target=target)
        assert [finding.groups for finding in told] == expected


def test_where_no_op_of_the_group_is_read_it_is_a_warning() -> None:
    [finding] = found("SG104", function(add("r", "x", "w", BIG)))
    assert finding.severity is Severity.WARNING


def test_each_id_once_at_an_op_that_is_read() -> None:
    body = function(add("s", "x", "w", BIG), permute("t", "s", BIG), permute("r", "t", BIG))
    [finding] = found("SG104", body)
    assert finding.severity is Severity.ERROR
    assert finding.spot.op == "stablehlo.collective_permute"
