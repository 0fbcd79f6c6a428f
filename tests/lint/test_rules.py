"""Every rule is found in its example, and not in its near miss."""

from __future__ import annotations

import pytest
from schedscope._mlir import ir, make_context
from schedscope.lint.checker import TargetName, lint_module
from schedscope.lint.diagnostic import Diagnostic
from schedscope.lint.rules import RULES

from tests.lint.examples import EXAMPLES
from tests.lint_model.modules import add, function, gather


def linted(target: TargetName, *functions: str) -> list[Diagnostic]:
    text = "module attributes {mhlo.num_partitions = 2 : i32} {\n" + "\n".join(functions) + "\n}"
    with make_context():
        return lint_module(ir.Module.parse(text), target)


def test_every_rule_has_an_example() -> None:
    assert list(EXAMPLES) == [rule.code for rule in RULES]


@pytest.mark.parametrize("code", EXAMPLES)
def test_it_is_found(code: str) -> None:
    example = EXAMPLES[code]
    [rule] = [rule for rule in RULES if rule.code == code]
    [finding] = linted(example.target, *example.found)
    assert (finding.code, finding.name, finding.severity) == (code, rule.name, rule.severity)
    assert finding.groups == example.groups
    assert finding.spot.op.removeprefix("stablehlo.") == example.op
    assert finding.targets == (example.target,)


@pytest.mark.parametrize("code", EXAMPLES)
def test_near_miss_is_silent(code: str) -> None:
    example = EXAMPLES[code]
    assert linted(example.target, *example.silent) == []


def test_a_gap_is_told_with_its_path() -> None:
    [finding] = linted("gpu", *EXAMPLES["SG101"].found)
    assert [(each.spot.op, each.message) for each in finding.related] == [
        ("stablehlo.collective_permute", "from here, in group 5"),
        ("stablehlo.add", "through this, outside the group"),
    ]


@pytest.mark.parametrize("target", ["gpu", "v5e", "all"])
def test_a_gap_beside_an_annotation_that_cannot_be_read(target: TargetName) -> None:
    gap = gather("y", "x", 5), add("z", "y", "x"), gather("q", "z", 5)
    found = linted(target, function(*gap, gather("r", "q", "layer0")))
    assert [each.code for each in found] == ["SG101", "SG103"]


def test_whose_a_gap_is_cannot_be_told_beside_one() -> None:
    """Scoping refuses such a module: that it gives the calls ids of their own would be no help."""
    main, layer = EXAMPLES["SG102"].found
    marked = main.replace("return %r", gather("last", "r", "layer0") + "\nreturn %last")
    assert [each.code for each in linted("gpu", marked, layer)] == ["SG101", "SG103"]
