"""Modules without groups: lint says nothing."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from schedscope._mlir import ir, make_context
from schedscope.lint.checker import TargetName, lint_module

from tests.cases.kit import Family
from tests.cases.registry import lower_case
from tests.lint.examples import EXAMPLES
from tests.lint.samples import UNMARKED

TARGET_NAMES: tuple[TargetName, ...] = get_args(TargetName)
_ID = re.compile(r'_scheduling_group_id = "[^"]*"')


def codes(text: str, target: TargetName) -> list[str]:
    with make_context():
        return [each.code for each in lint_module(ir.Module.parse(text), target)]


def example(code: str) -> str:
    functions = "\n".join(EXAMPLES[code].found)
    return f"module attributes {{mhlo.num_partitions = 2 : i32}} {{\n{functions}\n}}"


@pytest.mark.parametrize("target", TARGET_NAMES)
@pytest.mark.parametrize("code", EXAMPLES)
def test_examples_of_the_rules_without_their_groups(code: str, target: TargetName) -> None:
    text = _ID.sub('_xla_other = "0"', example(code))
    assert "_xla_other" in text
    assert codes(text, target) == []


@pytest.mark.parametrize("target", TARGET_NAMES)
@pytest.mark.parametrize("annotation", ["noop", ":1"])
@pytest.mark.parametrize("code", EXAMPLES)
def test_annotations_that_name_no_group(code: str, annotation: str, target: TargetName) -> None:
    text = _ID.sub(f'_scheduling_group_id = "{annotation}"', example(code))
    assert codes(text, target) == []


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_a_sample_without_groups(target: TargetName) -> None:
    assert codes(UNMARKED, target) == []


@pytest.mark.parametrize("family", ["gpu", "tpu"])
def test_what_jax_lowers_without_groups(family: Family) -> None:
    assert codes(lower_case("unannotated", family).text, "all") == []
