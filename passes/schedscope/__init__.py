"""Scheduling groups of XLA, scoped to the call that made them."""

from schedscope.errors import InputError, SchedscopeError
from schedscope.report import ScopeReport
from schedscope.scope import ScopeOptions, scope_module

__all__ = ["InputError", "SchedscopeError", "ScopeOptions", "ScopeReport", "scope_module"]
