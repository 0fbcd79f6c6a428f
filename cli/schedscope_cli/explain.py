"""`schedscope explain`: what XLA's errors about scheduling groups mean in the user's program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from schedscope_cli import files
from schedscope_cli.messages import complaint, say
from schedscope_cli.options import Words, add_command
from schedscope_cli.status import CLEAN, FAILED

if TYPE_CHECKING:
    from schedscope.explanation.recorded import Record
    from schedscope.explanation.refusal import Refusal

_HELP = "say what an error of XLA about scheduling groups means in your program"

_DESCRIPTION = """\
Finds XLA's errors about scheduling groups in ERROR.txt, a message or a whole log, and says of each
which group of your program it is about, in which function, called from where, and which ops make
the gap. It reads that from the report that `schedscope fix --report R.json` wrote of the module.
"""

_EPILOG = """\
exit status:
  0  explained, as far as the report goes
  2  no such error in the text, or a file that cannot be read
"""

_FILES = 4
"""How many of a report's files are explained where XLA's message fits several."""


def add_parser(commands: Any) -> None:
    words = Words(_HELP, _DESCRIPTION, _EPILOG)
    parser = add_command(commands, "explain", run, words)
    add = parser.add_argument
    add("error", metavar="ERROR.txt", help="the message or log to read; - is standard input")
    add("--report", metavar="R.json", required=True, help="what `schedscope fix --report` wrote")
    targets = ("gpu", "tpu")
    add("--target", choices=targets, help="show gaps as this compiler sees them (default: both)")


def run(arguments: Namespace) -> int:
    from schedscope.errors import SchedscopeError

    if arguments.error == files.STREAM == arguments.report:
        arguments.usage_error("standard input can be read once only, and - is given twice")
    name = files.display_name(arguments.error)
    try:
        refusals = _refusals(arguments.error, name)
        name = files.display_name(arguments.report)
        records = _records(arguments.report, name)
    except BrokenPipeError:
        raise
    except (SchedscopeError, OSError) as error:
        say(complaint(name, error))
        return FAILED
    for number, refusal in enumerate(refusals):
        if len(refusals) > 1:
            print(f"{'' if number == 0 else chr(10)}{refusal.message}")
        for line in _explained(refusal, records, arguments.target):
            print(line)
    return CLEAN


def _refusals(path: str, name: str) -> list[Refusal]:
    from schedscope.errors import FileError
    from schedscope.explanation.refusal import refusals_in

    refusals = refusals_in(files.read(path).decode(errors="replace"))
    if not refusals:
        raise FileError(name, "no error of XLA about scheduling groups in this text")
    return refusals


def _records(path: str, name: str) -> list[tuple[str | None, Record]]:
    import json

    from schedscope.errors import FileError, InputError
    from schedscope.explanation.recorded import read_all

    data = files.read(path)
    try:
        records = read_all(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise FileError(name, f"not a report, which is JSON: {error}") from error
    except InputError as error:
        raise FileError(name, str(error)) from error
    if not records:
        raise FileError(name, "the report is of modules that could not be read or scoped")
    return records


def _explained(
    refusal: Refusal, records: list[tuple[str | None, Record]], target: str | None
) -> Iterator[str]:
    from schedscope.explanation.explain import explain_read

    fitting = [each for each in records if _fits(refusal, each[1])]
    if not fitting and len(records) > 1:
        yield f"none of the report's {len(records)} files has the groups of XLA's message"
    elif not fitting:
        fitting = records
    for file, record in fitting[:_FILES]:
        if file is not None:
            yield f"in {file}:"
        yield from explain_read(refusal, record, target)
    if len(fitting) > _FILES:
        yield f"{len(fitting) - _FILES} more files fit the message"


def _fits(refusal: Refusal, record: Record) -> bool:
    """Whether the error may be about the record's module."""
    if not refusal.groups:
        return bool(record.groups)
    return all(record.group(id) or id in record.kept_whole for id in refusal.groups)
