"""`schedscope lint` where people watch it: colours and progress."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.programs import ROOTS
from tests.lint.samples import BARE, CLEAN


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What the command shows where both its streams are a terminal."""
    ours, theirs = pty.openpty()
    code = f"import sys; sys.path += {ROOTS!r}; from schedscope_cli.main import entry; entry()"
    command = [sys.executable, "-c", code, "lint", *arguments]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            read = os.read(ours, 1 << 16)
        except OSError:  # Linux, at the end
            break
        if not read:
            break
        shown += read
    os.close(ours)
    process.wait()
    return shown.decode()


def test_colours_and_progress_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bare.mlir").write_text(BARE)
    (tmp_path / "clean.mlir").write_text(CLEAN)
    shown = on_a_terminal("bare.mlir", "clean.mlir", NO_COLOR="")
    assert "[               " in shown
    assert "] 1 of 2" in shown
    assert "\r\x1b[K" in shown
    assert "\x1b[1;31merror[SG101]\x1b[0m" in shown
    alone = on_a_terminal("bare.mlir", NO_COLOR="1")
    assert " of 1" not in alone
    assert "\x1b" not in alone
    assert "error[SG101]" in alone
