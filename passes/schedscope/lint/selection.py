"""Which rules are asked: by code, by the beginning of a code, or by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schedscope.errors import UsageError
from schedscope.lint.rule import Rule
from schedscope.lint.rules import RULES


def select(
    selected: Iterable[str], ignored: Iterable[str], rules: Sequence[Rule] = RULES
) -> tuple[Rule, ...]:
    """The rules that `selected` names, all where it is empty, without those that `ignored` names.

    Raises:
      UsageError: a word names no rule.
    """
    chosen = _named(selected, rules) or {rule.code for rule in rules}
    left_out = _named(ignored, rules)
    return tuple(rule for rule in rules if rule.code in chosen - left_out)


def named(word: str, rules: Sequence[Rule] = RULES) -> list[Rule]:
    """The rules that `word` names; it may be in small letters.

    Raises:
      UsageError: there is none.
    """
    found = [rule for rule in rules if rule.code == word.upper() or rule.name == word.lower()]
    if not found and word:
        found = [rule for rule in rules if rule.code.startswith(word.upper())]
    if not found:
        known = ", ".join(f"{rule.code} {rule.name}" for rule in rules)
        raise UsageError(f"{word!r} names no rule; there are {known}")
    return found


def _named(words: Iterable[str], rules: Sequence[Rule]) -> set[str]:
    return {rule.code for word in words for rule in named(word, rules)}
