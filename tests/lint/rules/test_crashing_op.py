"""SG206, crashing-op."""

from __future__ import annotations

import pytest
from schedscope.lint.checker import TargetName
from schedscope.lint.diagnostic import Severity

from tests.lint.rules.asking import found
from tests.lint_model.modules import GROUPS, UNARY, function, permute, sine, tag

ALL_TO_ALL = (
    '%r = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, '
    f"split_count = 2 : i64, replica_groups = {GROUPS}, {tag(0)}}} : {UNARY}"
)


@pytest.mark.parametrize("target", ["gpu", "gpu-0.10"])
def test_an_all_to_all(target: TargetName) -> None:
    [finding] = found("SG206", function(ALL_TO_ALL), target=target)
    assert finding.severity is Severity.WARNING
    assert finding.message == (
        "group 0 holds an all_to_all, at which XLA:GPU of jax 0.10.2 crashes"
    )
    assert finding.groups == (0,)


def test_silent_without_an_id() -> None:
    bare = ALL_TO_ALL.replace(f", {tag(0)}", "").replace("%r", "%a")
    assert "scheduling" not in bare
    assert found("SG206", function(bare, permute("r", "a", 0))) == []


def test_silent_where_nobody_uses_it() -> None:
    body = function(ALL_TO_ALL.replace("%r", "%unused"), sine("s", "x"), permute("r", "s", 0))
    assert found("SG206", body) == []


def test_silent_on_a_tpu() -> None:
    assert found("SG206", function(ALL_TO_ALL), target="tpu") == []
