"""`schedscope explain`: from a saved error and a saved report to words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.samples import LOCATED, TWICE

GAP = (
    "UNIMPLEMENTED: Support for annotation groups with gaps doesn't exist yet, annotation: 1, "
    "instr: dot.1 has the same annotation in its operand tree"
)


@pytest.fixture
def error(tmp_path: Path) -> Path:
    path = tmp_path / "error.txt"
    path.write_text(f"Traceback:\njax.errors.JaxRuntimeError: {GAP}\n")
    return path


@pytest.fixture
def report(schedscope: Command, tmp_path: Path) -> Path:
    """Of LOCATED, in which group 1 is the second call's."""
    module, path = tmp_path / "located.mlir", tmp_path / "report.json"
    module.write_text(LOCATED)
    assert schedscope("fix", module, "--check", "--report", path).status == 1
    return path


def test_it_explains(schedscope: Command, error: Path, report: Path) -> None:
    result = schedscope("explain", error, "--report", report)
    assert (result.status, result.err) == (0, "")
    assert result.out.decode().splitlines()[0] == (
        "group 1 of XLA's message is group 0 of layer (train.py:20), called from train.py:32"
    )


def test_the_error_or_the_report_may_come_from_standard_input(
    schedscope: Command, error: Path, report: Path
) -> None:
    expected = schedscope("explain", error, "--report", report)
    assert schedscope("explain", "-", "--report", report, stdin=error.read_bytes()) == expected
    assert schedscope("explain", error, "--report", "-", stdin=report.read_bytes()) == expected


def test_both_cannot_come_from_standard_input(schedscope: Command) -> None:
    result = schedscope("explain", "-", "--report", "-")
    assert result.status == 2
    assert "standard input can be read once only" in result.err


def test_a_log_with_several_errors(schedscope: Command, error: Path, report: Path) -> None:
    error.write_bytes(
        f"{GAP}\n\xff\n{GAP.replace('annotation: 1', 'annotation: 0')}\n{GAP}\n".encode("latin-1")
    )
    first, second = schedscope("explain", error, "--report", report).out.decode().split("\n\n")
    assert first.startswith("annotation groups with gaps doesn't exist yet, annotation: 1, instr")
    assert "group 1 of XLA's message is group 0 of layer" in first
    assert "group 0 of XLA's message is group 0 of layer" in second


def test_a_target_may_be_chosen(schedscope: Command, error: Path, report: Path) -> None:
    data = json.loads(report.read_text())
    step = dict.fromkeys(("location", "group", "backward")) | {"op": "stablehlo.add", "path": []}
    data["gaps"] = [{"ids": [1], "targets": ["tpu"], "path": [step, step]}]
    report.write_text(json.dumps(data))
    assert b"(TPU)" in schedscope("explain", error, "--report", report).out
    assert b"(TPU)" in schedscope("explain", error, "--report", report, "--target", "tpu").out
    assert b"(TPU)" not in schedscope("explain", error, "--report", report, "--target", "gpu").out


def test_of_several_files_the_one_that_holds_the_id(
    schedscope: Command, error: Path, report: Path, tmp_path: Path
) -> None:
    once, module = tmp_path / "apart.mlir", tmp_path / "located.mlir"
    once.write_text(LOCATED.replace("layer(%0)", "layer(%arg0)"))
    bad = tmp_path / "missing.mlir"
    schedscope("fix", "--check", bad, once, module, "--report", report)
    out = schedscope("explain", error, "--report", report).out.decode()
    assert out.startswith(f"in {module}:\ngroup 1 of XLA's message is group 0 of layer")
    assert str(once) not in out


def test_of_several_files_all_that_hold_the_id(
    schedscope: Command, error: Path, report: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{number}.mlir" for number in range(6)]
    for path in paths:
        path.write_text(LOCATED)
    schedscope("fix", "--check", *paths, "--report", report)
    lines = schedscope("explain", error, "--report", report).out.decode().splitlines()
    named = [line for line in lines if line.startswith("in ")]
    assert named == [f"in {path}:" for path in paths[:4]]
    assert lines[-1] == "2 more files fit the message"


def test_of_several_files_none(schedscope: Command, error: Path, report: Path) -> None:
    record = json.loads(report.read_text())
    report.write_text(json.dumps([{"file": name, "report": record} for name in ("a", "b")]))
    error.write_text(GAP.replace("annotation: 1", "annotation: 9"))
    result = schedscope("explain", error, "--report", report)
    assert result.status == 0
    assert result.out == b"none of the report's 2 files has the groups of XLA's message\n"


def test_a_report_from_before_gaps_were_recorded(
    schedscope: Command, error: Path, report: Path
) -> None:
    data = json.loads(report.read_text())
    for name in ("gaps", "waits", "kept_whole", "module"):
        del data[name]
    for group in data["groups"]:
        for place in group["places"]:
            del place["lines"]
    report.write_text(json.dumps(data))
    result = schedscope("explain", error, "--report", report)
    assert result.status == 0
    assert b"group 0 of layer, called from train.py:32" in result.out


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "not a report, which is JSON"),
        (b"\xff\xfe{", "not a report, which is JSON"),
        (b"[" * 100_000, "not a report, which is JSON"),
        (b"{}", 'not a report of `schedscope fix --report`: it has no "changed"'),
        (b"[1]", "not a report of `schedscope fix --report`"),
        (b'{"file": "a.mlir", "error": "no"}', "modules that could not be read or scoped"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(
    schedscope: Command, error: Path, report: Path, content: bytes, complaint: str
) -> None:
    report.write_bytes(content)
    result = schedscope("explain", error, "--report", report)
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith(f"{report}: error: ")
    assert complaint in result.err
    assert result.err.count("\n") == 1


def test_a_text_without_such_an_error_is_refused(
    schedscope: Command, error: Path, report: Path
) -> None:
    error.write_text("RESOURCE_EXHAUSTED: Out of memory\n")
    result = schedscope("explain", error, "--report", report)
    assert (result.status, result.out) == (2, b"")
    assert result.err == f"{error}: error: no error of XLA about scheduling groups in this text\n"
    result = schedscope("explain", "-", "--report", report, stdin=TWICE.encode())
    assert result.err.startswith("<stdin>: error: ")


def test_files_that_cannot_be_read(schedscope: Command, error: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    result = schedscope("explain", error, "--report", missing)
    assert (result.status, result.err) == (2, f"{missing}: error: No such file or directory\n")
    result = schedscope("explain", missing, "--report", error)
    assert (result.status, result.err) == (2, f"{missing}: error: No such file or directory\n")
    assert schedscope("explain", error).status == 2
