"""The command, run in this process with its streams captured at the file descriptors, so that what
MLIR itself prints is seen too."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest
from schedscope_cli.main import main


class Result(NamedTuple):
    status: int
    out: bytes
    err: str


Command = Callable[..., Result]


@pytest.fixture
def schedscope(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """`schedscope(*arguments, stdin=b"")`."""

    def run(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Result(status, out, err.decode())

    return run
