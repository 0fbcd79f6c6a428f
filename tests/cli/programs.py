"""Programs run by `python` and by `schedscope run`, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import schedscope
import schedscope_cli

ROOTS = [str(Path(package.__path__[0]).parent) for package in (schedscope, schedscope_cli)]

_ENTRY = f"""\
import sys
sys.path += {ROOTS!r}
from schedscope_cli.main import entry
entry()
"""

SHOW = """\
import os, signal, sys
print(sys.argv, sys.orig_argv, sys.path, __name__, __file__ if "__file__" in globals() else None)
spec = __spec__ and (__spec__.name, __spec__.origin, __spec__.parent, type(__spec__.loader))
print(spec, __package__, __builtins__, __doc__, sys.flags, sys.warnoptions, sys._xoptions)
print(sorted(sys.modules), sorted(sys.path_importer_cache))
print([(it.encoding, it.errors, it.line_buffering) for it in (sys.stdin, sys.stdout, sys.stderr)])
print([signal.getsignal(number) for number in sorted(signal.valid_signals())])
print({name: value for name, value in sorted(os.environ.items()) if name not in CHANGED})
""".replace("CHANGED", "('PYTHONPATH', 'SCHEDSCOPE_RUN')")
"""All that a program can see of how it was started, apart from what its own children need."""


class Ended(NamedTuple):
    status: int
    out: str
    err: str


class Runner:
    """Runs programs in a directory, with the environment of this process and some changes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment: dict[str, str] = dict(os.environ)
        self._entry = directory / "bin" / "schedscope"
        """The console script; nothing but its own path leads to the library."""
        self._entry.parent.mkdir()
        self._entry.write_text(_ENTRY)

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def python(self, *words: str, **more: Any) -> Ended:
        return self._ended([sys.executable, *words], **more)

    def schedscope(self, *words: str, **more: Any) -> Ended:
        return self._ended(self.command(*words), **more)

    def module(self, flags: list[str], *words: str) -> Ended:
        """`python FLAGS -m schedscope_cli run ...`"""
        return self._ended([sys.executable, *flags, "-m", "schedscope_cli", "run", *words])

    def command(self, *words: str) -> list[str]:
        return [sys.executable, str(self._entry), "run", *words]

    def same(self, *words: str, **more: Any) -> Ended:
        """What `python` makes of it, which must be what `schedscope run` makes of it."""
        wanted = self.python(*words, **more)
        ended = self.schedscope(*words, **more)
        assert ended.status == wanted.status
        assert ended.out.splitlines() == wanted.out.splitlines()
        assert ended.err.splitlines() == wanted.err.splitlines()
        return wanted

    def _ended(self, command: list[str], stdin: str = "") -> Ended:
        done = subprocess.run(
            command,
            input=stdin,
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        return Ended(done.returncode, done.stdout, done.stderr)
