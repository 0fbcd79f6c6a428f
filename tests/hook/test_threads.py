"""Several threads lower and compile at once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import pytest
from schedscope import ScopeOptions, ScopeReport, _jax, hook, scope_module

from tests.hook.internals import internals
from tests.hook.programs import X, bits, dependent, groups, make_layer

THREADS = 6


def together(work: Callable[[int], object]) -> list[object]:
    """What each thread's `work` returns; all begin at the same moment."""
    barrier = threading.Barrier(THREADS)

    def begin(number: int) -> object:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


def chain(length: int) -> Callable[[jax.Array], jax.Array]:
    """As many dependent calls; named after their number."""
    layer = make_layer()

    def calls(x: jax.Array) -> jax.Array:
        for _ in range(length):
            x = layer(x)
        return x

    calls.__name__ = f"calls_{length}"
    return calls


def test_different_functions() -> None:
    before = [bits(jax.jit(chain(2 + number))(X)) for number in range(THREADS)]
    reports: list[ScopeReport] = []
    hook.install(on_report=reports.append)
    after = together(lambda number: bits(jax.jit(chain(2 + number))(X)))
    assert after == before
    assert Counter(each.module for each in reports) == {
        f"jit_calls_{2 + number}": 1 for number in range(THREADS)
    }
    assert {each.module: len(each.groups) for each in reports} == {
        f"jit_calls_{2 + number}": 2 + number for number in range(THREADS)
    }


def test_one_lowered_function() -> None:
    """Lowered before, so that it is scoped while all compile it."""
    before = bits(dependent()(X))
    lowered = dependent().lower(X)
    reports: list[ScopeReport] = []
    hook.install(on_report=reports.append)
    assert together(lambda _: bits(lowered.compile()(X))) == [before] * THREADS
    assert [each.changed for each in reports] == [True]
    assert groups(lowered) == ["0", "1"]


def test_a_module_is_rewritten_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_it: list[int] = []
    most = 0

    def slow(module: Any, options: ScopeOptions) -> ScopeReport:
        nonlocal most
        at_it.append(threading.get_ident())
        most = max(most, len(at_it))
        time.sleep(0.05)
        at_it.remove(threading.get_ident())
        return scope_module(module, options)

    monkeypatch.setattr("schedscope.attendant.scope_module", slow)
    lowered = dependent().lower(X)
    together(lambda _: hook.fix(lowered))
    assert most == 1


def test_compiling_waits_for_the_thread_that_rewrites(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(module: Any, options: ScopeOptions) -> ScopeReport:
        time.sleep(0.2)
        return scope_module(module, options)

    monkeypatch.setattr("schedscope.attendant.scope_module", slow)
    lowered = dependent().lower(X)
    hook.install()
    seen = together(lambda _: lowered.compile().as_text() and groups(lowered))
    assert seen == [["0", "1"]] * THREADS


def test_one_jitted_function() -> None:
    before = bits(dependent()(X))
    program = dependent()
    reports: list[ScopeReport] = []
    hook.install(on_report=reports.append)
    assert together(lambda _: bits(program(X))) == [before] * THREADS
    assert all(len(each.groups) == 2 for each in reports)
    assert groups(program.lower(X)) == ["0", "1"]


def test_one_lowered_function_is_fixed_once() -> None:
    lowered = dependent().lower(X)
    reports: list[ScopeReport] = []
    together(lambda _: hook.fix(lowered, on_report=reports.append))
    assert sorted(each.changed for each in reports) == [False] * (THREADS - 1) + [True]
    assert groups(lowered) == ["0", "1"]


def test_installing_and_uninstalling_while_others_lower() -> None:
    before = internals()

    def work(number: int) -> None:
        for _ in range(20):
            if number == 0:
                hook.install(ScopeOptions())
                hook.uninstall()
            else:
                assert groups(dependent().lower(X)) in (["0"], ["0", "1"])

    together(work)
    assert internals() == before


def test_installing_from_several_threads_wraps_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before = internals()
    wrapped = []
    wrap = _jax._Seam.wrap

    def slow(self: Any) -> None:
        wrapped.append(self.name)
        time.sleep(0.05)
        wrap(self)

    monkeypatch.setattr(_jax._Seam, "wrap", slow)
    together(lambda _: hook.install())
    assert sorted(wrapped) == ["compile_or_get_cached", "lower_jaxpr_to_module"]
    hook.uninstall()
    assert internals() == before


@pytest.mark.parametrize("where", ["lowered", "compiling"])
def test_uninstalling_at_the_worst_moment(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """jax's own function uninstalls it: as another thread would, in the middle."""
    from jax._src import compiler
    from jax._src.interpreters import mlir

    owner, name = {
        "lowered": (mlir, "lower_jaxpr_to_module"),
        "compiling": (compiler, "compile_or_get_cached"),
    }[where]
    own = getattr(owner, name)

    def uninstalling(
        module_name: object, jaxpr: object, *args: object, **options: object
    ) -> object:
        hook.uninstall()
        return own(module_name, jaxpr, *args, **options)

    def uninstalling_too(
        backend: object, computation: object, *args: object, **options: object
    ) -> object:
        hook.uninstall()
        return own(backend, computation, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, uninstalling if where == "lowered" else uninstalling_too)
        hook.install()
        dependent()(X)
