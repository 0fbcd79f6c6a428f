"""Scheduling groups of XLA, scoped to the call that made them.

The hook for jax is `schedscope.hook`; it needs jax, and is imported by that name.
"""

from schedscope.errors import InputError, SchedscopeError, UnsupportedJax
from schedscope.report import ScopeReport
from schedscope.scope import ScopeOptions, scope_module

__all__ = [
    "InputError",
    "SchedscopeError",
    "ScopeOptions",
    "ScopeReport",
    "UnsupportedJax",
    "scope_module",
]
