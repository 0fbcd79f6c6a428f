"""action.yml and .pre-commit-hooks.yaml, which others run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest
from schedscope_cli.main import main

from tests.lint.samples import BARE, CLEAN

ROOT = Path(__file__).parent.parent.parent

_RECORDER = f"""\
#!{sys.executable}
import json, os, sys
with open(os.environ["RECORD"], "a") as record:
    record.write(json.dumps(sys.argv[1:]) + "\\n")
sys.exit(int(os.environ["STATUS"]))
"""


class Ran(NamedTuple):
    status: int
    out: str
    calls: list[str]


class Action:
    """The step of the action that lints, with another `schedscope` in the place of the command."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        command = directory / "schedscope" / "bin" / "schedscope"
        command.parent.mkdir(parents=True)
        command.write_text(_RECORDER)
        command.chmod(0o755)
        step = (ROOT / "action.yml").read_text().rpartition("run: |\n")[2]
        self._script = textwrap.dedent(step)

    def run(self, files: str, status: int = 0, **inputs: str) -> Ran:
        record = self._directory / "calls"
        record.write_text("")
        given = {"TARGET": "", "SELECT": "", "IGNORE": "", "SARIF": "", **inputs}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self._script],
            cwd=self._directory,
            env={
                **os.environ,
                **given,
                "FILES": files,
                "RUNNER_TEMP": str(self._directory),
                "RECORD": str(record),
                "STATUS": str(status),
            },
            capture_output=True,
            text=True,
        )
        return Ran(done.returncode, done.stdout, record.read_text().splitlines())


@pytest.fixture
def action(tmp_path: Path) -> Action:
    (tmp_path / "a.mlir").write_text(BARE)
    (tmp_path / "b.mlir").write_text(CLEAN)
    return Action(tmp_path)


def test_the_action_lints_what_the_patterns_match(action: Action) -> None:
    assert action.run("*.mlir other/*.mlir\n c.mlir") == Ran(
        0, "", ['["lint", "--format=github", "-j", "0", "--", "a.mlir", "b.mlir", "c.mlir"]']
    )


@pytest.mark.parametrize("status", [1, 2])
def test_the_action_ends_as_the_command_does(action: Action, status: int) -> None:
    ran = action.run("a.mlir", status, SARIF="out.sarif")
    assert ran.status == status
    assert ran.calls == [
        '["lint", "--format=sarif", "-o", "out.sarif", "-j", "0", "--", "a.mlir"]',
        '["lint", "--format=github", "-j", "0", "--", "a.mlir"]',
    ]


def test_the_actions_inputs_are_words_and_no_script(action: Action) -> None:
    strange = '$(touch hacked); "`x`'
    ran = action.run("a.mlir", TARGET="all", SELECT=strange, IGNORE="SG1, SG2")
    assert len(ran.calls) == 1
    assert '"--target=all", "--select=$(touch hacked); \\"`x`", "--ignore=SG1, SG2"' in ran.calls[0]
    text = (ROOT / "action.yml").read_text()
    scripts = re.findall(r"run: \|\n((?: {8}.*\n| *\n)+)", text)
    assert len(scripts) == 2
    assert not any("${{" in script for script in scripts)


def test_the_action_says_so_where_nothing_matches(action: Action) -> None:
    ran = action.run("gone/*.mlir")
    assert (ran.status, ran.calls) == (2, [])
    assert ran.out == "::error title=schedscope::no file matches: gone/*.mlir\n"


def test_the_actions_options_are_the_commands(action: Action, tmp_path: Path) -> None:
    ran = action.run("b.mlir", TARGET="gpu", SELECT="SG1", IGNORE="SG2")
    words = re.findall(r'"([^"]*)"', ran.calls[0])
    assert main([*words[:-1], str(tmp_path / "b.mlir")]) == 0


def test_the_pre_commit_hooks_run(tmp_path: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    entries = re.findall(r"entry: schedscope (.*)", text)
    assert [entry.split()[0] for entry in entries] == ["lint", "fix"]
    path = tmp_path / "clean.mlir"
    path.write_text(CLEAN)
    for entry in entries:
        assert main([*entry.split(), str(path)]) == 0
    patterns = re.findall(r"files: (.*)", text)
    assert len(patterns) == len(entries)
    for pattern in patterns:
        assert re.search(pattern, "a/b.mlir")
        assert re.search(pattern, "a/b.mlirbc.gz")
        assert not re.search(pattern, "a/mlir.py")
