"""What the hook does with each module that passes by: scope it once, remember what it did.

Nothing here raises, whatever the module holds: a program under the hook fails only where it would
fail without. What went wrong is logged, and the module is left to XLA as it is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from absl import logging

from schedscope._mlir import ir
from schedscope.errors import InputError
from schedscope.report import ScopeReport
from schedscope.scoping.indexing import holds_annotations
from schedscope.scoping.scope import ScopeOptions, name_of, scope_module

if TYPE_CHECKING:
    from schedscope.repair.repair import RepairTarget

ACCELERATORS: dict[str, RepairTarget] = {
    "gpu": "gpu", "cuda": "gpu", "rocm": "gpu", "tpu": "tpu",
}  # fmt: skip
"""What repair calls the compilers that jax has for its platforms; others know no groups."""

OnReport = Callable[[ScopeReport], object]


class _Memory(NamedTuple):
    """What an explanation of XLA's words will need. It must not refer to the module."""

    renumbered: Mapping[int, int]
    """For every id that is not the user's, the user's."""
    names: Mapping[str, str]
    """For every clone, the function it is a clone of."""


_NOTHING = _Memory({}, {})

_rewriting = threading.RLock()
"""Two threads may compile the same module, which is rewritten in place."""


class Attendant:
    """Scopes modules, in place, with one set of options; from any thread."""

    def __init__(
        self, options: ScopeOptions, on_report: OnReport | None, repair: bool = False
    ) -> None:
        self.options = options
        self.on_report = on_report
        self.repair = repair
        self._repaired: WeakSet[ir.Module] = WeakSet()
        self._seen: WeakKeyDictionary[ir.Module, _Memory] = WeakKeyDictionary()
        self._compiling = threading.local()

    def attend(self, module: ir.Module) -> bool:
        """Scopes `module` unless that was done before: jax hands the same one on to XLA. Returns
        whether it has changed."""
        with _rewriting:
            if module in self._seen:
                return False
            self._seen[module] = _NOTHING
            report = self._scope(module)
            if report is not None and report.changed:
                names = {clone: name for name, clones in report.clones for clone in clones}
                self._seen[module] = _Memory(report.renumbered, names)
        if report is None:
            return False
        self._tell(report)
        return report.changed

    @contextmanager
    def compiling(self, module: ir.Module, platform: str) -> Iterator[None]:
        """Around XLA's work on `module`."""
        self.attend(module)
        outer = getattr(self._compiling, "now", None)
        self._compiling.now = module, platform
        try:
            yield
        finally:
            self._compiling.now = outer

    def insist(self, module: ir.Module, platform: str, compile: Callable[[], Any]) -> Any:
        """What `compile` returns; with `repair` the module is repaired for the compiler first, and
        what XLA refuses all the same is given up."""
        if not self.repair or platform not in ACCELERATORS or not holds_annotations(module):
            return compile()
        from schedscope.repair.last_word import insist
        from schedscope.repair.repair import compiler_for

        target = ACCELERATORS[platform]
        self.mend(module, target)
        title = _title(name_of(module))
        return insist(
            module,
            compiler_for(target),
            compile,
            lambda said: logging.warning("schedscope: %s: %s", title, said),
        )

    def mend(self, module: ir.Module, target: RepairTarget) -> None:
        """Repairs `module`, in place, unless that was done before."""
        from schedscope.repair.repair import repair_module

        with _rewriting:
            if module in self._repaired:
                return
            self._repaired.add(module)
            title = _title(name_of(module))
            try:
                report = repair_module(module, target, self.options)
            except InputError as error:
                logging.warning("schedscope: %s is left to XLA as it is: %s", title, error)
            except Exception as error:  # noqa: BLE001  as in _scope
                logging.warning(
                    "schedscope: %s could not be repaired, a bug in schedscope: %r", title, error
                )
            else:
                if report.changed and logging.level_info():
                    logging.info("schedscope: %s: %s", title, "; ".join(report.summary()))

    def refused(self, error: Exception) -> None:
        """Adds to XLA's error, where it is about scheduling groups, what it means in the user's
        program (PEP 678)."""
        now = getattr(self._compiling, "now", None)
        if now is None:
            return
        from schedscope.explanation.notes import note_for  # XLA seldom refuses

        module, platform = now
        memory = self._seen.get(module, _NOTHING)
        target = "tpu" if platform == "tpu" else "gpu"
        note = note_for(str(error), module, memory.renumbered, memory.names, target)
        if note is not None:
            error.add_note(note)

    def _scope(self, module: ir.Module) -> ScopeReport | None:
        """None where there is nothing to report: no annotation, or a module that is left alone."""
        try:
            return scope_module(module, self.options) if holds_annotations(module) else None
        except InputError as error:
            what = f"is left to XLA as it is: {error}"
        except Exception as error:  # noqa: BLE001  a bug here must not stop the user's program
            what = f"could not be scoped, which is a bug in schedscope: {error!r}"
        logging.warning("schedscope: %s %s", _title(name_of(module)), what)
        return None

    def _tell(self, report: ScopeReport) -> None:
        title = _title(report.module)
        try:
            for warning in report.warnings:
                logging.warning("schedscope: %s: %s", title, warning)
            if report.changed and logging.level_info():
                logging.info("schedscope: %s: %s", title, "; ".join(report.changes()))
        except Exception:  # noqa: BLE001  the module is scoped all the same
            logging.exception("schedscope: %s: the report failed, a bug in schedscope", title)
        if self.on_report is not None:
            try:
                self.on_report(report)
            except Exception:  # noqa: BLE001  nor must a callback
                logging.exception("schedscope: %s: on_report failed", title)


def _title(module_name: str) -> str:
    return module_name or "a module without a name"
