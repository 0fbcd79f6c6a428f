"""`schedscope run`: its own arguments, and the options of the Python that runs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from schedscope_cli.run import interpreter_flags

from tests.cli.programs import ROOTS, SHOW, Runner


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    made.write({"show.py": SHOW})
    return made


@pytest.mark.parametrize(
    "flags",
    [
        ["-u", "-X", "dev"],
        ["-sP", "-Xfaulthandler", "-W", "error", "-Wignore:mc", "-OO", "-B"],
        ["--check-hash-based-pycs", "never", "-Xint_max_str_digits=900"],
    ],
    ids=" ".join,
)
def test_flags_of_the_interpreter_are_the_programs(runner: Runner, flags: list[str]) -> None:
    runner.environment["PYTHONPATH"] = ":".join(ROOTS)
    wanted = runner.python(*flags, "show.py", "x")
    assert wanted.status == 0
    assert runner.module(flags, "show.py", "x") == wanted


def test_flags_of_the_console_script_are_its_own() -> None:
    assert interpreter_flags(["python", "-sP", "/bin/schedscope", "run", "-m", "x"]) == []
    assert interpreter_flags(["python", "-uBm", "schedscope_cli", "run"]) == ["-uB"]
    assert interpreter_flags(["python", "-u", "-mschedscope_cli", "run"]) == ["-u"]


@pytest.mark.parametrize("flag", ["-E", "-I", "-S"])
def test_flags_under_which_python_loads_no_hook_are_refused(runner: Runner, flag: str) -> None:
    path = ROOTS + sys.path
    code = f"import sys; sys.path += {path!r}; from schedscope_cli.main import entry; entry()"
    ended = runner.python(flag, "-c", code, "run", "show.py")
    assert (ended.status, ended.out) == (2, "")
    assert "under -E, -I or -S Python would not load the hook" in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "SCRIPT or -m MODULE is missing"),
        (["--every-call-site"], "SCRIPT or -m MODULE is missing"),
        (["--"], "SCRIPT or -m MODULE is missing"),
        (["--keep-global"], "argument --keep-global: expected one argument"),
        (["--keep-global", "s.py"], "argument --keep-global: 's.py' is not a list of group ids"),
        (["--nonsense", "s.py"], "unrecognized arguments: --nonsense"),
        (["-X", "dev", "s.py"], "unrecognized arguments: -X"),
    ],
)
def test_wrong_usage(runner: Runner, words: list[str], message: str) -> None:
    ended = runner.schedscope(*words)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


def test_help(runner: Runner) -> None:
    ended = runner.schedscope("--every-call-site", "-h")
    assert (ended.status, ended.err) == (0, "")
    assert "[options] -m MODULE [ARGS ...]" in ended.out
