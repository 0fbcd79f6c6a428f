"""`schedscope run`: a program as `python` runs it, and what it compiles with jax is scoped.

The command becomes that very python (`exec`), so that nothing about the program differs: no frame
of ours in its tracebacks, no process between it and the signals, its own exit status. The hook
comes in through PYTHONPATH, see bootstrap/sitecustomize.py.
"""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from schedscope_cli.messages import say
from schedscope_cli.options import Words, add_command, add_scope_options
from schedscope_cli.status import FAILED

_HELP = "run a Python program with the scheduling groups of what it compiles scoped"

_USAGE = """\
%(prog)s [options] SCRIPT [ARGS ...]
       %(prog)s [options] -m MODULE [ARGS ...]"""

_DESCRIPTION = """\
Runs a program as `python SCRIPT ARGS` or `python -m MODULE ARGS` would, and scopes everything it
lowers or compiles with jax. The program needs no change. Processes it starts are hooked too.
SCRIPT may be whatever python takes: a file, a directory or zip file with __main__.py, or -.
All that follows SCRIPT or MODULE belongs to the program.
"""

_EPILOG = """\
exit status: the program's; 2 if the hook does not know this jax
"""

_BOOTSTRAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bootstrap")


def add_parser(commands: Any) -> None:
    words = Words(_HELP, _DESCRIPTION, _EPILOG)
    parser = add_command(commands, "run", run, words, usage=_USAGE)
    add_scope_options(parser)


def split(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The command's own arguments, and the program with its arguments as python takes them.

    argparse must not see the latter: whatever a program is given, it would look for our options.
    """
    if argv[:1] != ["run"]:
        return argv, []
    end = 1
    while end < len(argv) and _is_own_option(argv[end]):
        end += 2 if argv[end] == "--keep-global" else 1
    return argv[:end], argv[end:]


def _is_own_option(word: str) -> bool:
    return word.startswith("-") and word not in ("-", "--") and not word.startswith("-m")


def run(arguments: Namespace) -> int:
    if not arguments.program or arguments.program == ["--"]:
        arguments.usage_error("SCRIPT or -m MODULE is missing")
    flags = interpreter_flags(sys.orig_argv)
    if flags and (sys.flags.ignore_environment or sys.flags.no_site):
        arguments.usage_error(
            "under -E, -I or -S Python would not load the hook; -s and -P may be what you want"
        )
    if not sys.executable:
        say("schedscope: error: this Python does not know where its executable is")
        return FAILED
    command = [sys.executable, *flags, *arguments.program]
    try:
        _become(command, _environment(arguments))
    except OSError as error:
        say(f"schedscope: error: {sys.executable}: {error.strerror or error}")
    return FAILED


_FLAGS = re.compile(r"-([^-mcWX]*)([mcWX]?)(.*)", re.DOTALL)
"""One word of Python's options: letters, one that takes a value, and the value if it is attached"""


def interpreter_flags(command: Sequence[str]) -> list[str]:
    """What stands before `-m` in `python -u -X dev -m schedscope_cli run ...`: it is meant for the
    program. Empty for the script `schedscope`: the flags in its first line (`#!python -sP`) were
    put there for itself."""
    flags: list[str] = []
    words = iter(command[1:])
    for word in words:
        if word == "--check-hash-based-pycs":
            flags += [word, next(words)]
            continue
        match = _FLAGS.fullmatch(word)
        if match is None:
            return []
        letters, last, value = match.groups()
        if last in ("m", "c"):
            return [*flags, f"-{letters}"] if letters else flags
        flags.append(word)
        if last and not value:
            flags.append(next(words))
    return []


def _environment(arguments: Namespace) -> Mapping[str, str]:
    import json

    settings = {
        "every_call_site": arguments.every_call_site,
        "keep_global": sorted(arguments.keep_global),
        "library": _library_directories(),
    }
    paths = os.environ.get("PYTHONPATH")  # kept as it is: an empty entry is the working directory
    return {
        **os.environ,
        **_locale(),
        "PYTHONPATH": f"{_BOOTSTRAP}{os.pathsep}{paths}" if paths else _BOOTSTRAP,
        "SCHEDSCOPE_RUN": json.dumps(settings),
    }


def _locale() -> dict[str, str]:
    """In the C locale Python turns its UTF-8 mode on, and sets LC_CTYPE, which would keep the
    program's Python from the former (PEP 538, 540)."""
    chosen = "PYTHONUTF8" in os.environ or "utf8" in sys._xoptions
    coerced = os.environ.get("LC_CTYPE") in ("C.UTF-8", "C.utf8", "UTF-8")
    return {"LC_CTYPE": "C"} if sys.flags.utf8_mode and coerced and not chosen else {}


def _library_directories() -> list[str]:
    """Where this process finds what the hook needs beside jax. The program may look elsewhere:
    it has another sys.path[0], and may have another working directory."""
    from importlib.util import find_spec

    specs = map(find_spec, ("schedscope", "absl"))
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return list(dict.fromkeys(os.path.dirname(os.path.abspath(place)) for place in places))


def _become(command: list[str], environment: Mapping[str, str]) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform == "win32":  # exec would start another process, and the shell not wait for it
        import signal
        import subprocess

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program gets it as well, and decides
        raise SystemExit(subprocess.call(command, env=environment))
    os.execve(command[0], command, environment)
