"""Which rules are asked."""

from __future__ import annotations

import re

import pytest
from schedscope.errors import UsageError
from schedscope.lint.rule import Rule
from schedscope.lint.selection import select

from tests.lint.render.findings import RULES


def codes(rules: tuple[Rule, ...]) -> list[str]:
    return [rule.code for rule in rules]


@pytest.mark.parametrize(
    ("selected", "ignored", "chosen"),
    [
        ([], [], ["SG101", "SG201", "SG301"]),
        (["SG101"], [], ["SG101"]),
        (["SG2", "sg1"], [], ["SG101", "SG201"]),
        (["dropped-group"], [], ["SG201"]),
        ([], ["odd-key", "SG1"], ["SG201"]),
        (["SG"], ["SG201"], ["SG101", "SG301"]),
        (["SG201"], ["SG2"], []),
    ],
)
def test_selection(selected: list[str], ignored: list[str], chosen: list[str]) -> None:
    assert codes(select(selected, ignored, RULES)) == chosen


@pytest.mark.parametrize("word", ["SG9", "gap", "SG1011", ""])
def test_a_word_that_names_no_rule(word: str) -> None:
    message = f"{word!r} names no rule; there are SG101 gap-in-group, SG201 dropped-group"
    with pytest.raises(UsageError, match=re.escape(message)):
        select([word], [], RULES)
    with pytest.raises(UsageError, match=re.escape(message)):
        select([], [word], RULES)
