"""`on_report` and the log."""

from __future__ import annotations

import logging
import threading

import jax
import pytest
from schedscope import ScopeReport, hook, report

from tests.cases import registry
from tests.hook.logged import Logged
from tests.hook.programs import X, bits, dependent, groups, independent, plain

STRANGE = "no number"


@pytest.fixture
def reports() -> list[ScopeReport]:
    return []


def test_each_module_is_reported_once(reports: list[ScopeReport]) -> None:
    hook.install(on_report=reports.append)
    program = dependent()
    lowered = program.lower(X)
    lowered.compile()
    program.lower(X).compile()
    program(X)
    program(X)
    assert [each.module for each in reports] == ["jit_dependent"]


def test_a_module_that_needs_nothing_is_reported(reports: list[ScopeReport]) -> None:
    hook.install(on_report=reports.append)
    independent()(X)
    assert [(each.module, each.changed) for each in reports] == [("jit_independent", False)]


def test_a_module_without_groups_is_not_reported(reports: list[ScopeReport]) -> None:
    hook.install(on_report=reports.append)
    plain()(X)
    assert reports == []


def test_a_report_can_be_read_when_the_module_is_gone(reports: list[ScopeReport]) -> None:
    hook.install(on_report=reports.append)
    dependent()(X)
    jax.clear_caches()
    assert [(group.id, group.original) for group in reports[0].groups] == [(0, 0), (1, 0)]


def test_the_callback_runs_on_the_thread_that_compiles() -> None:
    threads: list[threading.Thread] = []
    hook.install(on_report=lambda _: threads.append(threading.current_thread()))
    thread = threading.Thread(target=lambda: dependent()(X))
    thread.start()
    thread.join()
    assert threads == [thread]


def test_the_callback_may_use_jax(reports: list[ScopeReport]) -> None:
    def compile_another(made: ScopeReport) -> None:
        reports.append(made)
        if made.module == "jit_dependent":
            independent()(X)

    hook.install(on_report=compile_another)
    dependent()(X)
    assert [each.module for each in reports] == ["jit_dependent", "jit_independent"]


def test_what_the_callback_raises_is_logged(logged: Logged) -> None:
    before = bits(dependent()(X))
    hook.install(on_report=lambda _: 1 / 0)
    program = dependent()
    assert bits(program(X)) == before
    assert groups(program.lower(X)) == ["0", "1"]
    assert logged.at(logging.ERROR) == ["schedscope: jit_dependent: on_report failed"]


def test_a_changed_module_is_logged(logged: Logged) -> None:
    hook.install()
    dependent()(X)
    [line] = [each for each in logged.at(logging.INFO) if "jit_dependent" in each]
    assert "schedscope: jit_dependent: layer: 2 instances, group 0 -> 1 at " in line
    assert logged.at(logging.WARNING) == []


def test_an_unchanged_module_is_not_logged(logged: Logged) -> None:
    hook.install()
    independent()(X)
    assert [each for each in logged.at(logging.INFO) if "jit_independent" in each] == []


def test_groups_are_spelled_out_for_the_log_only_if_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(report, "_renumbering_lines", asked.append)
    hook.install()
    assert groups(dependent().lower(X)) == ["0", "1"]
    assert asked == []


def test_a_report_that_fails_does_not_stop_the_program(
    monkeypatch: pytest.MonkeyPatch, logged: Logged, reports: list[ScopeReport]
) -> None:
    monkeypatch.setattr(report, "_renumbering_lines", lambda _: 1 / 0)
    hook.install(on_report=reports.append)
    assert groups(dependent().lower(X)) == ["0", "1"]
    assert logged.at(logging.ERROR) == [
        "schedscope: jit_dependent: the report failed, a bug in schedscope"
    ]
    assert len(reports) == 1


def test_a_group_that_xla_may_have_run_as_one_is_a_warning(logged: Logged) -> None:
    hook.install()
    registry.lower_case("shared_helpers", "gpu")
    [line] = logged.at(logging.WARNING)
    assert line.startswith("schedscope: jit_shared_helpers: ")
    assert "group 1 is now groups 1, 2: its calls depend on each other" in line


def test_a_module_that_cannot_be_understood_runs_as_it_is(
    logged: Logged, reports: list[ScopeReport]
) -> None:
    before = bits(dependent()(X))
    hook.install(on_report=reports.append)
    program = dependent(STRANGE)
    assert groups(program.lower(X)) == [STRANGE]
    assert bits(program(X)) == before
    [line] = logged.at(logging.WARNING)
    assert line.startswith("schedscope: jit_dependent is left to XLA as it is: ")
    assert STRANGE in line
    assert "programs.py:" in line
    assert reports == []


def test_a_bug_in_the_pass_does_not_stop_the_program(
    monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("broken")

    monkeypatch.setattr("schedscope.attendant.scope_module", broken)
    hook.install()
    dependent()(X)
    assert logged.at(logging.WARNING) == [
        "schedscope: jit_dependent could not be scoped, which is a bug in schedscope: "
        "KeyError('broken')"
    ]


def test_a_bug_in_the_first_look_does_not_stop_the_program(
    monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    monkeypatch.setattr("schedscope.attendant.holds_annotations", lambda _: 1 / 0)
    hook.install()
    dependent()(X)
    assert "could not be scoped" in logged.at(logging.WARNING)[0]
