"""Errors, told apart by who must act."""

from __future__ import annotations


class SchedscopeError(Exception):
    """Base of every error this library raises on purpose."""


class InputError(SchedscopeError):
    """The module or file cannot be understood: an id that is no integer, a recursive call, a
    callee that is not there, text that does not parse. The text names the op, its Python
    source line where there is one, what was met and what was wanted."""


class FileError(InputError):
    """A file that holds no module we can read, or a form the module cannot be written in."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        """The file's name as the user gave it, followed by line and column where they are known."""
        self.what = what


class UnsupportedJax(SchedscopeError):
    """A jax whose internals are not those that the hook knows."""

    def __init__(self, version: str, problem: str) -> None:
        super().__init__(
            f"the hook does not know the internals of jax {version}, and nothing is installed: "
            f"{problem}; schedscope.hook.fix(lowered) and `schedscope fix` do without it"
        )


class UsageError(SchedscopeError):
    """What was asked for cannot be: a rule that does not exist, an option that is none."""
