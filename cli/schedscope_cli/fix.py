"""`schedscope fix`: gives calls that depend on each other scheduling groups of their own."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any, NamedTuple

from schedscope_cli import files
from schedscope_cli.messages import complaint, say
from schedscope_cli.options import Words, add_command, add_repair_options, add_scope_options
from schedscope_cli.status import CLEAN, FAILED, FOUND

if TYPE_CHECKING:
    from schedscope import ScopeReport
    from schedscope.modules import Source
    from schedscope.repair.report import RepairReport

_HELP = "give calls that depend on each other scheduling groups of their own"

_DESCRIPTION = """\
Reads StableHLO modules and gives calls that depend on each other scheduling groups of their own.
XLA inlines every call; without this it finds one group in several places and refuses the program
("Support for annotation groups with gaps doesn't exist yet").

FILE is MLIR text, MLIR bytecode or a StableHLO portable artifact, gzipped or not, told by its
content; - is standard input. The result of one FILE goes to standard output unless -o, --in-place,
--check or --diff is given. Where nothing is to change, it is the input, byte for byte.
"""

_EPILOG = """\
exit status:
  0  done, or nothing to change
  1  --check: a file would change
  2  could not do it (of several files, those without an error are done all the same)
"""


def add_parser(commands: Any) -> None:
    words = Words(_HELP, _DESCRIPTION, _EPILOG)
    parser = add_command(commands, "fix", run, words)
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="the module to read; - is standard input")
    goal = parser.add_mutually_exclusive_group().add_argument
    goal("-o", dest="output", metavar="OUT", help="write the result there; - is standard output")
    goal("--in-place", action="store_true", help="replace each FILE that changes, in one step")
    goal("--check", action="store_true", help="write nothing; exit with 1 if a file would change")
    goal("--diff", action="store_true", help="write nothing; show the changes as a unified diff")
    formats = ("text", "bytecode", "portable")
    add("--emit", choices=formats, help="the result's format (default: that of FILE)")
    add("--report", metavar="R.json", help="say there, in JSON, what was done call by call")
    add_scope_options(parser)
    add_repair_options(parser)


def run(arguments: Namespace) -> int:
    contradiction = _contradiction(arguments)
    if contradiction is not None:
        arguments.usage_error(contradiction)
    for path in (arguments.output, arguments.report):
        if path is not None and not _is_writable(path):
            return FAILED
    outcomes = [_attempt(path, arguments) for path in arguments.files]
    status = max(outcome.status for outcome in outcomes)
    if arguments.report is not None and not _write_report(arguments.report, outcomes):
        return FAILED
    return status


class _Outcome(NamedTuple):
    """What became of one file."""

    name: str
    status: int
    record: dict[str, Any] | None
    """For --report."""
    problem: str | None


def _attempt(path: str, arguments: Namespace) -> _Outcome:
    from schedscope.errors import SchedscopeError

    name = files.display_name(path)
    try:
        changed, record = _fix(path, name, arguments)
    except BrokenPipeError:
        raise
    except (SchedscopeError, OSError) as error:
        problem = complaint(name, error)
        say(problem)
        return _Outcome(name, FAILED, None, problem)
    status = FOUND if arguments.check and changed else CLEAN
    return _Outcome(name, status, record, None)


def _fix(path: str, name: str, arguments: Namespace) -> tuple[bool, dict[str, Any] | None]:
    """Whether the file changes, and what --report says of it."""
    from schedscope import modules

    source = modules.read(files.read(path), name)
    text = modules.text_of_file(source) if arguments.diff else b""
    report = _changed(source, arguments)
    if arguments.diff:
        if report.changed:
            _show_diff(text, modules.text_of(source), name)
    elif not arguments.check:
        _write_result(source, report.changed, path, arguments)
    _summarize(report, name, arguments)
    return report.changed, _record(source, report) if arguments.report is not None else None


def _changed(source: Source, arguments: Namespace) -> ScopeReport | RepairReport:
    from schedscope import ScopeOptions, scope_module
    from schedscope.scoping.scope import check_calls

    options = ScopeOptions(
        every_call_site=arguments.every_call_site, keep_global=arguments.keep_global
    )
    if arguments.repair:
        from schedscope.repair.repair import RepairTarget, repair_module

        target: RepairTarget = arguments.target or "gpu"
        return repair_module(source.module, target, options, seal=arguments.seal)
    report = scope_module(source.module, options)
    if not report.changed:
        check_calls(source.module)
    return report


def _record(source: Source, report: ScopeReport | RepairReport) -> dict[str, Any]:
    from schedscope import ScopeReport
    from schedscope.explanation.record import (
        record_of,  # looks for gaps, which a mere fix need not know
    )

    if isinstance(report, ScopeReport):
        return record_of(source.module, report)
    return {**record_of(source.module, report.scope), "repair": report.to_json()}


def _write_result(source: Source, changed: bool, path: str, arguments: Namespace) -> None:
    from schedscope import modules
    from schedscope.errors import FileError

    same_format = arguments.emit in (None, source.format)
    if not changed and same_format and arguments.in_place:
        return
    data = source.data if not changed and same_format else modules.write(source, arguments.emit)
    target = path if arguments.in_place else arguments.output or files.STREAM
    if target == files.STREAM and sys.stdout.isatty() and not data.isascii():
        raise FileError(
            source.name, "standard output is a terminal, and the result is not text; use -o"
        )
    files.write(target, data)


def _show_diff(before: bytes, after: bytes, name: str) -> None:
    from difflib import diff_bytes, unified_diff

    label = name.encode()
    lines = diff_bytes(unified_diff, _lines(before), _lines(after), label, label)
    sys.stdout.buffer.write(b"".join(lines))


def _lines(text: bytes) -> list[bytes]:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n\\ No newline at end of file\n"
    return lines


def _summarize(report: ScopeReport | RepairReport, name: str, arguments: Namespace) -> None:
    if not report.changed:
        say(f"{name}: nothing to change")
        return
    if arguments.check:
        say(f"{name}: would change")
    for line in report.summary():
        say(f"{name}: {line}")


def _write_report(path: str, outcomes: list[_Outcome]) -> bool:
    """One file's report as it is; of several, a list that names the files."""
    import json

    records = [
        {"file": outcome.name, "error": outcome.problem}
        if outcome.record is None
        else {"file": outcome.name, "report": outcome.record}
        for outcome in outcomes
    ]
    document = records if len(records) > 1 else records[0].get("report", records[0])
    text = json.dumps(document, indent=2) + "\n"
    try:
        files.write(path, text.encode())
    except BrokenPipeError:
        raise
    except OSError as error:
        say(complaint(path, error))
        return False
    return True


