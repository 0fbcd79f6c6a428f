"""What the fixture gives a test. Needs jax."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from schedscope import _jax
from schedscope._mlir import ir
from schedscope.errors import InputError
from schedscope.lint.checker import TargetName, lint_module
from schedscope.lint.configuration import configuration
from schedscope.lint.diagnostic import Diagnostic, Severity
from schedscope.lint.render import Linted, text
from schedscope.lint.rule import Rule
from schedscope.lint.selection import select
from schedscope.scoping.scope import name_of


class Watcher:
    """Lints modules as jax makes them; what it finds it keeps until `check`."""

    def __init__(self, target: TargetName, rules: tuple[Rule, ...]) -> None:
        self.target = target
        self._rules = rules
        self._linted: list[Linted] = []

    @property
    def findings(self) -> list[Diagnostic]:
        """Errors, warnings and notes of all modules so far."""
        return [finding for module in self._linted for finding in module.findings]

    def allow(self, *rules: str) -> None:
        """Takes rules out, for what is lowered from here on: codes, their beginnings, or names."""
        self._rules = select((), rules, self._rules)

    def lowered(self, module: ir.Module) -> None:
        """jax has made `module`. Nothing is raised: jax is in the midst of its work."""
        name = name_of(module) or "a module without a name"
        try:
            self._linted.append(Linted(name, lint_module(module, self.target, self._rules)))
        except InputError as error:
            self._linted.append(Linted(name, problem=f"{name}: error: {error}"))

    def check(self) -> None:
        """Fails the test if XLA would refuse one of the modules."""
        __tracebackhide__ = True
        refused = [Linted(each.name, _errors(each)) for each in self._linted if _errors(each)]
        problems = [each.problem for each in self._linted if each.problem is not None]
        if refused or problems:
            shown = [text.render(refused)] if refused else []
            pytest.fail("\n".join([*problems, *shown]), pytrace=False)


def _errors(module: Linted) -> list[Diagnostic]:
    return [each for each in module.findings if each.severity is Severity.ERROR]


@contextmanager
def watching(directory: Path) -> Iterator[Watcher]:
    """A watcher as the pyproject.toml of `directory` configures it.

    Raises:
      UnsupportedJax, UsageError: the test cannot be watched, or not as configured.
    """
    wanted = configuration(directory)
    _jax.check()
    watcher = Watcher(wanted.target, select(wanted.select, wanted.ignore))
    _jax.watch(watcher.lowered)
    try:
        yield watcher
    finally:
        _jax.unwatch(watcher.lowered)
