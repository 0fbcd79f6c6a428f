"""`schedscope run` is `python` to the program, to who started it and to who reads its output."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.programs import SHOW, Runner


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    made.write(
        {
            "show.py": SHOW,
            "-dash.py": SHOW,
            "inner/show.py": SHOW,
            "inner/helper.py": "",
            "package/__init__.py": "",
            "package/__main__.py": SHOW,
            "package/part.py": SHOW,
            "folder/__main__.py": SHOW,
        }
    )
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("__main__.py", SHOW)
    return made


@pytest.mark.parametrize(
    "words",
    [
        ["show.py"],
        ["show.py", "--every-call-site", "--keep-global", "1", "-m", "-h", "--version", "a b", ""],
        ["show.py", "--", "-x"],
        ["inner/show.py", "x"],
        ["--", "show.py", "--", "x"],
        ["--", "-dash.py", "-x"],
        ["-m", "package", "-x", "--every-call-site", "--help"],
        ["-m", "package.part", "--", "-m", "package"],
        ["-mpackage", "-x", "--keep-global"],
        ["folder", "x"],
        ["packed.zip", "x"],
    ],
    ids=" ".join,
)
def test_program_sees_what_it_sees_under_python(runner: Runner, words: list[str]) -> None:
    ended = runner.same(*words)
    assert (ended.status, ended.err) == (0, "")
    assert "'sitecustomize'" not in ended.out


def test_program_on_standard_input(runner: Runner) -> None:
    assert runner.same("-", "x", stdin=SHOW).out.startswith("['-', 'x'] ")
    reads = "import sys\nprint(sys.stdin.read())\n"
    runner.write({"reads.py": reads})
    assert runner.same("reads.py", stdin="text\n").out == "text\n\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"PYTHONPATH": None},
        {"PYTHONPATH": ""},
        {"PYTHONPATH": "inner"},
        {"PYTHONPATH": "inner:"},
        {"PYTHONPATH": ":inner"},
        {"PYTHONPATH": None, "PYTHONSAFEPATH": "1"},
        {"PYTHONPATH": "inner", "PYTHONSAFEPATH": "1"},
        {"PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"},
        {"LC_ALL": None, "LC_CTYPE": None, "LANG": "C"},
        {"LC_ALL": None, "LC_CTYPE": "C", "LANG": "C.UTF-8"},
        {"LC_ALL": None, "LC_CTYPE": "C.UTF-8", "LANG": None},
        {"LC_ALL": "POSIX"},
        {"LC_ALL": None, "LC_CTYPE": None, "LANG": None, "PYTHONUTF8": "1"},
    ],
    ids=str,
)
def test_environment_counts_as_under_python(runner: Runner, changes: dict[str, str | None]) -> None:
    for name, value in changes.items():
        runner.environment.pop(name, None)
        if value is not None:
            runner.environment[name] = value
    assert runner.same("show.py", "x").status == 0
    assert runner.same("-m", "package", "x").status == (1 if "PYTHONSAFEPATH" in changes else 0)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit('said')", 1),
        ("raise SystemExit", 0),
        ("import os; os._exit(9)", 9),
        ("def f():\n    raise ValueError('x') from KeyError('y')\nf()", 1),
        ("import missing", 1),
        ("from package import part, missing", 1),
        ("x = = 1", 1),
        ("import importlib; importlib.import_module('broken')", 1),
        ("import broken", 1),
        ("import threading; threading.Thread(target=lambda: 1 / 0).start()", 0),
        ("import atexit; atexit.register(print, 'bye'); print('hello')", 0),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9),
        ("import warnings; warnings.warn('careful')", 0),
    ],
)
def test_end_and_traceback(runner: Runner, code: str, status: int) -> None:
    runner.write({"s.py": code + "\n", "broken.py": "1 / 0\n"})
    ended = runner.same("s.py")
    assert ended.status == status
    assert runner.same("-m", "s").status == status


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["missing.py"], 2),
        (["-m", "missing"], 1),
        (["-m"], 2),
        (["inner"], 1),
        (["bin/../bin"], 1),
    ],
    ids=str,
)
def test_python_says_what_is_no_program(runner: Runner, words: list[str], status: int) -> None:
    ended = runner.same(*words)
    assert ended.status == status
    assert ended.err


WAITS = """\
import os, signal, sys, time
if "handle" in sys.argv:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print(os.getpid(), flush=True)
while not signal.sigpending():
    time.sleep(0.01)
signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
"""
"""The signal acts in the last line, however early it comes."""

HEEDING = """\
import os, signal, sys
for number in signal.SIGINT, signal.SIGHUP, signal.SIGTERM:
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Runs a command that heeds signals, also where these tests run in a shell's background."""


@pytest.mark.parametrize(
    ("number", "words", "status"),
    [
        (signal.SIGINT, [], -signal.SIGINT),
        (signal.SIGTERM, [], -signal.SIGTERM),
        (signal.SIGTERM, ["handle"], 7),
        (signal.SIGHUP, [], -signal.SIGHUP),
    ],
)
def test_signals(runner: Runner, number: int, words: list[str], status: int) -> None:
    runner.write({"waits.py": WAITS})
    errors = []
    for command in ([sys.executable, "waits.py"], runner.command("waits.py")):
        process = subprocess.Popen(
            [sys.executable, "-c", HEEDING, *command, *words],
            cwd=runner.directory,
            env=runner.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stdout is not None
            assert int(process.stdout.readline()) == process.pid
            process.send_signal(number)
            errors.append(process.communicate(timeout=30)[1])
            assert process.returncode == status
    assert errors[0] == errors[1]


@pytest.mark.parametrize(
    "code", ["print('custom')", "1 / 0", "import missing", "raise ImportError(name='other')"]
)
def test_sitecustomize_that_ours_hides_runs_as_ever(runner: Runner, code: str) -> None:
    runner.write(
        {
            "inner/sitecustomize.py": f"""\
import sys
sys.custom = __name__, __spec__.name, __file__
if sys.orig_argv[1] == 's.py':  # the command is a Python program, too
    {code}
""",
            "s.py": SHOW + "print(sys.custom, sys.modules.get('sitecustomize'))\n",
        }
    )
    runner.environment["PYTHONPATH"] = "inner"
    assert "('sitecustomize', 'sitecustomize', " in runner.same("s.py").out
