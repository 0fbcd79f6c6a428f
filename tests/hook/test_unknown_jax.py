"""A jax whose internals are not those that the hook knows is left alone, and named."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import jax
import pytest
from jax._src import compiler, pjit, source_info_util, traceback_util
from jax._src.interpreters import mlir, pxla
from schedscope import UnsupportedJax, hook

from tests.hook.internals import internals
from tests.hook.programs import X, dependent, groups


def _other_lowering(name: str, jaxpr: Any) -> None:
    pass


def _other_compiling(client: Any, computation: Any) -> None:
    pass


class _OtherResult(NamedTuple):
    text: str


CHANGES: list[tuple[object, str, object, str]] = [
    (mlir, "lower_jaxpr_to_module", None, "mlir.lower_jaxpr_to_module is missing"),
    (mlir, "lower_jaxpr_to_module", _other_lowering, "(name, jaxpr), not (module_name, jaxpr)"),
    (compiler, "compile_or_get_cached", None, "compiler.compile_or_get_cached is missing"),
    (compiler, "compile_or_get_cached", _other_compiling, "(client, computation), not (backend,"),
    (pxla, "mlir", object(), "pxla does not call it as mlir.lower_jaxpr_to_module"),
    (pxla, "compiler", object(), "pxla does not call it as compiler.compile_or_get_cached"),
    (mlir, "LoweringResult", _OtherResult, "LoweringResult has no field `module`"),
    (compiler, "_XLA_RUNTIME_ERROR_HANDLERS", (), "_XLA_RUNTIME_ERROR_HANDLERS is missing, or not"),
    (traceback_util, "_exclude_paths", None, "traceback_util._exclude_paths is missing, or not"),
    (
        source_info_util,
        "_exclude_paths",
        None,
        "source_info_util._exclude_paths is missing, or not",
    ),
    (source_info_util, "_exclude_path_regex", print, "_exclude_path_regex is missing, or not"),
    (source_info_util, "is_user_filename", print, "is_user_filename is missing, or not"),
    (pxla, "_cached_lowering_to_hlo", print, "_cached_lowering_to_hlo is missing, or not"),
    (pxla, "_cached_compilation", print, "pxla._cached_compilation is missing, or not"),
    (pjit, "_pjit_lower", None, "pjit._pjit_lower is missing, or not"),
]


@pytest.mark.parametrize(
    ("owner", "name", "other", "problem"), CHANGES, ids=[problem for *_, problem in CHANGES]
)
def test_it_is_refused_and_left_as_it_is(
    owner: object, name: str, other: object, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, other)
        seen = mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached
        with pytest.raises(UnsupportedJax) as caught:
            hook.install()
        assert (mlir.lower_jaxpr_to_module, compiler.compile_or_get_cached) == seen
    assert problem in str(caught.value)
    assert groups(dependent().lower(X)) == ["0"]


@pytest.mark.parametrize("owner", [mlir, compiler])
def test_a_function_that_is_gone_is_named(owner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "lower_jaxpr_to_module" if owner is mlir else "compile_or_get_cached"
    with monkeypatch.context() as patch:
        patch.delattr(owner, name)
        with pytest.raises(UnsupportedJax, match=f"{name} is missing"):
            hook.install()


def test_a_function_imported_by_name_would_not_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "lower_jaxpr_to_module"
    monkeypatch.setattr(pxla, name, mlir.lower_jaxpr_to_module, raising=False)
    with pytest.raises(UnsupportedJax, match="does not call it as"):
        hook.install()


def test_a_module_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "schedscope._jax")
    monkeypatch.delattr("schedscope._jax")
    monkeypatch.setitem(sys.modules, "jax._src.traceback_util", None)
    monkeypatch.delattr("jax._src.traceback_util")
    with pytest.raises(UnsupportedJax, match="traceback_util"):
        hook.install()


def test_the_message_says_which_jax_and_what_else_can_be_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile_or_get_cached", None)
        with pytest.raises(UnsupportedJax) as caught:
            hook.install()
    message = str(caught.value)
    assert f"jax {jax.__version__}, and nothing is installed" in message
    assert "schedscope.hook.fix(lowered) and `schedscope fix` do without it" in message


def test_installing_works_once_jax_is_known_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = internals()
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile_or_get_cached", None)
        with pytest.raises(UnsupportedJax):
            hook.install()
    assert internals() == before
    hook.install()
    assert groups(dependent().lower(X)) == ["0", "1"]


def test_within_a_refused_context_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile_or_get_cached", None)
        with pytest.raises(UnsupportedJax), hook.installed():
            ran.append(True)
    assert ran == []


def test_fix_does_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pxla, "_cached_lowering_to_hlo", pxla._cached_lowering_to_hlo)
    lowered = dependent().lower(X)
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile_or_get_cached", None)
        hook.fix(lowered)
    assert groups(lowered) == ["0", "1"]
