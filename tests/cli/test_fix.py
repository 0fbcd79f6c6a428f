"""`schedscope fix`: where the result goes, in what form, and what is said about it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import schedscope as library
from schedscope import modules
from schedscope.explanation.record import record_of
from schedscope.formats import Format
from schedscope_cli import files

from tests.cli.conftest import Command
from tests.cli.samples import APART, FORMATS, LOCATED, ONCE, TWICE, encoded, groups


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    path = tmp_path / "twice.mlir"
    path.write_text(TWICE)
    return path


def written(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(text)
    return path


def test_one_file_goes_to_standard_output(schedscope: Command, twice: Path) -> None:
    result = schedscope("fix", twice)
    assert result.status == 0
    assert groups(result.out) == ["0", "1"]
    assert twice.read_text() == TWICE


def test_the_summary_is_the_reports_after_the_files_name(
    schedscope: Command, tmp_path: Path
) -> None:
    path = written(tmp_path, "located.mlir", LOCATED)
    result = schedscope("fix", path, "-o", tmp_path / "out.mlir")
    source = modules.read(LOCATED.encode(), "located.mlir")
    lines = library.scope_module(source.module).summary()
    assert result.err.splitlines() == [f"{path}: {line}" for line in lines]
    assert "train.py:32" in result.err


def test_nothing_to_do_gives_the_same_bytes(schedscope: Command, tmp_path: Path) -> None:
    text = "// a comment\n\n" + ONCE.replace("%arg0", "%x") + "\n"
    path = written(tmp_path, "once.mlir", text)
    result = schedscope("fix", path)
    assert (result.status, result.out) == (0, text.encode())
    assert result.err == f"{path}: nothing to change\n"


def test_standard_input_and_output(schedscope: Command) -> None:
    for arguments in (["fix", "-"], ["fix", "-", "-o", "-"]):
        result = schedscope(*arguments, stdin=ONCE.encode())
        assert result.out == ONCE.encode()
        assert result.err == "<stdin>: nothing to change\n"


def test_output_file(schedscope: Command, twice: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    result = schedscope("fix", twice, "-o", out)
    assert (result.status, result.out) == (0, b"")
    assert groups(out.read_bytes()) == ["0", "1"]
    assert twice.read_text() == TWICE


def test_output_file_may_be_the_input(schedscope: Command, twice: Path) -> None:
    assert schedscope("fix", twice, "-o", twice).status == 0
    assert groups(twice.read_bytes()) == ["0", "1"]


def test_output_to_a_pipe_does_not_replace_it(
    schedscope: Command, twice: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert schedscope("fix", twice, "-o", pipe).status == 0
        assert groups(os.read(reader, 1 << 16)) == ["0", "1"]
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_in_place_keeps_mode_and_link(schedscope: Command, twice: Path, tmp_path: Path) -> None:
    twice.chmod(0o640)
    link = tmp_path / "link.mlir"
    link.symlink_to(twice.name)
    result = schedscope("fix", "--in-place", link)
    assert (result.status, result.out) == (0, b"")
    assert groups(twice.read_bytes()) == ["0", "1"]
    assert stat.S_IMODE(twice.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.mlir", "twice.mlir"]


def test_in_place_leaves_a_file_alone_that_needs_no_change(
    schedscope: Command, tmp_path: Path
) -> None:
    path = written(tmp_path, "once.mlir", ONCE)
    before = path.stat()
    assert schedscope("fix", "--in-place", path).status == 0
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_in_place_that_fails_leaves_the_file_and_no_other(
    schedscope: Command, twice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = schedscope("fix", "--in-place", twice)
    assert (result.status, result.err) == (2, f"{twice}: error: No space left on device\n")
    assert twice.read_text() == TWICE
    assert list(tmp_path.iterdir()) == [twice]


def test_check(schedscope: Command, twice: Path, tmp_path: Path) -> None:
    once = written(tmp_path, "once.mlir", ONCE)
    assert schedscope("fix", "--check", once).status == 0
    result = schedscope("fix", "--check", once, twice)
    assert (result.status, result.out) == (1, b"")
    assert result.err.splitlines()[:2] == [f"{once}: nothing to change", f"{twice}: would change"]
    assert twice.read_text() == TWICE


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("gzipped", [False, True])
def test_diff_is_of_the_text(
    schedscope: Command, tmp_path: Path, format: Format, gzipped: bool
) -> None:
    path = tmp_path / "module"
    path.write_bytes(encoded(TWICE, format, gzipped))
    result = schedscope("fix", "--diff", path)
    assert result.status == 0
    lines = result.out.decode().splitlines()
    assert lines[:2] == [f"--- {path}", f"+++ {path}"]
    removed = [line for line in lines[2:] if line.startswith("-")]
    assert [line.split("(")[0] for line in removed] == ["-    %1 = call @layer"]
    assert sum("+    %0 = stablehlo.dot_general" in line for line in lines) == 1
    assert path.read_bytes() == encoded(TWICE, format, gzipped)


def test_diff_marks_a_missing_last_newline(schedscope: Command) -> None:
    result = schedscope("fix", "--diff", "-", stdin=TWICE.rstrip().encode())
    assert result.out.count(b"\n-}\n\\ No newline at end of file\n") == 1


def test_no_diff_where_nothing_is_to_change(schedscope: Command) -> None:
    result = schedscope("fix", "--diff", "-", stdin=ONCE.replace("%arg0", "%x").encode())
    assert (result.status, result.out) == (0, b"")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("gzipped", [False, True])
def test_the_format_follows_the_input_whatever_its_name(
    schedscope: Command, tmp_path: Path, format: Format, gzipped: bool
) -> None:
    path = tmp_path / "module.txt"
    path.write_bytes(encoded(TWICE, format, gzipped))
    first = schedscope("fix", path)
    result = modules.read(first.out, "result")
    assert (result.format, result.gzipped) == (format, gzipped)
    assert groups(first.out) == ["0", "1"]
    assert schedscope("fix", path).out == first.out


@pytest.mark.parametrize("emit", FORMATS)
@pytest.mark.parametrize("text", [TWICE, ONCE])
def test_emit(schedscope: Command, emit: Format, text: str) -> None:
    result = schedscope("fix", "-", "--emit", emit, stdin=encoded(text, "bytecode"))
    assert result.status == 0
    assert modules.read(result.out, "result").format == emit
    assert groups(result.out) == groups(encoded(text, "text")) + (["1"] if text == TWICE else [])


def test_emit_of_the_inputs_own_format_copies(schedscope: Command) -> None:
    text = ONCE.replace("%arg0", "%x").encode()
    assert schedscope("fix", "-", "--emit", "text", stdin=text).out == text


def test_every_call_site(schedscope: Command) -> None:
    plain = schedscope("fix", "-", stdin=APART.encode())
    assert plain.out == APART.encode()
    result = schedscope("fix", "--every-call-site", "-", stdin=APART.encode())
    assert groups(result.out) == ["0", "1"]


def test_keep_global(schedscope: Command) -> None:
    result = schedscope("fix", "--keep-global", "7, 0", "-", stdin=TWICE.encode())
    assert result.status == 0
    assert groups(result.out) == ["0"]


def test_several_files_are_each_done_and_the_bad_one_told(
    schedscope: Command, twice: Path, tmp_path: Path
) -> None:
    bad = written(tmp_path, "bad.mlir", "module {")
    missing = tmp_path / "missing.mlir"
    report = tmp_path / "report.json"
    result = schedscope("fix", "--in-place", bad, missing, twice, "--report", report)
    assert result.status == 2
    assert groups(twice.read_bytes()) == ["0", "1"]
    first, second, *rest = result.err.splitlines()
    assert first.startswith(f"{bad}:1:")
    assert second == f"{missing}: error: No such file or directory"
    assert all(line.startswith(f"{twice}: ") for line in rest)
    records = json.loads(report.read_text())
    assert [record["file"] for record in records] == [str(bad), str(missing), str(twice)]
    assert [record.get("error") for record in records] == [first, second, None]
    assert records[2]["report"]["changed"] is True


def test_the_report_of_one_file_is_the_librarys(
    schedscope: Command, twice: Path, tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    assert schedscope("fix", "--in-place", twice, "--report", path).status == 0
    source = modules.read(TWICE.encode(), "twice.mlir")
    report = library.scope_module(source.module)
    assert json.loads(path.read_text()) == record_of(source.module, report)


def test_gaps_are_looked_for_only_for_a_report(twice: Path) -> None:
    code = "import sys; from schedscope_cli.main import main; main(sys.argv[1:]); "
    code += "print('schedscope.xla.gap_search' in sys.modules, file=sys.stderr)"
    for more, loaded in (([], "False"), (["--report", os.devnull], "True")):
        command = [sys.executable, "-c", code, "fix", str(twice), "--check", *more]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
        assert process.stderr.splitlines()[-1] == loaded


def test_the_report_may_go_to_standard_output(schedscope: Command, twice: Path) -> None:
    result = schedscope("fix", "--check", twice, "--report", "-")
    assert result.status == 1
    assert json.loads(result.out)["changed"] is True


def test_nothing_is_written_where_the_result_is_no_module(
    schedscope: Command, twice: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from schedscope._mlir import ir

    scope = library.scope_module

    def spoil(module: ir.Module, options: library.ScopeOptions) -> library.ScopeReport:
        report = scope(module, options)
        module.body.operations[1].operation.attributes["sym_name"] = ir.StringAttr.get(
            "gone", module.context
        )
        return report

    monkeypatch.setattr(library, "scope_module", spoil)
    result = schedscope("fix", "--in-place", twice)
    assert result.status == 2
    assert "bug in schedscope" in result.err
    assert "'layer' does not reference a valid function" in result.err
    assert twice.read_text() == TWICE


def test_a_bug_is_status_2_with_its_traceback(
    schedscope: Command, twice: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(library, "scope_module", broken)
    result = schedscope("fix", twice)
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith("Traceback")
    assert result.err.endswith("schedscope: the error above is a bug in schedscope\n")


def test_interrupted(schedscope: Command, twice: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: str) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "read", interrupt)
    result = schedscope("fix", twice)
    assert (result.status, result.err) == (2, "schedscope: interrupted\n")


def test_no_bytecode_to_a_terminal(schedscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    result = schedscope("fix", "-", "--emit", "bytecode", stdin=TWICE.encode())
    assert (result.status, result.out) == (2, b"")
    assert "standard output is a terminal" in result.err
    assert schedscope("fix", "-", stdin=TWICE.encode()).status == 0


def installed(*arguments: object, cwd: Path, stdout: int) -> tuple[int, str]:
    """Status and standard error of the command in a process of its own, as it is installed."""
    command = [sys.executable, "-m", "schedscope_cli", *map(str, arguments)]
    # Unbuffered streams would hide what Python says of a pipe as it ends.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.run(
        command, cwd=cwd, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True
    )
    return process.returncode, process.stderr


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--version"], 0),
        (["fix", "--help"], 0),
        (["fix", "once.mlir", "-o", "out.mlir"], 0),
        (["fix", "twice.mlir", "--check"], 1),
        (["fix", "missing.mlir"], 2),
        (["fix"], 2),
        ([], 2),
    ],
)
def test_the_process_has_the_same_statuses(
    tmp_path: Path, twice: Path, arguments: list[str], status: int
) -> None:
    written(tmp_path, "once.mlir", ONCE)
    found, err = installed(*arguments, cwd=tmp_path, stdout=subprocess.DEVNULL)
    assert found == status, err
    assert "Traceback" not in err


def test_a_reader_that_leaves_is_no_error_message(tmp_path: Path, twice: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    status, err = installed("fix", twice, cwd=tmp_path, stdout=write_end)
    os.close(write_end)
    assert status == 2
    assert "Broken" not in err
    assert "Traceback" not in err
