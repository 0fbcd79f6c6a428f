"""Scheduling groups of XLA, scoped to the call that made them.

The hook for jax is `schedscope.hook`; it needs jax, and is imported by that name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from schedscope.errors import InputError, SchedscopeError, UnsupportedJax
from schedscope.report import ScopeReport
from schedscope.scoping.scope import ScopeOptions, scope_module

if TYPE_CHECKING:
    from schedscope.lint.checker import lint_module
    from schedscope.lint.diagnostic import Diagnostic, Severity
    from schedscope.repair.repair import repair_module
    from schedscope.repair.report import RepairReport

_LATER = {
    "Diagnostic": "schedscope.lint.diagnostic",
    "RepairReport": "schedscope.repair.report",
    "Severity": "schedscope.lint.diagnostic",
    "lint_module": "schedscope.lint.checker",
    "repair_module": "schedscope.repair.repair",
}
"""Imported when they are asked for: scoping does without."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Diagnostic",
    "InputError",
    "RepairReport",
    "SchedscopeError",
    "ScopeOptions",
    "ScopeReport",
    "Severity",
    "UnsupportedJax",
    "lint_module",
    "repair_module",
    "scope_module",
]
