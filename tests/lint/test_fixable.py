"""What a finding says of a fix is true: the command removes it."""

from __future__ import annotations

from typing import Literal

import pytest
from schedscope import repair_module, scope_module
from schedscope._mlir import ir, make_context
from schedscope.lint.checker import lint_module
from schedscope.lint.rule import Rule
from schedscope.lint.rules import RULES

from tests.lint.examples import EXAMPLES
from tests.lint_model.modules import module_of

REPAIR = "schedscope fix --repair"
COMMANDS = {
    "SG101": REPAIR,
    "SG102": "schedscope fix",
    "SG104": "schedscope fix",
    "SG105": "schedscope fix",
    "SG106": REPAIR,
    "SG107": REPAIR,
    "SG108": REPAIR,
    "SG109": REPAIR,
    "SG202": REPAIR,
    "SG204": "schedscope fix",
    "SG205": REPAIR,
}
"""By rule; the others are for the user to decide."""


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_command_removes_what_it_is_said_to_remove(code: str) -> None:
    example, command = EXAMPLES[code], COMMANDS.get(code)
    with make_context():
        module = ir.Module.parse(module_of(*example.found))
        [finding] = lint_module(module, example.target)
        assert finding.fixable == command
        if command == "schedscope fix":
            scope_module(module)
        elif command is not None:
            assert example.target in ("gpu", "v5e")
            family: Literal["gpu", "tpu"] = "gpu" if example.target == "gpu" else "tpu"
            repair_module(module, family)
        assert (code in {each.code for each in lint_module(module, example.target)}) != bool(
            command
        )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_documentation_names_the_command(rule: Rule) -> None:
    command = COMMANDS.get(rule.code)
    fix = " ".join(rule.doc.partition("\n\nFix: ")[2].split())
    assert (f"`{command}" in fix) if command else fix.startswith("none")
