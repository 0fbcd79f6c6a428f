"""`fix` scopes one lowered function by jax's public API."""

from __future__ import annotations

import logging
from typing import Any

import jax
import pytest
from schedscope import ScopeOptions, ScopeReport, hook

from tests.hook.internals import internals
from tests.hook.logged import Logged
from tests.hook.programs import X, bits, dependent, groups, independent, plain


def test_it_returns_what_it_got_with_its_module_scoped() -> None:
    lowered = dependent().lower(X)
    assert hook.fix(lowered) is lowered
    assert groups(lowered) == ["0", "1"]


def test_nothing_is_installed() -> None:
    before = internals()
    hook.fix(dependent().lower(X))
    assert internals() == before
    assert groups(dependent().lower(X)) == ["0"]


def test_twice_is_once() -> None:
    lowered = hook.fix(dependent().lower(X))
    once = lowered.as_text(debug_info=True)
    reports: list[ScopeReport] = []
    hook.fix(lowered, on_report=reports.append)
    assert lowered.as_text(debug_info=True) == once
    assert [each.changed for each in reports] == [False]


def test_jax_hands_the_fixed_module_out_again() -> None:
    program = dependent()
    hook.fix(program.lower(X))
    lowered = program.lower(X)
    assert groups(hook.fix(lowered)) == ["0", "1"]


def test_what_is_compiled_is_the_fixed_module() -> None:
    program = dependent()
    before = bits(dependent()(X))
    lowered = hook.fix(program.lower(X))
    compiled = lowered.compile()
    assert bits(compiled(X)) == before


def test_options_are_the_passs() -> None:
    lowered = independent().lower(X)
    assert groups(hook.fix(lowered)) == ["0"]
    assert groups(hook.fix(lowered, ScopeOptions(every_call_site=True))) == ["0", "1"]


def test_the_callback_gets_the_report() -> None:
    reports: list[ScopeReport] = []
    hook.fix(dependent().lower(X), on_report=reports.append)
    assert [(each.module, each.changed) for each in reports] == [("jit_dependent", True)]


def test_a_function_without_groups_is_untouched() -> None:
    lowered = plain().lower(X)
    before = lowered.as_text(debug_info=True)
    reports: list[ScopeReport] = []
    assert hook.fix(lowered, on_report=reports.append).as_text(debug_info=True) == before
    assert reports == []


def test_under_the_hook_there_is_nothing_left_to_do() -> None:
    reports: list[ScopeReport] = []
    hook.install()
    hook.fix(dependent().lower(X), on_report=reports.append)
    assert [each.changed for each in reports] == [False]


def test_a_module_that_cannot_be_understood_is_left_with_a_warning(logged: Logged) -> None:
    lowered = dependent("no number").lower(X)
    before = lowered.as_text(debug_info=True)
    assert hook.fix(lowered).as_text(debug_info=True) == before
    [line] = logged.at(logging.WARNING)
    assert line.startswith("schedscope: jit_dependent is left to XLA as it is: ")


@pytest.mark.parametrize(
    "make", [dependent, lambda: dependent().lower(X).compile(), lambda: "text"]
)
def test_something_else_is_a_type_error(make: Any) -> None:
    something = make()
    with pytest.raises(TypeError, match=r"jax\.jit\(f\)\.lower\(\.\.\.\) returns") as caught:
        hook.fix(something)
    assert f"got a {type(something).__name__}" in str(caught.value)


def test_a_lowering_without_stablehlo_is_a_type_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax.stages.Lowered, "compiler_ir", lambda self, dialect: None)
    with pytest.raises(TypeError, match="lowered to StableHLO, and this one has None"):
        hook.fix(dependent().lower(X))
