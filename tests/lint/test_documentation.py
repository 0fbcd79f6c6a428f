"""The rules' documentation, in the program and on the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from schedscope.lint.diagnostic import Severity
from schedscope.lint.documentation import page
from schedscope.lint.rule import Rule
from schedscope.lint.rules import RULES

PAGE = Path(__file__).parent.parent.parent / "docs" / "rules.md"
_CODES = {Severity.ERROR: "SG1", Severity.WARNING: "SG2", Severity.NOTE: "SG3"}


def test_the_page_is_what_the_rules_say() -> None:
    assert PAGE.read_text() == page(RULES), "run scripts/write_rules.py"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_is_explained_in_a_fixed_order(rule: Rule) -> None:
    assert rule.code.startswith(_CODES[rule.severity])
    parts = ["Why ", "Example", "What to write instead: ", "Fix: "]
    starts = [rule.doc.find(f"\n\n{part}") for part in parts]
    assert starts == sorted(starts), parts
    assert starts[0] > 0


def test_codes_and_names_are_unique_and_in_order() -> None:
    assert [rule.code for rule in RULES] == sorted({rule.code for rule in RULES})
    assert len({rule.name for rule in RULES}) == len(RULES)
