"""The one door to jax's internals; what differs between jax versions is settled here. Needs jax.

jax makes every module in `mlir.lower_jaxpr_to_module` and gives every module to XLA through
`compiler.compile_or_get_cached`, before it looks into its persistent cache (both by these names in
jax 0.6.0, 0.7.2, 0.8.3, 0.9.2, 0.10.2 and 0.12.0.1, called as attributes of their modules).
`attach` puts a wrapper in the place of each; `detach` puts jax's own functions back.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, NamedTuple

import jax
from jax._src import compiler, pjit, source_info_util, traceback_util
from jax._src.interpreters import mlir, pxla

from schedscope._mlir import ir
from schedscope.errors import UnsupportedJax


class Listener(NamedTuple):
    """What to do with what passes by."""

    lowered: Callable[[ir.Module], object]
    """A module was made."""
    compiling: Callable[[ir.Module, str], AbstractContextManager[None]]
    """A module goes to XLA, for a platform that jax calls "cpu", "gpu" or "tpu"."""
    refused: Callable[[Exception], None]
    """XLA raised an error for the module that this thread is compiling."""
    insist: Callable[[ir.Module, str, Callable[[], Any]], Any] | None = None
    """Calls what compiles the module, again where it has changed it."""


def check() -> None:
    """Raises UnsupportedJax where jax's own functions are not those that we know."""
    problem = next(_problems(), None)
    if problem is not None:
        raise UnsupportedJax(jax.__version__, problem)


def attach(listener: Listener) -> None:
    """From now on `listener` is told; one that was attached before is not any more. To be called
    in a jax that `check` knows."""
    global _listener
    _wrap()
    _listener = listener
    _forget_lowered()


def detach() -> None:
    """jax is again what it was, apart from what `watch` needs."""
    global _listener
    if _listener is None:
        return
    _listener = None
    _unwrap()
    _forget_lowered()


def watch(lowered: Callable[[ir.Module], object]) -> None:
    """From now on `lowered` is called with every module that jax makes, after the listener. To be
    called in a jax that `check` knows."""
    _wrap()
    _watchers.append(lowered)
    _forget_lowered()


def unwatch(lowered: Callable[[ir.Module], object]) -> None:
    """Ends what `watch` began."""
    _watchers.remove(lowered)
    _unwrap()


def _wrap() -> None:
    if _listener is None and not _watchers:
        for seam in _SEAMS:
            seam.wrap()
        _handlers().append(_on_error)
        for paths in _hidden():
            paths.append(__file__)
        _forget_frames()


def _unwrap() -> None:
    if _listener is None and not _watchers:
        for seam in _SEAMS:
            seam.unwrap()
        _take_out(_on_error, _handlers())
        for paths in _hidden():
            _take_out(__file__, paths)
        _forget_frames()


def has_compiled() -> bool:
    """Whether this process holds compiled functions."""
    return bool(pxla._cached_compilation.cache_info().currsize)


_listener: Listener | None = None
_watchers: list[Callable[[ir.Module], object]] = []


def _told() -> Listener | None:
    """The listener, and in its `lowered` the watchers, too."""
    if not _watchers:
        return _listener
    first = _listener or _NOBODY

    def lowered(module: ir.Module) -> None:
        first.lowered(module)
        for watcher in tuple(_watchers):
            watcher(module)

    return first._replace(lowered=lowered)


_NOBODY = Listener(lambda module: None, lambda module, platform: nullcontext(), lambda error: None)

_Function = Callable[..., Any]


