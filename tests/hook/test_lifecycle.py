"""Installed, everything is scoped; uninstalled, nothing is."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import jax
import pytest
from jax._src import compiler, source_info_util
from jax._src.interpreters import mlir
from schedscope import ScopeOptions, ScopeReport, _jax, hook

from tests.hook.internals import internals
from tests.hook.programs import X, dependent, groups, independent, plain

EACH = ScopeOptions(every_call_site=True)


def _text(program: Any, installed: bool) -> str:
    """Both ways from one line, which is in the text."""
    with hook.installed() if installed else nullcontext():
        return program.lower(X).as_text(debug_info=True)


def test_not_installed_nothing_is_scoped() -> None:
    assert groups(dependent().lower(X)) == ["0"]


def test_lowering_is_scoped() -> None:
    hook.install()
    assert groups(dependent().lower(X)) == ["0", "1"]


def test_the_ordinary_call_path_compiles_the_scoped_module() -> None:
    reports: list[ScopeReport] = []
    hook.install(on_report=reports.append)
    dependent()(X)
    assert [(each.module, each.changed) for each in reports] == [("jit_dependent", True)]


def test_a_function_lowered_before_is_lowered_again() -> None:
    program = dependent()
    assert groups(program.lower(X)) == ["0"]
    hook.install()
    assert groups(program.lower(X)) == ["0", "1"]


def test_a_function_lowered_within_is_lowered_again_afterwards() -> None:
    program = dependent()
    with hook.installed():
        assert groups(program.lower(X)) == ["0", "1"]
    assert groups(program.lower(X)) == ["0"]


def test_what_was_lowered_within_stays_scoped() -> None:
    with hook.installed():
        lowered = dependent().lower(X)
    assert groups(lowered) == ["0", "1"]


def test_a_module_without_groups_is_untouched() -> None:
    program = plain()
    unhooked, hooked = (_text(program, installed) for installed in (False, True))
    assert hooked == unhooked


def test_a_module_that_needs_nothing_is_untouched() -> None:
    program = independent()
    unhooked, hooked = (_text(program, installed) for installed in (False, True))
    assert hooked == unhooked


def test_options_are_the_passs() -> None:
    hook.install(EACH)
    assert groups(independent().lower(X)) == ["0", "1"]


def test_installing_again_wraps_nothing_again() -> None:
    hook.install()
    once = internals()
    hook.install()
    hook.install(EACH)
    assert internals() == once


def test_installing_again_replaces_the_options() -> None:
    program = independent()
    hook.install()
    assert groups(program.lower(X)) == ["0"]
    hook.install(EACH)
    assert groups(program.lower(X)) == ["0", "1"]
    hook.install()
    assert groups(program.lower(X)) == ["0"]


def test_installing_the_same_again_changes_nothing() -> None:
    reports: list[ScopeReport] = []
    hook.install(on_report=reports.append)
    lowered = dependent().lower(X)
    hook.install(on_report=reports.append)
    lowered.compile()
    assert len(reports) == 1


def test_installing_again_replaces_the_callback() -> None:
    first: list[ScopeReport] = []
    second: list[ScopeReport] = []
    hook.install(on_report=first.append)
    hook.install(on_report=second.append)
    dependent().lower(X)
    assert (len(first), len(second)) == (0, 1)


def test_uninstalling_puts_jaxs_own_objects_back() -> None:
    before = internals()
    hook.install()
    assert all(one != other for one, other in zip(internals(), before, strict=True))
    hook.uninstall()
    assert internals() == before


def test_uninstalling_what_is_not_installed_does_nothing() -> None:
    before = internals()
    hook.uninstall()
    assert internals() == before


def test_one_uninstall_undoes_many_installs() -> None:
    before = internals()
    hook.install()
    hook.install(EACH)
    hook.uninstall()
    assert internals() == before


def test_afterwards_the_outer_options_hold_again() -> None:
    program = independent()
    with hook.installed():
        with hook.installed(EACH):
            assert groups(program.lower(X)) == ["0", "1"]
        assert groups(program.lower(X)) == ["0"]
        assert groups(dependent().lower(X)) == ["0", "1"]


def test_afterwards_the_outer_callback_is_called_again() -> None:
    outer: list[ScopeReport] = []
    inner: list[ScopeReport] = []
    hook.install(on_report=outer.append)
    with hook.installed(on_report=inner.append):
        dependent().lower(X)
    dependent().lower(X)
    assert (len(outer), len(inner)) == (1, 1)


def test_an_exception_within_ends_it_too() -> None:
    before = internals()
    with pytest.raises(ZeroDivisionError), hook.installed():
        raise ZeroDivisionError
    assert internals() == before


def test_the_wrappers_look_like_jaxs_own() -> None:
    before = mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached
    hook.install()
    after = mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached
    assert [each.__name__ for each in after] == [each.__name__ for each in before]
    assert [each.__doc__ for each in after] == [each.__doc__ for each in before]


def test_the_wrappers_are_no_callers_in_locations() -> None:
    """jax is asked about the wrappers' file before, within and afterwards."""
    file = str(_jax.__file__)
    assert source_info_util.is_user_filename(file)
    with hook.installed():
        assert not source_info_util.is_user_filename(file)
    assert source_info_util.is_user_filename(file)


def test_clearing_jaxs_caches_makes_it_compile_again() -> None:
    reports: list[ScopeReport] = []
    program = dependent()
    program(X)
    hook.install(on_report=reports.append)
    program(X)
    assert reports == []
    jax.clear_caches()
    program(X)
    assert [each.changed for each in reports] == [True]
