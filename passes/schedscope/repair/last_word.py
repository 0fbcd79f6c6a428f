"""The compiler has the last word: what it still refuses after repair is given up, step by step.

Each step depends on the module and on what XLA said alone, so that all hosts of a program give up
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from schedscope._mlir import ir
from schedscope.explanation.refusal import Refusal, refusal_in
from schedscope.repair.seal import at_risk, seal_groups
from schedscope.repair.unreadable import remove
from schedscope.xla.flattening import flatten
from schedscope.xla.targets import Target
from schedscope.xla.xla_view import View, view_of

T = TypeVar("T")

TRIES = 16
"""How many groups are given up one by one, before all are."""


def insist(
    module: ir.Module, target: Target, compile: Callable[[], T], warn: Callable[[str], object]
) -> T:
    """What `compile` returns for `module`, which is changed in place each time XLA refuses it over
    its groups: those that it names are sealed, then all; then those that it names are dropped, and
    last all. Every error about something else is raised."""
    steps = _Steps(module, target)
    while True:
        try:
            return compile()
        except Exception as error:
            refusal = refusal_in(str(error))
            if refusal is None:
                raise
            said = steps.next(refusal)
            if said is None:
                raise
            warn(said)


class _Steps:
    def __init__(self, module: ir.Module, target: Target) -> None:
        self._module = module
        self._target = target
        self._sealed: set[int] = set()
        self._sealed_all = False
        self._dropped = 0

    def next(self, refusal: Refusal) -> str | None:
        """Gives something up, and says what; None where nothing is left."""
        with self._module.context, ir.Location.unknown(self._module.context):
            return self._seal(refusal) or self._drop(refusal)

    def _seal(self, refusal: Refusal) -> str | None:
        named = [group for group in refusal.groups if group not in self._sealed]
        if named and not self._sealed_all:
            self._sealed.update(named)
            if seal_groups(self._view(), named):
                return f"{_words(named)} sealed, for XLA said: {refusal.message}"
        if not self._sealed_all:
            self._sealed_all = True
            if seal_groups(self._view(), None):
                return f"all groups are sealed, for XLA said: {refusal.message}"
        return None

    def _view(self) -> View:
        return view_of(flatten(self._module), self._target)

    def _drop(self, refusal: Refusal) -> str | None:
        view = self._view()
        flat = view.flat
        there = {mark.group for mark in flat.marks.values() if mark.group is not None}
        named: Collection[int] = [group for group in refusal.groups if group in there]
        if not named:
            named = list(dict.fromkeys(at_risk(view)))
        self._dropped += 1
        if not named or self._dropped > TRIES:
            named = sorted(there)
        if not named:
            return None
        for number, mark in flat.marks.items():
            if mark.group in named:
                remove(flat.ops[number])
        return f"{_words(named)} given up, for XLA said: {refusal.message}"


def _words(groups: Collection[int]) -> str:
    if len(groups) == 1:
        return f"group {next(iter(groups))} is"
    return f"groups {', '.join(map(str, groups))} are"
