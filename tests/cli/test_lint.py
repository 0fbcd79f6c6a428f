"""`schedscope lint`: files, options, configuration, formats, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from schedscope.lint.checker import TargetName
from schedscope_cli import workers
from schedscope_cli.lint import TARGETS

from tests.cli.conftest import Command
from tests.cli.samples import FORMATS, encoded
from tests.jax_versions import needs
from tests.lint.samples import BARE, CALLED_TWICE, CLEAN, LOCATED, NOTED, SOURCE, UNMARKED
from tests.lint.test_hlo_text import HLO

CRASHES = "module attributes {a = " + "[" * 100_000 + "]" * 100_000 + "} {}"
"""MLIR's parser recurses, and runs out of stack."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with some modules in it."""
    monkeypatch.chdir(tmp_path)
    modules = {
        "bare.mlir": BARE,
        "located.mlir": LOCATED,
        "called.mlir": CALLED_TWICE,
        "clean.mlir": CLEAN,
        "noted.mlir": NOTED,
        "unmarked.mlir": UNMARKED,
        "crashes.mlir": CRASHES,
        "bad.mlir": "module {",
        "train.py": SOURCE,
    }
    for name, text in modules.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def codes(out: bytes) -> list[tuple[str, str]]:
    return [(each["module"], each["code"]) for each in json.loads(out)["findings"]]


def test_findings_go_to_standard_output(schedscope: Command) -> None:
    result = schedscope("lint", "called.mlir")
    lines = result.out.decode().splitlines()
    assert (result.status, result.err) == (1, "")
    assert lines[0].startswith("train.py:6:6: error[SG101]: group 5 has a gap: ")
    assert lines[1:4] == ["  |", "6 | \tx = exchange(x)  # after a tab", "  | \t    ^^^^^^^^^^^"]
    assert lines[4:6] == ["in called.mlir: stablehlo.collective_permute", "called from train.py:9"]
    assert lines[6].startswith("  train.py:3:13: from here, in group 5")
    assert lines[8].startswith("  train.py:4:9: through this")
    assert lines[-1] == "1 error in 1 module"


def test_without_locations_it_is_the_line_of_the_text(schedscope: Command) -> None:
    result = schedscope("lint", "bare.mlir")
    assert result.out.startswith(b"bare.mlir:5:10: error[SG101]: ")


@pytest.mark.parametrize(
    ("arguments", "status", "found"),
    [
        (["clean.mlir"], 0, []),
        (["unmarked.mlir", "--target", "all"], 0, []),
        (["clean.mlir", "--target", "tpu"], 1, ["SG201"]),
        (["bare.mlir"], 1, ["SG101"]),
        (["bare.mlir", "--target", "all"], 1, ["SG101", "SG201"]),
        (["bare.mlir", "--target", "all", "--select", "SG2"], 1, ["SG201"]),
        (["bare.mlir", "--target", "all", "--ignore", "gap-in-group, SG2"], 0, []),
        (["bare.mlir", "--select", "SG2", "--select", "SG1"], 1, ["SG101"]),
    ],
)
def test_exit_status_target_and_rules(
    schedscope: Command, arguments: list[str], status: int, found: list[str]
) -> None:
    result = schedscope("lint", "--format", "json", *arguments)
    assert result.status == status, result.err
    assert [code for _, code in codes(result.out)] == found


def test_every_target_of_lint_module_can_be_asked(schedscope: Command) -> None:
    assert get_args(TargetName) == TARGETS
    told = {target: codes(asked(schedscope, target)) for target in TARGETS}
    assert told["gpu-0.10"] == [("bare.mlir", "SG101")]
    assert told["v5e"] == told["v6e"] == told["tpu7x"] == [("bare.mlir", "SG201")]


def asked(schedscope: Command, target: str) -> bytes:
    return schedscope("lint", "bare.mlir", "--format=json", "--target", target).out


def test_notes_alone_are_no_failure(schedscope: Command) -> None:
    result = schedscope("lint", "noted.mlir")
    assert result.out.endswith(b"\n1 note in 1 module\n")
    assert result.status == 0


@pytest.mark.parametrize("gzipped", [False, True])
def test_every_format_that_fix_reads(schedscope: Command, here: Path, gzipped: bool) -> None:
    for format in FORMATS:
        (here / format).write_bytes(encoded(BARE, format, gzipped))
    result = schedscope("lint", "--format=json", *FORMATS)
    assert result.status == 1, result.err
    assert codes(result.out) == [(format, "SG101") for format in FORMATS]


def test_hlo_text(schedscope: Command) -> None:
    needs((0, 7), "reader of today's HLO text")
    text = HLO.replace("add(%ppermute.1, %big)", "add(%ppermute.1, %x.1)").encode()
    result = schedscope("lint", "-", stdin=text)
    assert result.status == 1
    assert result.out.startswith(b"train.py:6: error[SG101]: ")
    result = schedscope("fix", "-", stdin=text)
    assert (result.status, result.out) == (2, b"")
    assert "`schedscope lint` reads it" in result.err


