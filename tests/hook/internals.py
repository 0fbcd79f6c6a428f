"""What the hook changes in jax."""

from __future__ import annotations

from typing import Any, NamedTuple

from jax._src import compiler, source_info_util, traceback_util
from jax._src.interpreters import mlir


class Internals(NamedTuple):
    lower: Any
    compile: Any
    handlers: tuple[int, tuple[Any, ...]]
    """Which list it is, and what is in it."""
    out_of_tracebacks: tuple[int, tuple[str, ...]]
    """Likewise the files whose frames jax leaves out."""
    out_of_locations: tuple[int, tuple[str, ...]]


def internals() -> Internals:
    return Internals(
        mlir.lower_jaxpr_to_module,
        compiler.compile_or_get_cached,
        *(
            (id(each), tuple(each))
            for each in (
                compiler._XLA_RUNTIME_ERROR_HANDLERS,
                traceback_util._exclude_paths,
                source_info_util._exclude_paths,
            )
        ),
    )
