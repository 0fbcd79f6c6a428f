"""What is said on standard error: `FILE: ...`, and `FILE: error: ...` as compilers do."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    print(text, file=sys.stderr)


def complaint(name: str, error: Exception) -> str:
    """One line about an error met with the file `name`."""
    from schedscope.errors import FileError  # brings jaxlib along, which --help does without

    if isinstance(error, FileError):
        return f"{error.where}: error: {error.what}"
    if isinstance(error, OSError):
        return f"{error.filename or name}: error: {error.strerror or error}"
    return f"{name}: error: {error}"
