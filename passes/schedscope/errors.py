"""Errors, told apart by who must act."""

from __future__ import annotations


class SchedscopeError(Exception):
    """Base of every error this library raises on purpose."""


class InputError(SchedscopeError):
    """The module or file cannot be understood: an id that is no integer, a recursive call, a
    callee that is not there, text that does not parse. The text names the op, its Python
    source line where there is one, what was met and what was wanted."""