def _is_writable(path: str) -> bool:
    try:
        files.check_writable(path)
    except OSError as error:
        say(complaint(path, error))
        return False
    return True


def _contradiction(arguments: Namespace) -> str | None:
    """What is wrong with arguments that are each right on their own."""
    writes_module = not (arguments.check or arguments.diff)
    to_stdout = not (arguments.check or arguments.in_place or arguments.output)
    if len(arguments.files) > 1 and writes_module and not arguments.in_place:
        return "several FILEs need --in-place, --check or --diff"
    if arguments.files.count(files.STREAM) > 1:
        return "standard input can be read once only, and - is given more than once"
    if arguments.in_place and files.STREAM in arguments.files:
        return "--in-place replaces files, and - is standard input"
    if arguments.emit and not writes_module:
        return "--emit is the format to write, and --check and --diff write nothing"
    if not arguments.repair and (arguments.target is not None or arguments.seal is not None):
        return "--target, --seal and --no-seal belong to --repair"
    if arguments.report == files.STREAM and (to_stdout or arguments.output == files.STREAM):
        return "--report - and the result would both go to standard output"
    if arguments.report != files.STREAM and arguments.report in (
        arguments.output or files.STREAM,
        *arguments.files,
    ):
        return f"--report would overwrite {arguments.report}"
    return None
