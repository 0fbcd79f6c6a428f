"""The process that reads and lints modules for `schedscope lint`: a crash of the parser takes its
process along, and so costs one file. Requests come in on standard input, pickled; answers go out
on standard output.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import IO, NamedTuple

from schedscope.errors import SchedscopeError
from schedscope.lint.checker import TargetName
from schedscope.lint.render import Linted

from schedscope_cli import files
from schedscope_cli.messages import complaint


class Request(NamedTuple):
    """A module to lint."""

    path: str
    data: bytes | None
    """What was read from standard input; None where the file is to be read."""
    target: TargetName
    codes: frozenset[str]
    """Of the rules to ask."""


def serve() -> None:
    """Answers until no more requests come."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what MLIR may print is no answer
    while True:
        try:
            request: Request = pickle.load(sys.stdin.buffer)
        except EOFError:
            break
        send(answers, lint(request))
    os._exit(0)  # to take MLIR's contexts apart takes a while


def send(stream: IO[bytes], message: object) -> None:
    pickle.dump(message, stream)
    stream.flush()


def lint(request: Request) -> Linted:
    name = files.display_name(request.path)
    try:
        return _lint(request, name)
    except (SchedscopeError, OSError) as error:
        return Linted(name, problem=complaint(name, error))
    except Exception:  # noqa: BLE001  the other files are linted all the same
        what = f"{name}: error: could not be linted, which is a bug in schedscope"
        return Linted(name, problem=f"{what}\n{traceback.format_exc().rstrip()}")


def _lint(request: Request, name: str) -> Linted:
    from schedscope import modules
    from schedscope.lint.checker import lint_module
    from schedscope.lint.rules import RULES

    data = files.read(request.path) if request.data is None else request.data
    source = modules.read(data, name, hlo=True)
    rules = [rule for rule in RULES if rule.code in request.codes]
    return Linted(name, lint_module(source.module, request.target, rules))
