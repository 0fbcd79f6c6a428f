"""Somebody else wraps the same functions of jax, above the hook or below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import pytest
from jax._src import compiler
from jax._src.interpreters import mlir
from schedscope import ScopeReport, hook
from schedscope.attendant import Attendant

from tests.hook.programs import X, dependent, groups

OWN = mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached


class Others:
    """Wrappers that count what passes by; they give no signature of their own."""

    def __init__(self) -> None:
        self.calls = 0
        self.below = self._now()

    def wrap(self) -> None:
        self.below = self._now()
        mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached = map(self._around, self.below)

    def unwrap(self) -> None:
        mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached = self.below

    def _around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def counting(*args: Any, **options: Any) -> Any:
            self.calls += 1
            return function(*args, **options)

        return counting

    @staticmethod
    def _now() -> tuple[Callable[..., Any], Callable[..., Any]]:
        return mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached


@pytest.fixture
def others() -> Iterator[Others]:
    yield Others()
    hook.uninstall()
    mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached = OWN


def test_the_hook_works_above_them(others: Others) -> None:
    others.wrap()
    hook.install()
    assert groups(dependent().lower(X)) == ["0", "1"]
    assert others.calls == 1


def test_the_hook_works_below_them(others: Others) -> None:
    hook.install()
    others.wrap()
    assert groups(dependent().lower(X)) == ["0", "1"]
    assert others.calls == 1


def test_uninstalling_leaves_what_is_above(others: Others) -> None:
    hook.install()
    others.wrap()
    above = mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached
    hook.uninstall()
    assert (mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached) == above


def test_uninstalled_below_them_the_hook_sleeps(others: Others) -> None:
    hook.install()
    others.wrap()
    hook.uninstall()
    assert groups(dependent().lower(X)) == ["0"]
    assert others.calls == 1


@pytest.mark.parametrize("while_away", ["they stay", "they go", "they come back"])
def test_installed_again_it_works_once(
    others: Others, while_away: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attended: list[object] = []
    attend = Attendant.attend

    def counted(self: Attendant, module: Any) -> bool:
        attended.append(module)
        return attend(self, module)

    monkeypatch.setattr(Attendant, "attend", counted)
    hook.install()
    others.wrap()
    hook.uninstall()
    if while_away != "they stay":
        others.unwrap()
    if while_away == "they come back":
        others.wrap()
    hook.install()
    lowered = dependent().lower(X)
    assert groups(lowered) == ["0", "1"]
    assert len(attended) == 1
    lowered.compile()
    assert len(attended) == 2


def test_installed_again_after_jaxs_own_were_put_back(others: Others) -> None:
    """They were there before the hook, and leave with it still installed."""
    others.wrap()
    hook.install()
    others.unwrap()
    hook.uninstall()
    hook.install()
    assert groups(dependent().lower(X)) == ["0", "1"]


def test_installing_over_an_unknown_wrapper_replaces_the_options(others: Others) -> None:
    reports: list[ScopeReport] = []
    hook.install()
    below = mlir.lower_jaxpr_to_module
    mlir.lower_jaxpr_to_module = lambda *args, **options: below(*args, **options)
    hook.install(on_report=reports.append)
    assert groups(dependent().lower(X)) == ["0", "1"]
    assert len(reports) == 1


def test_uninstalls_after_jaxs_lists_were_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    hook.install()
    handlers = compiler._XLA_RUNTIME_ERROR_HANDLERS
    kept = handlers[:-1]
    handlers.clear()
    hook.uninstall()
    assert mlir.lower_jaxpr_to_module is OWN[0]
    handlers.extend(kept)