def test_standard_input(schedscope: Command) -> None:
    result = schedscope("lint", "-", "clean.mlir", stdin=BARE.encode())
    assert result.out.startswith(b"<stdin>:5:10: error[SG101]: ")
    result = schedscope("lint", "-", "-")
    assert result.status == 2
    assert "- is given more than once" in result.err


@pytest.mark.parametrize("jobs", ["1", "3", "0"])
def test_one_bad_file_does_not_stop_the_rest(schedscope: Command, jobs: str) -> None:
    files = ["bare.mlir", "crashes.mlir", "located.mlir", "bad.mlir", "gone.mlir", "called.mlir"]
    result = schedscope("lint", "-j", jobs, "--format", "json", *files)
    assert result.status == 2
    found = [(name, "SG101") for name in ("bare.mlir", "located.mlir", "called.mlir")]
    assert codes(result.out) == found
    problems = json.loads(result.out)["problems"]
    assert [each["module"] for each in problems] == ["crashes.mlir", "bad.mlir", "gone.mlir"]
    assert [each["message"] for each in problems] == result.err.splitlines()
    crash, syntax, missing = result.err.splitlines()
    assert crash == "crashes.mlir: error: the process that read it crashed (SIGSEGV)"
    assert syntax.startswith("bad.mlir:1:7: error: ")
    assert missing == "gone.mlir: error: No such file or directory"


def test_a_bug_costs_one_file(schedscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "from schedscope import modules; modules.foreign = None; from schedscope_cli"
    assert workers._CODE.count("from schedscope_cli") == 1
    monkeypatch.setattr(workers, "_CODE", workers._CODE.replace("from schedscope_cli", broken))
    result = schedscope("lint", "clean.mlir", "gone.mlir")
    assert result.status == 2
    assert "clean.mlir: error: could not be linted, which is a bug in schedscope" in result.err
    assert "TypeError" in result.err
    assert "gone.mlir: error: No such file or directory" in result.err


def test_a_worker_that_cannot_start(schedscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_CODE", "import {path!r:.0}no_such_module")
    result = schedscope("lint", "clean.mlir")
    assert result.status == 2
    assert result.err == (
        "clean.mlir: error: the process that read it crashed "
        "(exit status 1: ModuleNotFoundError: No module named 'no_such_module')\n"
    )


def test_configuration(schedscope: Command, here: Path) -> None:
    def found(*arguments: str) -> list[str]:
        result = schedscope("lint", "bare.mlir", "--format=json", *arguments)
        return [code for _, code in codes(result.out)]

    (here / "pyproject.toml").write_text('[tool.schedscope]\ntarget = "all"\nignore = ["SG1"]\n')
    assert found() == ["SG201"]
    assert found("--ignore", "SG2") == ["SG101"]
    assert found("--target", "gpu") == []
    assert found("--select", "SG101") == []


@pytest.mark.parametrize(
    ("arguments", "configured", "message"),
    [
        (["--select", "SG9"], "", "error: 'SG9' names no rule; there are SG101 gap-in-group, "),
        (["--ignore", ""], "", "error: '' names no rule; "),
        ([], "target = 'cpu'", "pyproject.toml: [tool.schedscope] target = 'cpu', wanted "),
        ([], "select = ['gap']", "pyproject.toml: [tool.schedscope]: 'gap' names no rule; "),
        ([], "targte = 'gpu'", "[tool.schedscope] has no 'targte'; there are target, "),
        (["-o", "gone/out"], "", "gone/out: error: No such file or directory"),
    ],
)
def test_what_cannot_be_asked(
    schedscope: Command, here: Path, arguments: list[str], configured: str, message: str
) -> None:
    (here / "pyproject.toml").write_text(f"[tool.schedscope]\n{configured}\n")
    result = schedscope("lint", "bare.mlir", *arguments)
    assert (result.status, result.out) == (2, b"")
    assert message in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: FILE"),
        (["a", "--target", "cpu"], "invalid choice: 'cpu'"),
        (["a", "--format", "xml"], "invalid choice: 'xml'"),
        (["a", "-j", "many"], "'many' is not a number of processes"),
        (["a", "-j", "-1"], "-j"),
        (["a", "-o", "a"], "-o would overwrite a"),
    ],
)
def test_wrong_usage(schedscope: Command, arguments: list[str], message: str) -> None:
    result = schedscope("lint", *arguments)
    assert (result.status, result.out) == (2, b"")
    assert message in result.err.splitlines()[-1]


def test_output_file(schedscope: Command, here: Path) -> None:
    result = schedscope("lint", "bare.mlir", "--format", "sarif", "-o", "out.sarif")
    assert (result.status, result.out, result.err) == (1, b"", "")
    document = json.loads((here / "out.sarif").read_text())
    assert [each["ruleId"] for each in document["runs"][0]["results"]] == ["SG101"]


def test_github(schedscope: Command) -> None:
    result = schedscope("lint", "--format", "github", "--", "located.mlir", "bad.mlir")
    lines = result.out.decode().splitlines()
    assert lines[0].startswith("::error file=train.py,line=6,col=6,endColumn=16,title=SG101 ")
    assert lines[1].startswith("::error file=bad.mlir,title=schedscope could not lint this::")
    assert len(lines) == 2
