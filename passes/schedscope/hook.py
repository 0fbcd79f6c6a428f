"""The JAX hook: scopes what jax lowers, compiles and exports. Needs jax.

    schedscope.hook.install()            # from here on, in this process

    lowered = schedscope.hook.fix(jax.jit(f).lower(x))      # or one by one, without the hook
    exported = schedscope.hook.fix_exported(jax.export.export(jax.jit(f))(x))

A module that the pass cannot understand is left as it was, with a warning in the log, and XLA
decides: nothing here makes a program fail that would run without.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
from absl import logging
from jax.export import Exported
from jax.stages import Lowered

from schedscope import modules
from schedscope._mlir import ir
from schedscope.attendant import Attendant, OnReport
from schedscope.errors import SchedscopeError, UnsupportedJax
from schedscope.scoping.scope import ScopeOptions


def fix(
    lowered: Lowered,
    options: ScopeOptions | None = None,
    *,
    on_report: OnReport | None = None,
    repair: bool = False,
) -> Lowered:
    """Scopes the scheduling groups of one lowered function, through jax's public API.

    Args:
      lowered: what `jax.jit(f).lower(...)` returns. jax keeps its module and hands the same one out
        for the same function and shapes, so the change is seen there too; a second call finds
        nothing to change. If it was compiled before, jax keeps that executable.
      options: as for `scope_module`.
      on_report: receives the ScopeReport, if the module holds groups.
      repair: whether to repair it, too, for jax's default backend: for XLA:TPU where that is a TPU,
        else for XLA:GPU.

    Returns:
      `lowered` itself, its module scoped in place.

    Raises:
      TypeError: `lowered` is something else.
    """
    if not isinstance(lowered, Lowered):
        raise TypeError(
            f"fix wants what jax.jit(f).lower(...) returns, a {Lowered.__module__}.Lowered, "
            f"and got a {type(lowered).__name__}"
        )
    module = lowered.compiler_ir("stablehlo")
    if not isinstance(module, ir.Module):
        raise TypeError(f"fix wants a function lowered to StableHLO, and this one has {module!r}")
    attendant = _attendant(options, on_report)
    attendant.attend(module)
    if repair:
        attendant.mend(module, "tpu" if jax.default_backend() == "tpu" else "gpu")
    return lowered


def fix_exported(
    exported: Exported, options: ScopeOptions | None = None, *, on_report: OnReport | None = None
) -> Exported:
    """Scopes the scheduling groups of an exported function.

    Args:
      exported: what `jax.export.export` or `jax.export.deserialize` returns.
      options: as for `scope_module`.
      on_report: receives the ScopeReport, if the module holds groups.

    Returns:
      A copy with another module, in the same StableHLO version. Its VJP, where it has one, is
      scoped when it is asked for. `exported` itself where it has none and nothing is to change.

    Raises:
      TypeError: `exported` is something else.
    """
    if not isinstance(exported, Exported):
        raise TypeError(
            "fix_exported wants a jax.export.Exported, as jax.export.export(f)(...) returns, "
            f"and got a {type(exported).__name__}"
        )
    new: dict[str, Any] = {}
    try:
        source = modules.read(exported.mlir_module_serialized, exported.fun_name)
        if _attendant(options, on_report).attend(source.module):
            new["mlir_module_serialized"] = modules.write(source)
    except SchedscopeError as error:
        logging.warning("schedscope: an exported function is left as it is: %s", error)
    make_vjp = exported._get_vjp
    if make_vjp is not None:
        new["_get_vjp"] = lambda primal: fix_exported(
            make_vjp(primal), options, on_report=on_report
        )
    return dataclasses.replace(exported, **new) if new else exported


def install(
    options: ScopeOptions | None = None,
    *,
    on_report: OnReport | None = None,
    repair: bool = False,
) -> None:
    """From now on everything this process lowers or compiles is scoped.

    What jax has lowered before is lowered again when it is needed. Functions compiled before keep
    their executables, and are called as they are; `jax.clear_caches()` drops those. So install the
    hook first. Installing it again replaces the options.

    Args:
      options: as for `scope_module`.
      on_report: called with the ScopeReport of each module that holds groups, once, on the thread
        that lowers or compiles it. What it raises is logged.
      repair: whether modules that go to XLA:GPU or XLA:TPU are repaired before they are compiled.
        XLA has the last word: what it refuses over its groups all the same is sealed, then given
        up, group by group, with a warning in the log.

    Raises:
      UnsupportedJax: the internals of this jax are not those the hook knows; jax is as before.
    """
    global _settings
    wanted = _Settings(options or ScopeOptions(), on_report, repair)
    with _lock:
        if wanted != _settings:
            _attach(wanted)
            _settings = wanted


def uninstall() -> None:
    """jax is again as if the hook had never been installed, apart from functions compiled since.
    Does nothing where it is not installed."""
    global _settings
    with _lock:
        if _settings is not None:
            from schedscope import _jax

            _jax.detach()
            _settings = None


@contextmanager
def installed(
    options: ScopeOptions | None = None,
    *,
    on_report: OnReport | None = None,
    repair: bool = False,
) -> Iterator[None]:
    """The hook is installed within, in all threads of the process; afterwards things are as before,
    a hook with other options included.

    Raises:
      UnsupportedJax: as `install` does.
    """
    before = _settings
    install(options, on_report=on_report, repair=repair)
    try:
        yield
    finally:
        if before is None:
            uninstall()
        else:
            install(before.options, on_report=before.on_report, repair=before.repair)


class _Settings(NamedTuple):
    options: ScopeOptions
    on_report: OnReport | None
    repair: bool


_settings: _Settings | None = None
_lock = threading.RLock()


def _attach(wanted: _Settings) -> None:
    try:
        from schedscope import _jax
    except (ImportError, AttributeError) as error:
        raise UnsupportedJax(jax.__version__, str(error)) from error
    if _settings is None:
        _jax.check()
        if _jax.has_compiled():
            logging.info(
                "schedscope: functions that jax compiled before install() stay as they are; "
                "jax.clear_caches() makes jax compile them again"
            )
    attendant = _attendant(*wanted)
    listener = _jax.Listener(attendant.attend, attendant.compiling, attendant.refused)
    if wanted.repair:
        listener = listener._replace(insist=attendant.insist)
    _jax.attach(listener)


def _attendant(
    options: ScopeOptions | None, on_report: OnReport | None, repair: bool = False
) -> Attendant:
    return Attendant(options or ScopeOptions(), on_report, repair)
