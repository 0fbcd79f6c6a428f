"""What jax lowered or compiled before the hook was installed."""

from __future__ import annotations

import logging

import jax
from schedscope import ScopeReport, hook

from tests.hook.logged import Logged
from tests.hook.programs import X, bits, dependent, groups

ADVICE = (
    "schedscope: functions that jax compiled before install() stay as they are; "
    "jax.clear_caches() makes jax compile them again"
)


def test_a_compiled_function_keeps_its_executable() -> None:
    reports: list[ScopeReport] = []
    program = dependent()
    before = bits(program(X))
    hook.install(on_report=reports.append)
    assert bits(program(X)) == before
    assert reports == []


def test_a_compiled_function_shows_the_scoped_module() -> None:
    program = dependent()
    program(X)
    hook.install()
    assert groups(program.lower(X)) == ["0", "1"]


def test_a_compiled_function_is_scoped_for_other_shapes() -> None:
    reports: list[ScopeReport] = []
    program = dependent()
    program(X)
    hook.install(on_report=reports.append)
    program(X[:2])
    assert [each.changed for each in reports] == [True]


def test_what_was_lowered_is_scoped_when_it_is_compiled() -> None:
    lowered = dependent().lower(X)
    hook.install()
    assert groups(lowered) == ["0"]
    lowered.compile()
    assert groups(lowered) == ["0", "1"]


def test_it_says_what_to_do_about_compiled_functions(logged: Logged) -> None:
    program = dependent()
    program(X)
    hook.install()
    assert logged.at(logging.INFO) == [ADVICE]


def test_it_says_nothing_where_nothing_was_compiled(logged: Logged) -> None:
    jax.clear_caches()
    hook.install()
    assert logged.at(logging.INFO) == []


def test_it_says_nothing_when_the_options_are_replaced(logged: Logged) -> None:
    jax.clear_caches()
    hook.install()
    program = dependent()
    program(X)
    before = logged.at(logging.INFO)
    hook.install(on_report=print)
    assert ADVICE not in before
    assert logged.at(logging.INFO) == before