class _Seam:
    """A function of jax that others call as an attribute of its module."""

    def __init__(
        self,
        owner: ModuleType,
        name: str,
        leading: tuple[str, ...],
        make_wrapper: Callable[[Callable[..., Any], Callable[[], Listener | None]], _Function],
    ) -> None:
        self.owner = owner
        self.name = name
        self.leading = leading
        """The parameters it begins with."""
        self._make_wrapper = make_wrapper
        self._own: _Function | None = None
        self._wrapper: _Function | None = None
        """The one that works; None when the hook is not installed."""

    def wrap(self) -> None:
        own: _Function = getattr(self.owner, self.name)
        wrapper = self._make_wrapper(own, lambda: _told() if self._wrapper is wrapper else None)
        self._own, self._wrapper = own, wrapper
        setattr(self.owner, self.name, wrapper)

    def unwrap(self) -> None:
        if getattr(self.owner, self.name) is self._wrapper:
            setattr(self.owner, self.name, self._own)
        self._wrapper = None  # if it lies below somebody else's wrapper, it does nothing there

    def problem(self) -> str | None:
        """Why this is not the function we know; None if it is."""
        spelled = f"{self.owner.__name__}.{self.name}"
        function = getattr(self.owner, self.name, None)
        if not callable(function):
            return f"{spelled} is missing"
        parameters = tuple(inspect.signature(function).parameters)
        if parameters[: len(self.leading)] != self.leading:
            wanted, met = ", ".join(self.leading), ", ".join(parameters[: len(self.leading)])
            return f"{spelled} begins with the parameters ({met}), not ({wanted})"
        short = self.owner.__name__.rpartition(".")[2]
        if getattr(pxla, short, None) is not self.owner or hasattr(pxla, self.name):
            return f"jax._src.interpreters.pxla does not call it as {short}.{self.name}"
        return None


def _wrap_lowering(lower: _Function, listener: Callable[[], Listener | None]) -> _Function:
    @functools.wraps(lower)
    def lower_jaxpr_to_module(*args: Any, **options: Any) -> Any:
        result = lower(*args, **options)
        told = listener()
        if told is not None:
            told.lowered(result.module)
        return result

    return lower_jaxpr_to_module


def _wrap_compiling(compile: _Function, listener: Callable[[], Listener | None]) -> _Function:
    @functools.wraps(compile)
    def compile_or_get_cached(backend: Any, computation: Any, *args: Any, **options: Any) -> Any:
        told = listener()
        if told is None:
            return compile(backend, computation, *args, **options)
        with told.compiling(computation, backend.platform):
            if told.insist is None:
                return compile(backend, computation, *args, **options)
            again = functools.partial(compile, backend, computation, *args, **options)
            return told.insist(computation, backend.platform, again)

    return compile_or_get_cached


_SEAMS = (
    _Seam(mlir, "lower_jaxpr_to_module", ("module_name", "jaxpr"), _wrap_lowering),
    _Seam(compiler, "compile_or_get_cached", ("backend", "computation"), _wrap_compiling),
)


def _on_error(error: Exception) -> None:
    """A handler as `compiler.register_xla_runtime_error_handler` takes them; the error stays."""
    told = _listener
    if told is not None:
        told.refused(error)


def _handlers() -> list[Any]:
    """jax offers a function that adds to this list, and none that takes away."""
    handlers: list[Any] = compiler._XLA_RUNTIME_ERROR_HANDLERS
    return handlers


def _hidden() -> tuple[list[str], list[str]]:
    """The files whose frames jax shows to nobody: not in tracebacks, and not in the locations of
    ops, which would have the wrapper as one of their callers."""
    return traceback_util._exclude_paths, source_info_util._exclude_paths


def _forget_frames() -> None:
    """jax keeps what it found out about files."""
    source_info_util._exclude_path_regex.cache_clear()
    source_info_util.is_user_filename.cache_clear()


def _take_out(item: object, items: list[Any]) -> None:
    if item in items:  # somebody else may have emptied it
        items.remove(item)


def _forget_lowered() -> None:
    """Drops jax's modules in store, which came from before; compiled functions stay."""
    pxla._cached_lowering_to_hlo.cache_clear()
    if hasattr(pjit._pjit_lower, "cache_clear"):  # since jax 0.7
        pjit._pjit_lower.cache_clear()


def _problems() -> Iterator[str]:
    for seam in _SEAMS:
        problem = seam.problem()
        if problem is not None:
            yield problem
    if "module" not in mlir.LoweringResult._fields:
        yield f"{mlir.__name__}.LoweringResult has no field `module`"
    for owner, name, needed in (
        (compiler, "_XLA_RUNTIME_ERROR_HANDLERS", "append"),
        (traceback_util, "_exclude_paths", "append"),
        (source_info_util, "_exclude_paths", "append"),
        (source_info_util, "_exclude_path_regex", "cache_clear"),
        (source_info_util, "is_user_filename", "cache_clear"),
        (pxla, "_cached_lowering_to_hlo", "cache_clear"),
        (pxla, "_cached_compilation", "cache_info"),
        (pjit, "_pjit_lower", "__call__"),
    ):
        if not hasattr(getattr(owner, name, None), needed):
            yield f"{owner.__name__}.{name} is missing, or not what it was"
